// Extraction and equivalence together: golds of the suites given back as a model would, and rows
// of the case table that are about a grade.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "hyper/equal.h"
#include "hyper/extract.h"
#include "tests/support/answer_cases.h"
#include "tests/support/extract_options.h"

namespace hyper {
namespace {

using nlohmann::json;

// A question's worked solution and its gold.
struct Item {
  std::string solution;
  std::string gold;
};

// Items of a suite in the folder of data beside the repository; none where it is absent.
std::vector<Item> LoadSuite(const std::string& name) {
  std::vector<Item> items;
  std::ifstream file(HYPER_SOURCE_DIR "/../shared/data/" + name + ".jsonl");
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    if (name == "gsm8k_test") {
      const std::string answer = row["answer"];
      items.push_back({answer, answer.substr(answer.rfind("#### ") + 5)});
    } else {
      items.push_back({row["solution"], row["answer"].is_string() ? row["answer"].get<std::string>()
                                                                  : row["answer"].dump()});
    }
  }
  return items;
}

Verdict Grade(const std::string& text, const std::string& gold, AnswerKind kind) {
  ExtractOptions options;
  options.kind = kind;
  const std::optional<std::string> answer = ExtractAnswer(text, options).Final();
  return answer ? AnswersEqual(gold, *answer).verdict : Verdict::kNotEqual;
}

class Golds : public testing::TestWithParam<const char*> {};

TEST_P(Golds, BoxedGoldsAreRight) {
  const std::vector<Item> items = LoadSuite(GetParam());
  if (items.empty()) {
    GTEST_SKIP() << "no data";
  }
  const bool integers = std::string(GetParam()) != "math500";
  for (const Item& item : items) {
    for (const std::string& text : {"\\boxed{" + item.gold + "}",
                                    "x\n</think>\n\nThe answer is $\\boxed{" + item.gold + "}$.",
                                    "**Final Answer**\n\\[ \\boxed{" + item.gold + "} \\]"}) {
      EXPECT_EQ(Grade(text, item.gold, AnswerKind::kMath), Verdict::kEqual) << text;
      if (integers) {
        EXPECT_EQ(Grade(text, item.gold, AnswerKind::kInteger), Verdict::kEqual) << text;
      }
    }
  }
}

TEST_P(Golds, AnnouncedGoldsAreRight) {
  const std::vector<Item> items = LoadSuite(GetParam());
  if (items.empty()) {
    GTEST_SKIP() << "no data";
  }
  for (const Item& item : items) {
    for (const std::string& text :
         {"So the answer is $" + item.gold + "$.", "**Answer:** $" + item.gold + "$\n",
          "Final answer:\n\\[" + item.gold + "\\]", "<answer>" + item.gold + "</answer>"}) {
      EXPECT_EQ(Grade(text, item.gold, AnswerKind::kMath), Verdict::kEqual) << text;
    }
  }
}

TEST_P(Golds, SolutionsAreRight) {
  const std::vector<Item> items = LoadSuite(GetParam());
  if (items.empty()) {
    GTEST_SKIP() << "no data";
  }
  const AnswerKind kind =
      std::string(GetParam()) == "math500" ? AnswerKind::kMath : AnswerKind::kInteger;
  for (const Item& item : items) {
    EXPECT_EQ(Grade(item.solution, item.gold, kind), Verdict::kEqual)
        << item.gold << " | " << item.solution;
  }
}

INSTANTIATE_TEST_SUITE_P(Suites, Golds, testing::Values("math500", "gsm8k_test", "aime24"));

TEST(ExtractCases, GradesAreRight) {
  const std::vector<json> rows = LoadAnswerCases("grade");
  ASSERT_FALSE(rows.empty());
  for (const json& row : rows) {
    SCOPED_TRACE(row.dump());
    const Extraction found = ExtractAnswer(row["text"].get<std::string>(), ExtractOptionsOf(row));
    const std::optional<std::string> answer = found.Final();
    const bool correct =
        answer && AnswersEqual(row["gold"].get<std::string>(), *answer).verdict == Verdict::kEqual;
    EXPECT_EQ(correct, row["correct"].get<bool>()) << "answer " << answer.value_or("none");
  }
}

}  // namespace
}  // namespace hyper
