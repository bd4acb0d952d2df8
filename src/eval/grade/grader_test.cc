#include "src/eval/grade/grader.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace hyper::eval {
namespace {

Question Ask(AnswerKind kind, const std::string& gold, const std::string& labels = "") {
  Question question;
  question.kind = kind;
  question.gold = gold;
  question.labels = labels;
  question.needs_judge = kind == AnswerKind::kText;
  return question;
}

// The verdict on a whole generated text, as the runner reaches it.
StoredVerdict Read(const Question& question, const std::string& text) {
  return GradeAnswer(question, ExtractAnswer(text, AnswerOptions(question)).Final())->verdict;
}

TEST(GraderTest, NumbersAndMaths) {
  const Question aime = Ask(AnswerKind::kInteger, "025");
  EXPECT_EQ(Read(aime, "so \\boxed{25}"), StoredVerdict::kRight);
  EXPECT_EQ(Read(aime, "so \\boxed{26}"), StoredVerdict::kWrong);
  EXPECT_EQ(Read(Ask(AnswerKind::kInteger, "1,234"), "#### 1234"), StoredVerdict::kRight);
  EXPECT_EQ(Read(Ask(AnswerKind::kMath, "\\frac{1}{2}"), "\\boxed{0.5}"), StoredVerdict::kRight);
}

TEST(GraderTest, NoAnswerIsWrongAndSaysSo) {
  const GradeOutcome outcome = *GradeAnswer(Ask(AnswerKind::kInteger, "1"), std::nullopt);
  EXPECT_EQ(outcome.verdict, StoredVerdict::kWrong);
  EXPECT_EQ(outcome.note, "no answer");
}

TEST(GraderTest, WhatCannotBeProvedIsUndecidedWithAReason) {
  const GradeOutcome outcome =
      *GradeAnswer(Ask(AnswerKind::kMath, "\\frac{1}{2}"), "\\frac{{{1}{2");
  EXPECT_EQ(outcome.verdict, StoredVerdict::kUndecided);
  EXPECT_FALSE(outcome.note.empty());
}

TEST(GraderTest, ChoicesWithDigitLabelsTakeLettersToo) {
  const Question question = Ask(AnswerKind::kChoice, "3", "1234");
  for (const char* text : {"Answer: C", "Answer: 3", "(3)"}) {
    EXPECT_EQ(Read(question, text), StoredVerdict::kRight) << text;
  }
  EXPECT_EQ(Read(question, "Answer: B"), StoredVerdict::kWrong);
  EXPECT_EQ(Read(Ask(AnswerKind::kChoice, "E", "ABCDE"), "Answer: E"), StoredVerdict::kRight);
}

TEST(GraderTest, FreeTextIsNeverCalledWrongWithoutAJudge) {
  const Question question = Ask(AnswerKind::kText, "Ada Example");
  EXPECT_EQ(GradeAnswer(question, "ada  example.")->verdict, StoredVerdict::kRight);
  EXPECT_EQ(GradeAnswer(question, "Countess Ada")->verdict, StoredVerdict::kNotGraded);
  EXPECT_EQ(GradeAnswer(question, std::nullopt)->verdict, StoredVerdict::kWrong);
}

// Each gold of a set, fed back in a box, must be right: nothing in loading, extraction or grading
// may lose one.
void ExpectBoxedGoldsRight(const std::string& suite_name, const std::string& file, int expected) {
  const Result<Suite> suite = LoadSuite(suite_name);
  ASSERT_TRUE(suite.has_value());
  const Result<QuestionSet> set = LoadQuestions(*suite, {}, file);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  int right = 0;
  for (const Question& question : set->questions) {
    const std::string text = "Thus the answer is \\boxed{" + question.gold + "}.";
    const bool passed = Read(question, text) == StoredVerdict::kRight;
    EXPECT_TRUE(passed) << suite_name << " " << question.id << ": " << text;
    right += passed ? 1 : 0;
  }
  EXPECT_EQ(right, expected);
}

TEST(BoxedGoldTest, TinymathAndTheFixtures) {
  ExpectBoxedGoldsRight("tinymath", "", 1700);
  const std::string folder = HYPER_SOURCE_DIR "/tests/fixtures/suites/";
  ExpectBoxedGoldsRight("aime24", folder + "aime_problem.jsonl", 2);
  ExpectBoxedGoldsRight("aime25", folder + "aime_solution_only.jsonl", 2);
  ExpectBoxedGoldsRight("hmmt25", folder + "hmmt.jsonl", 2);
  ExpectBoxedGoldsRight("hle", folder + "hle.jsonl", 3);
  ExpectBoxedGoldsRight("math500", folder + "math500.jsonl", 2);
  ExpectBoxedGoldsRight("gsm8k", folder + "gsm8k.jsonl", 2);
  ExpectBoxedGoldsRight("arc-c", folder + "arc.jsonl", 3);
  ExpectBoxedGoldsRight("arc-e", folder + "arc_nested.jsonl", 1);
}

TEST(BoxedGoldTest, TheRealSets) {
  const std::string folder = HYPER_SOURCE_DIR "/../shared/data/";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no ../shared/data";
  }
  ExpectBoxedGoldsRight("aime24", folder + "aime24.jsonl", 30);
  ExpectBoxedGoldsRight("gsm8k", folder + "gsm8k_test.jsonl", 1319);
  ExpectBoxedGoldsRight("math500", folder + "math500.jsonl", 500);
}

}  // namespace
}  // namespace hyper::eval
