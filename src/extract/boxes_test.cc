#include "src/extract/boxes.h"

#include <gtest/gtest.h>

namespace hyper::extract {
namespace {

std::string Inner(const std::vector<Box>& boxes) {
  std::string joined;
  for (const Box& box : boxes) {
    joined += "[" + std::string(box.inner) + "]";
  }
  return joined;
}

TEST(FindBoxes, MatchesBraces) {
  EXPECT_EQ(Inner(FindBoxes("\\boxed{\\frac{1}{2}} \\fbox{a}").closed), "[\\frac{1}{2}][a]");
  EXPECT_EQ(Inner(FindBoxes("\\boxed{\\{1\\}}").closed), "[\\{1\\}]");
  EXPECT_EQ(Inner(FindBoxes("{ } } \\boxed{a} {").closed), "[a]");
  EXPECT_EQ(Inner(FindBoxes("\\boxed {a}\\framebox[2cm]{b}").closed), "[a][b]");
}

TEST(FindBoxes, KeepsTheOutermost) {
  EXPECT_EQ(Inner(FindBoxes("\\boxed{\\boxed{1}, \\boxed{2}} \\boxed{3}").closed),
            "[\\boxed{1}, \\boxed{2}][3]");
}

TEST(FindBoxes, EndsAParagraphWithWhatIsOpen) {
  const Boxes boxes = FindBoxes("\\boxed{1 + {2}\n\nthen \\boxed{3}");
  EXPECT_EQ(Inner(boxes.closed), "[3]");
  EXPECT_EQ(Inner(boxes.unclosed), "[1 + {2}]");
  EXPECT_EQ(Inner(FindBoxes("\\boxed{\n\n4\n\n}").closed), "[\n\n4\n\n]");
  EXPECT_EQ(Inner(FindBoxes("$\\boxed{5$ and so on").unclosed), "[5]");
  EXPECT_EQ(Inner(FindBoxes("\\boxed{\\frac{1}{").unclosed), "");
}

TEST(FindBoxes, ReadsDamagedSpellings) {
  EXPECT_EQ(Inner(FindBoxes("\\\\boxed{1} boxed{2} \boxed{3} \fbox{4}").closed), "[1][2][3][4]");
  EXPECT_EQ(Inner(FindBoxes("unboxed{1} \\boxedfoo{2} boxed {3}").closed), "");
  EXPECT_EQ(Inner(FindBoxes("\\boxed 7$ \\boxed8").closed), "[7][8]");
}

}  // namespace
}  // namespace hyper::extract
