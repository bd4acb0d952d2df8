#include "src/eval/data/questions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

namespace hyper::eval {
namespace {

std::string Fixture(const std::string& name) {
  return HYPER_SOURCE_DIR "/tests/fixtures/suites/" + name;
}

Suite SuiteOf(const std::string& name) {
  Result<Suite> suite = LoadSuite(name);
  EXPECT_TRUE(suite.has_value());
  return suite.value_or(Suite{});
}

QuestionSet LoadFrom(const std::string& suite, const std::string& path) {
  Result<QuestionSet> set = LoadQuestions(SuiteOf(suite), {}, path);
  EXPECT_TRUE(set.has_value()) << set.error().message;
  return set.value_or(QuestionSet{});
}

std::vector<std::string> Golds(const QuestionSet& set) {
  std::vector<std::string> golds;
  for (const Question& question : set.questions) {
    golds.push_back(question.gold);
  }
  return golds;
}

std::string Refusal(const std::string& suite, const std::string& rows) {
  const auto parsed = ParseRows(rows, "x.jsonl");
  if (!parsed) {
    return "rows";
  }
  const Result<QuestionSet> set = ReadQuestions(SuiteOf(suite), *parsed, "x.jsonl");
  if (set) {
    return "";
  }
  EXPECT_EQ(set.error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(set.error().message.rfind("x.jsonl", 0), 0U) << set.error().message;
  return set.error().message;
}

using Strings = std::vector<std::string>;

TEST(QuestionsTest, GoldsComeOutOfEveryShape) {
  EXPECT_EQ(Golds(LoadFrom("aime24", Fixture("aime_problem.jsonl"))), (Strings{"025", "999"}));
  EXPECT_EQ(Golds(LoadFrom("aime24", Fixture("aime_solution_only.jsonl"))), (Strings{"204", "33"}));
  EXPECT_EQ(Golds(LoadFrom("gsm8k", Fixture("gsm8k.jsonl"))), (Strings{"18", "1,234"}));
  EXPECT_EQ(Golds(LoadFrom("gsm8k", Fixture("expected_answer.jsonl"))), (Strings{"4", "6"}));
  EXPECT_EQ(Golds(LoadFrom("math500", Fixture("math500.jsonl"))),
            (Strings{"\\left( 3, \\frac{\\pi}{2} \\right)", "\\text{Nora}"}));
  EXPECT_EQ(Golds(LoadFrom("hmmt25", Fixture("hmmt.jsonl"))),
            (Strings{"\\frac{3+\\sqrt{5}}{2}", "103"}));
}

TEST(QuestionsTest, IdsAndGroupsAreRead) {
  const QuestionSet math = LoadFrom("math500", Fixture("math500.jsonl"));
  EXPECT_EQ(math.questions[0].id, "test/made/1.json");
  EXPECT_EQ(math.questions[1].group, "5");
  EXPECT_EQ(LoadFrom("aime24", Fixture("aime_problem.jsonl")).questions[0].id, "60");
  EXPECT_EQ(LoadFrom("gsm8k", Fixture("gsm8k.jsonl")).questions[1].id, "row-2");
  EXPECT_EQ(LoadFrom("hmmt25", Fixture("hmmt.jsonl")).questions[0].id, "1");
}

TEST(QuestionsTest, ArcChoicesKeepTheirLabelsAndTexts) {
  const QuestionSet set = LoadFrom("arc-c", Fixture("arc.jsonl"));
  ASSERT_EQ(set.questions.size(), 3U);
  EXPECT_EQ(Golds(set), (Strings{"B", "3", "E"}));
  EXPECT_EQ(set.questions[0].labels, "ABCD");
  EXPECT_EQ(set.questions[1].labels, "1234");
  EXPECT_EQ(set.questions[2].labels, "ABCDE");
  EXPECT_EQ(AnswerOptions(set.questions[1]).options, "1234");
  EXPECT_EQ(AnswerOptions(set.questions[1]).kind, AnswerKind::kChoice);
  const QuestionSet nested = LoadFrom("arc-e", Fixture("arc_nested.jsonl"));
  EXPECT_EQ(nested.questions[0].text, "Which is warm?");
  EXPECT_EQ(nested.questions[0].labels, "ABC");
  EXPECT_EQ(nested.questions[0].gold, "B");
}

TEST(QuestionsTest, ListsOfOptionsTakeAPlaceALabelOrAText) {
  EXPECT_EQ(Golds(LoadFrom("arc-c", Fixture("choices_list.jsonl"))), (Strings{"C", "D", "B"}));
}

TEST(QuestionsTest, HleLeavesPicturesOutAndTellsTheKinds) {
  const QuestionSet set = LoadFrom("hle", Fixture("hle.jsonl"));
  EXPECT_EQ(set.left_out, 1);
  ASSERT_EQ(set.questions.size(), 3U);
  EXPECT_EQ(set.questions[0].kind, AnswerKind::kMath);
  EXPECT_FALSE(set.questions[0].needs_judge);
  EXPECT_EQ(set.questions[1].kind, AnswerKind::kChoice);
  EXPECT_EQ(set.questions[1].labels, "ABC");
  EXPECT_EQ(set.questions[1].gold, "C");
  EXPECT_EQ(set.questions[2].kind, AnswerKind::kText);
  EXPECT_TRUE(set.questions[2].needs_judge);
  const auto messages = PromptMessages(SuiteOf("hle"), set.questions[0]);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_NE(messages[0].content.find("{your chosen answer}"), std::string::npos);
}

TEST(QuestionsTest, OptionsStandByteForByteInThePrompt) {
  const Suite suite = SuiteOf("arc-c");
  const Question question = LoadFrom("arc-c", Fixture("arc.jsonl")).questions[2];
  const std::string prompt = PromptMessages(suite, question)[0].content;
  EXPECT_NE(prompt.find("\nE. \\ln(2) = [ (T_1 - T_2) / (T1*T2)]\n"), std::string::npos) << prompt;
  EXPECT_EQ(prompt.find("{options}"), std::string::npos);
}

TEST(QuestionsTest, PlaceholdersInsideAQuestionStayAsTheyAre) {
  Suite suite;
  suite.prompt = "<{question}|{options}|\\boxed{}>";
  Question question;
  question.text = "what is {options} and {question}?";
  question.options = {{"A", "{question}"}};
  EXPECT_EQ(PromptMessages(suite, question)[0].content,
            "<what is {options} and {question}?|A. {question}|\\boxed{}>");
}

TEST(QuestionsTest, BrokenRowsAreRefusedWithTheirLine) {
  EXPECT_NE(
      Refusal("gsm8k", "{\"question\":\"q\",\"answer\":\"1\"}\n{\"answer\":\"1\"}").find("line 2"),
      std::string::npos);
  EXPECT_NE(Refusal("gsm8k", R"({"question":"q"})").find("no answer"), std::string::npos);
  EXPECT_NE(Refusal("gsm8k", R"({"question":" ","answer":"1"})"), "");
  EXPECT_NE(Refusal("gsm8k", R"({"question":7,"answer":"1"})"), "");
  EXPECT_NE(Refusal("gsm8k", R"({"question":"q","answer":"x ####  "})"), "");
  EXPECT_NE(Refusal("gsm8k", R"({"question":"q","answer":["1"]})"), "");
  EXPECT_NE(Refusal("gsm8k", R"({"question":"q","answer":1e30})").find("too large"),
            std::string::npos);
  EXPECT_NE(Refusal("aime24", R"({"problem":"q","answer":"1000"})").find("0 to 999"),
            std::string::npos);
  EXPECT_NE(Refusal("aime24", R"({"problem":"q","answer":"p/q"})"), "");
  EXPECT_NE(Refusal("arc-c", R"({"question":"q","answerKey":"A"})").find("options"),
            std::string::npos);
  const std::string choices = R"("choices":{"text":["a","b"],"label":["A","B"]})";
  EXPECT_NE(Refusal("arc-c", R"({"question":"q",)" + choices + R"(,"answerKey":"C"})"), "");
  EXPECT_EQ(Refusal("arc-c", R"({"question":"q",)" + choices + R"(,"answerKey":"b"})"), "");
  const std::string uneven = R"("choices":{"text":["a"],"label":["A","B"]})";
  EXPECT_NE(Refusal("arc-c", R"({"question":"q",)" + uneven + R"(,"answerKey":"A"})"), "");
  EXPECT_NE(Refusal("gsm8k",
                    "{\"id\":1,\"question\":\"q\",\"answer\":\"1\"}\n"
                    "{\"id\":1,\"question\":\"r\",\"answer\":\"2\"}")
                .find("came before"),
            std::string::npos);
  EXPECT_NE(Refusal("hle", R"({"question":"q","answer":"1","answer_type":"essay"})"), "");
}

TEST(TinymathTest, BothSplitsHaveAllLevelsAndShareNoQuestion) {
  const Suite suite = SuiteOf("tinymath");
  std::set<std::string> texts;
  std::set<int64_t> seeds;
  for (const std::string split : {"evaluation", "tuning"}) {
    const Result<QuestionSet> set = LoadQuestions(suite, {.split = split}, "");
    ASSERT_TRUE(set.has_value());
    std::map<std::string, int> per_level;
    for (const Question& question : set->questions) {
      ++per_level[question.group];
      texts.insert(question.text);
      const int64_t seed = std::stoll(question.id.substr(question.id.rfind('-') + 1));
      EXPECT_GE(seed, split == "tuning" ? 1'000'000'000 : 1'100'000'000);
      EXPECT_LT(seed, split == "tuning" ? 1'100'000'000 : 1'200'000'000);
      seeds.insert(seed);
      EXPECT_EQ(question.labels, question.kind == AnswerKind::kChoice ? "ABCD" : "");
      EXPECT_EQ(PromptMessages(suite, question)[0].content, question.text);
    }
    EXPECT_EQ(per_level, (std::map<std::string, int>{{"0", 100},
                                                     {"1", 100},
                                                     {"2", 100},
                                                     {"3", 100},
                                                     {"4", 100},
                                                     {"hunt-1", 200},
                                                     {"hunt-2", 200},
                                                     {"hunt-3", 200},
                                                     {"hunt-4", 200},
                                                     {"hunt-5", 200},
                                                     {"hunt-6", 200}}));
  }
  EXPECT_EQ(texts.size(), 3400U);
  EXPECT_EQ(seeds.size(), 3400U);
}

TEST(SelectTest, GroupsTakeTurnsAndALimitIsAPrefix) {
  const Suite suite = SuiteOf("tinymath");
  Selection selection{.groups = {"4", "2"}, .limit = 5};
  const auto five = LoadQuestions(suite, selection, "");
  ASSERT_TRUE(five.has_value());
  std::vector<std::string> groups;
  for (const Question& question : five->questions) {
    groups.push_back(question.group);
  }
  EXPECT_EQ(groups, (Strings{"4", "2", "4", "2", "4"}));
  selection.limit = 0;
  const auto all = LoadQuestions(suite, selection, "");
  ASSERT_EQ(all->questions.size(), 200U);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(all->questions[i].id, five->questions[i].id);
  }
}

TEST(SelectTest, UnequalGroupsAreAllUsed) {
  std::vector<Question> questions(4);
  const char* const groups[] = {"b", "a", "a", "a"};
  for (size_t i = 0; i < 4; ++i) {
    questions[i].id = std::to_string(i);
    questions[i].group = groups[i];
  }
  std::string order;
  for (const Question& question : Select(questions, {})) {
    order += question.id;
  }
  EXPECT_EQ(order, "0123");
  order.clear();
  for (const Question& question : Select(questions, {.groups = {"a", "b"}})) {
    order += question.id;
  }
  EXPECT_EQ(order, "1023");
  order.clear();
  for (const Question& question : Select(questions, {.groups = {"a", "a"}})) {
    order += question.id;
  }
  EXPECT_EQ(order, "123");  // a group named twice is asked once
}

TEST(SelectTest, UnknownSplitsGroupsAndSourcesAreRefused) {
  const Suite suite = SuiteOf("tinymath");
  EXPECT_EQ(LoadQuestions(suite, {.split = "training"}, "").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(LoadQuestions(suite, {.groups = {"5"}}, "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(LoadQuestions(SuiteOf("gsm8k"), {}, "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(LoadQuestions(SuiteOf("gsm8k"), {}, "missing.jsonl").error().code,
            ErrorCode::kNotFound);
}

// The real sets, where they lie beside the repository: every row must be read.
TEST(RealDataTest, RealFilesAreReadWhole) {
  const std::string folder = HYPER_SOURCE_DIR "/../shared/data/";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no ../shared/data";
  }
  const QuestionSet aime = LoadFrom("aime24", folder + "aime24.jsonl");
  EXPECT_EQ(aime.questions.size(), 30U);
  EXPECT_EQ(aime.questions[0].gold, "204");
  const QuestionSet math = LoadFrom("math500", folder + "math500.jsonl");
  EXPECT_EQ(math.questions.size(), 500U);
  const QuestionSet gsm8k = LoadFrom("gsm8k", folder + "gsm8k_test.jsonl");
  EXPECT_EQ(gsm8k.questions.size(), 1319U);
  for (const Question& question : gsm8k.questions) {
    EXPECT_EQ(question.gold.find_first_not_of("-0123456789,."), std::string::npos) << question.gold;
  }
}

}  // namespace
}  // namespace hyper::eval
