#include "hyper/equal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hyper {
namespace {

Verdict Of(std::string_view a, std::string_view b, const EqualOptions& options = {}) {
  return AnswersEqual(a, b, options).verdict;
}

TEST(EqualTest, VotingSplitsNoEqualNumbers) {
  const std::vector<std::string> answers{"\\frac12", "0.5", "1/2", "3", "3"};
  EXPECT_EQ(GroupAnswers(answers), (std::vector<int>{0, 0, 0, 1, 1}));
}

TEST(EqualTest, GroupsAreTheClosureInAnyOrder) {
  // 50% is both 50 and 1/2 where units are ignored, so it joins them.
  const std::vector<std::string> last{"50", "0.5", "50\\%"};
  const std::vector<std::string> first{"50\\%", "50", "0.5"};
  EXPECT_EQ(GroupAnswers(last), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(GroupAnswers(first), (std::vector<int>{0, 0, 0}));
}

TEST(EqualTest, AnswersThatCannotBeReadGroupByTheirText) {
  const std::vector<std::string> answers{"@ 1", "@1", "", "\xff", "@2"};
  EXPECT_EQ(GroupAnswers(answers), (std::vector<int>{0, 0, 1, 2, 3}));
}

TEST(EqualTest, JsonObjectsAreEqualByTheirText) {
  const std::vector<std::string> answers{R"({"a":1})",   R"({"a":2})",   R"({"a":1})",
                                         R"([{"a":1}])", R"({"a":"x"})", R"({"a":"X"})"};
  EXPECT_EQ(GroupAnswers(answers), (std::vector<int>{0, 1, 0, 2, 3, 4}));
  EXPECT_EQ(Of(R"({"a":1})", R"({"a":1.0})"), Verdict::kUndecided);
  EXPECT_EQ(Of("{\"a\xff\"}", "{\"a\xff\"}"), Verdict::kUndecided);
}

TEST(EqualTest, UnreadableIsUndecidedUnlessItIsTheSameText) {
  EXPECT_EQ(Of("@ 1", "@1"), Verdict::kEqual);
  EXPECT_EQ(Of("@1", "1"), Verdict::kUndecided);
  EXPECT_EQ(Of("", ""), Verdict::kUndecided);
  EXPECT_EQ(Of("\xff", "\xff"), Verdict::kUndecided);
  EXPECT_EQ(Of("\xef\xbf\xbd", "\xef\xbf\xbd"), Verdict::kUndecided);
}

TEST(EqualTest, ReasonsAreThoseOfTheStatementsAndNotOfTheirConditions) {
  const EqualResult different = AnswersEqual("x^2, x > 0", "x^3, x > 0");
  EXPECT_EQ(different.verdict, Verdict::kNotEqual);
  EXPECT_EQ(different.reason, AnswersEqual("x^2", "x^3").reason);
  const EqualResult same = AnswersEqual("x^2, x > 0", "x \\cdot x, x > 0");
  EXPECT_EQ(same.verdict, Verdict::kEqual);
  EXPECT_EQ(same.reason, AnswersEqual("x^2", "x \\cdot x").reason);
}

TEST(EqualTest, EqualKeysOnlyForEqualAnswers) {
  EXPECT_EQ(CanonicalKey("\\frac{1}{2}"), CanonicalKey("0.5"));
  EXPECT_NE(CanonicalKey("35 cm"), CanonicalKey("35 m"));
  EXPECT_EQ(CanonicalKey(""), "");
  EXPECT_EQ(CanonicalKey("\xff"), "");
}

TEST(EqualTest, HugeInputsComeBackUndecided) {
  EXPECT_EQ(Of(std::string(100'000, '('), "1"), Verdict::kUndecided);
  EXPECT_EQ(Of(std::string(100'000, '9'), "1"), Verdict::kNotEqual);
  std::string tower;
  for (int i = 0; i < 1000; ++i) {
    tower += "2^{";
  }
  tower += "2" + std::string(1000, '}');
  EXPECT_EQ(Of(tower, "4"), Verdict::kUndecided);
}

// Case M17: 5^(5^(5^(5^5))) has more digits than memory has bytes. In a process of its own, whose
// peak is then that of the comparison alone.
TEST(EqualTest, APowerTowerTakesUnder50Megabytes) {
  const auto grows_little = [] {
    const auto peak_kilobytes = [] {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    const auto before = peak_kilobytes();
    const Verdict verdict = Of(
        "1", "\\dfrac{5^{\\left(5^{\\left(5^{\\left(5^5\\right)}\\right)} - 4\\right)} - 5}{16}");
    const bool small = peak_kilobytes() - before < 50 * 1024;
    std::_Exit(verdict == Verdict::kUndecided && small ? 0 : 1);
  };
  EXPECT_EXIT(grows_little(), ::testing::ExitedWithCode(0), "");
}

TEST(EqualTest, SmallBudgetsEndInUndecidedNotInAWrongVerdict) {
  EqualOptions options;
  const char* const pairs[][2] = {{"(x+1)^8", "(x+1)^7 (x+1)"},
                                  {"\\cos(\\pi/12)", "\\frac{\\sqrt{2+\\sqrt{3}}}{2}"},
                                  {"x < 1 or x > 3", "(-\\infty,1) \\cup (3,\\infty)"}};
  for (const auto& pair : pairs) {
    ASSERT_EQ(Of(pair[0], pair[1]), Verdict::kEqual) << pair[0];
    for (options.max_steps = 1; options.max_steps < 10'000; options.max_steps *= 3) {
      EXPECT_NE(Of(pair[0], pair[1], options), Verdict::kNotEqual)
          << pair[0] << " with " << options.max_steps << " steps";
    }
    options.max_steps = 1;
    EXPECT_EQ(Of(pair[0], pair[1], options), Verdict::kUndecided);
  }
}

// Whatever the question means by these names, it may be any of these values.
TEST(EqualTest, ANameOfOneSideProvesNoDifference) {
  for (const char* const name : {"F_7", "n_{\\max}", "\\vec{a}", "\\mathcal{L}", "\\overline{AB}",
                                 "f'(2)", "y'", "\\varphi", "\\omega", "\\tau", "2\\alpha"}) {
    for (const char* const value : {"5", "\\pi", "1+i", "\\{1,2\\}", "(1,2)", "\\sqrt2"}) {
      EXPECT_NE(Of(name, value), Verdict::kNotEqual) << name << " and " << value;
      EXPECT_NE(Of(value, name), Verdict::kNotEqual) << value << " and " << name;
    }
  }
}

TEST(EqualTest, ANameOfBothSidesIsAVariable) {
  EXPECT_EQ(Of("2F_7", "3F_7"), Verdict::kNotEqual);
  EXPECT_EQ(Of("\\vec{a}+1", "\\vec{a}"), Verdict::kNotEqual);
  EXPECT_EQ(Of("\\sin\\theta", "\\cos\\theta"), Verdict::kNotEqual);
}

TEST(EqualTest, LettersBehindANumberMayBeItsUnit) {
  for (const char* const unit :
       {"sq ft", "cu in", "yr", "wk",  "mo",    "d", "psi", "ppm",    "hp", "lm", "lx",
        "cd",    "pc",    "ly", "tsp", "fl oz", "H", "u",   "\\mu m", "qq", "B",  "kcal"}) {
    EXPECT_NE(Of(std::string("30 ") + unit, "30"), Verdict::kNotEqual) << unit;
    EXPECT_NE(Of("-30", std::string("-30 ") + unit), Verdict::kNotEqual) << unit;
  }
  EXPECT_EQ(Of("30 xy", "30"), Verdict::kNotEqual);
  EXPECT_EQ(Of("2 + 30 qq", "32"), Verdict::kNotEqual);
}

TEST(EqualTest, AnyThreadMayCall) {
  std::vector<Verdict> verdicts(4, Verdict::kUndecided);
  std::vector<std::thread> threads;
  threads.reserve(verdicts.size());
  for (Verdict& verdict : verdicts) {
    threads.emplace_back([&verdict] {
      for (int i = 0; i < 20; ++i) {
        verdict = Of("\\sqrt{3+2\\sqrt{2}}", "1+\\sqrt{2}");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(verdicts, std::vector<Verdict>(4, Verdict::kEqual));
}

}  // namespace
}  // namespace hyper
