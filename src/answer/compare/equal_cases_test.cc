// The rows of tests/cases/answers.jsonl that compare and group answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hyper/equal.h"
#include "tests/support/answer_cases.h"

namespace hyper {
namespace {

using Json = nlohmann::json;

EqualOptions OptionsOf(const Json& row) {
  EqualOptions options;
  const Json given = row.value("options", Json::object());
  for (const auto& [name, value] : given.items()) {
    if (name == "rounded") {
      options.rounded = value;
    } else if (name == "ignore_units") {
      options.ignore_units = value;
    } else if (name == "allow_renamed_constants") {
      options.allow_renamed_constants = value;
    } else if (name == "ignore_assignment") {
      options.ignore_assignment = value;
    } else if (name == "pair_as_interval") {
      options.pair_as_interval = value;
    } else if (name == "vector_as_tuple") {
      options.vector_as_tuple = value;
    } else if (name == "base") {
      options.base = value;
    } else if (name == "bare_log") {
      options.bare_log = value == "natural"   ? BareLog::kNatural
                         : value == "decimal" ? BareLog::kDecimal
                                              : BareLog::kEither;
    } else {
      ADD_FAILURE() << row.at("id") << ": no option " << name;
    }
  }
  return options;
}

std::vector<std::string> Allowed(const Json& verdict) {
  if (verdict.is_string()) {
    return {verdict.get<std::string>()};
  }
  return verdict.get<std::vector<std::string>>();
}

TEST(EqualCases, VerdictsAreRightInBothOrders) {
  const std::vector<Json> rows = LoadAnswerCases("equal");
  ASSERT_GT(rows.size(), 100U);
  for (const Json& row : rows) {
    SCOPED_TRACE(row.dump());
    const EqualOptions options = OptionsOf(row);
    const auto gold = row.at("gold").get<std::string>();
    const auto answer = row.at("answer").get<std::string>();
    const std::vector<std::string> allowed = Allowed(row.at("verdict"));
    const EqualResult result = AnswersEqual(gold, answer, options);
    EXPECT_TRUE(std::count(allowed.begin(), allowed.end(), VerdictName(result.verdict)))
        << VerdictName(result.verdict) << ": " << result.reason;
    EXPECT_EQ(AnswersEqual(answer, gold, options).verdict, result.verdict) << "other order";
    EXPECT_FALSE(result.reason.empty());
    EXPECT_EQ(result.reason.find('\n'), std::string::npos);
    if (CanonicalKey(gold, options) == CanonicalKey(answer, options)) {
      EXPECT_EQ(result.verdict, Verdict::kEqual) << "same key " << CanonicalKey(gold, options);
    }
  }
}

TEST(EqualCases, GroupsAreRight) {
  const std::vector<Json> rows = LoadAnswerCases("group");
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    SCOPED_TRACE(row.dump());
    const auto answers = row.at("answers").get<std::vector<std::string>>();
    const auto groups = row.at("groups").get<std::vector<std::vector<size_t>>>();
    std::vector<int> expected(answers.size(), -1);
    for (size_t group = 0; group < groups.size(); ++group) {
      for (const size_t place : groups[group]) {
        expected[place] = static_cast<int>(group);
      }
    }
    EXPECT_EQ(GroupAnswers(answers), expected);
  }
}

}  // namespace
}  // namespace hyper
