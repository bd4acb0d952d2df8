#include "hyper/extract.h"

#include <gtest/gtest.h>

#include "tests/support/answer_cases.h"
#include "tests/support/extract_options.h"

namespace hyper {
namespace {

using nlohmann::json;

TEST(ExtractCases, AnswersAreFound) {
  const std::vector<json> rows = LoadAnswerCases("extract");
  ASSERT_FALSE(rows.empty());
  for (const json& row : rows) {
    SCOPED_TRACE(row.dump());
    const std::string text = row["text"];
    const Extraction found = ExtractAnswer(text, ExtractOptionsOf(row));
    const json answer = found.answer ? json(*found.answer) : json();
    EXPECT_EQ(answer, row["answer"]) << "rule " << found.rule << ", raw " << found.raw;
    EXPECT_EQ(found.raw, text.substr(found.begin, found.end - found.begin));
    EXPECT_EQ(found.rule.empty(), !found.answer.has_value());
    EXPECT_EQ(found.raw, row.value("raw", found.raw));
    EXPECT_EQ(found.rule, row.value("rule", found.rule));
    EXPECT_EQ(found.tentative, row.value("tentative", false));
    if (row.contains("confidence_percent")) {
      EXPECT_EQ(found.confidence_percent, row["confidence_percent"].get<double>());
    }
  }
}

TEST(ExtractCases, ReasoningIsSplitOff) {
  const std::vector<json> rows = LoadAnswerCases("split");
  ASSERT_FALSE(rows.empty());
  const std::vector<TagPair> tags = DefaultThinkTags();
  for (const json& row : rows) {
    SCOPED_TRACE(row.dump());
    const std::string text = row["text"];
    const ReasoningSplit split = SplitReasoning(text, tags, row.value("opened_by_template", false));
    EXPECT_EQ(JoinSpans(text, split.reasoning), row["reasoning"]);
    EXPECT_EQ(JoinSpans(text, split.content), row["content"]);
    EXPECT_EQ(split.unclosed, row.value("unclosed", false));
  }
}

}  // namespace
}  // namespace hyper
