#include "src/answer/read/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

std::string KeyOf(const std::string& answer) {
  Budget budget(100'000, 1 << 20);
  const Reading reading = ReadAnswer(answer, {}, budget);
  return reading.tree.root == kNoNode ? "not read: " + reading.error
                                      : StructuralKey(reading.tree, reading.tree.root, budget);
}

// Two "if" are tried as a function by cases first, which takes letters one by one off their words.
TEST(ReaderTest, ReadsLettersAgainThatATrialHadTaken) {
  EXPECT_EQ(KeyOf("qw if qw"), KeyOf("q w if qw"));
  for (const char* const answer : {"qw if x, y, qw if", "if dx if", "2x: 3du if x if"}) {
    EXPECT_FALSE(KeyOf(answer).empty()) << answer;
  }
}

}  // namespace
}  // namespace hyper::answer
