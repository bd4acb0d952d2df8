// Properties of the equivalence on the golds of public test sets, where ../shared/data has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/equal.h"

namespace hyper {
namespace {

// The distinct golds of one file; GSM8K keeps its gold behind "####".
std::vector<std::string> LoadGolds(const std::string& name) {
  std::ifstream file(std::string(HYPER_SOURCE_DIR) + "/../shared/data/" + name + ".jsonl");
  std::set<std::string> golds;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json answer = nlohmann::json::parse(line).at("answer");
    std::string gold = answer.is_string() ? answer.get<std::string>() : answer.dump();
    const size_t mark = gold.rfind("####");
    if (mark != std::string::npos) {
      gold = gold.substr(mark + 4);
    }
    golds.insert(gold);
  }
  return {golds.begin(), golds.end()};
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class Golds : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golds_ = LoadGolds(GetParam());
    if (golds_.empty()) {
      GTEST_SKIP() << GetParam() << " is not there";
    }
  }
  std::vector<std::string> golds_;
};

TEST_P(Golds, EqualThemselvesByTheirMeaning) {
  for (const std::string& gold : golds_) {
    EXPECT_EQ(AnswersEqual(gold, gold).verdict, Verdict::kEqual) << gold;
    // Not by its text alone: every gold is read.
    EXPECT_EQ(CanonicalKey(gold)[0], '=') << gold;
  }
}

TEST_P(Golds, EqualTheirHarmlessRewritings) {
  for (const std::string& gold : golds_) {
    // Sizing commands mean nothing inside \\text.
    const bool text = gold.find("\\text") != std::string::npos;
    const std::string sized =
        text ? gold
             : Replaced(Replaced(Replaced(gold, "\\frac", "\\dfrac"), "(", "\\left("), ")",
                        "\\right)");
    for (const std::string& rewritten :
         {"  " + gold + " ", "$" + gold + "$", "\\(" + gold + "\\)", "$$" + gold + "$$",
          "\\boxed{" + gold + "}", gold + ".", "\\displaystyle " + gold, sized,
          Replaced(gold, "+", " + "), Replaced(gold, ",\\!", ""), "x = " + gold}) {
      // A named value is no rewriting of a relation, nor of words.
      const bool named = rewritten.rfind("x = ", 0) == 0;
      const bool statement = gold.find_first_of("=<>") != std::string::npos ||
                             gold.find("\\in") != std::string::npos || text ||
                             gold.find(',') != std::string::npos;
      // A lone dollar sign is money, not a delimiter.
      const bool money = gold.find('$') != std::string::npos && rewritten.find('$') == 0;
      if ((named && statement) || money) {
        continue;
      }
      const EqualResult result = AnswersEqual(gold, rewritten);
      EXPECT_EQ(result.verdict, Verdict::kEqual)
          << gold << " | " << rewritten << " | " << result.reason;
    }
  }
}

TEST_P(Golds, NeverEqualThemselvesWithOneDigitChanged) {
  for (const std::string& gold : golds_) {
    for (size_t i = 0; i < gold.size(); ++i) {
      if (std::isdigit(static_cast<unsigned char>(gold[i])) == 0) {
        continue;
      }
      std::string changed = gold;
      changed[i] = static_cast<char>('0' + (gold[i] - '0' + 1) % 10);
      EXPECT_NE(AnswersEqual(gold, changed).verdict, Verdict::kEqual) << gold << " | " << changed;
    }
  }
}

TEST_P(Golds, CompareTheSameInBothOrders) {
  // Neighbours in sorted order are alike, so these are hard pairs.
  for (size_t i = 0; i + 1 < golds_.size(); ++i) {
    const Verdict forth = AnswersEqual(golds_[i], golds_[i + 1]).verdict;
    EXPECT_EQ(AnswersEqual(golds_[i + 1], golds_[i]).verdict, forth)
        << golds_[i] << " | " << golds_[i + 1];
    if (CanonicalKey(golds_[i]) == CanonicalKey(golds_[i + 1])) {
      EXPECT_EQ(forth, Verdict::kEqual) << golds_[i] << " | " << golds_[i + 1];
    }
  }
}

// Groups numbered by first appearance.
std::vector<int> Numbered(std::vector<int> group) {
  std::map<int, int> number;
  for (int& g : group) {
    g = number.emplace(g, static_cast<int>(number.size())).first->second;
  }
  return group;
}

// The groups that comparing every pair gives, numbered by first appearance.
std::vector<int> GroupsOfAllPairs(const std::vector<std::string>& answers) {
  std::vector<int> group(answers.size());
  std::iota(group.begin(), group.end(), 0);
  for (size_t i = 0; i < answers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (group[i] == group[j]) {
        continue;
      }
      if (AnswersEqual(answers[i], answers[j]).verdict != Verdict::kEqual) {
        continue;
      }
      std::replace(group.begin(), group.end(), std::max(group[i], group[j]),
                   std::min(group[i], group[j]));
    }
  }
  return Numbered(group);
}

void ExpectGroups(const std::vector<std::string>& answers, const std::vector<int>& groups,
                  const std::vector<int>& expected) {
  const auto at = std::mismatch(groups.begin(), groups.end(), expected.begin());
  if (at.first == groups.end()) {
    return;
  }
  const auto first_of = [&](const std::vector<int>& all, int group) {
    return answers[std::find(all.begin(), all.end(), group) - all.begin()];
  };
  ADD_FAILURE() << answers[at.first - groups.begin()] << " is grouped with "
                << first_of(groups, *at.first) << ", by pairs with "
                << first_of(expected, *at.second);
}

TEST_P(Golds, GroupAsComparingEveryPairDoes) {
  const char* const rewritings[][2] = {{"\\frac{2(", ")}{2}"}, {"x = ", ""},   {"{", "}"},
                                       {"", " \\text{ cm}"},   {"", "\\%"},    {"(", ", 1)"},
                                       {"\\{", "\\}"},         {"-(-(", "))"}, {"", " + x - x"},
                                       {"\\pm ", ""},          {"", "x^2"},    {"", ", 7"}};
  std::vector<std::string> answers = golds_;
  for (size_t i = 0; i < golds_.size(); ++i) {
    const char* const* const around = rewritings[i % std::size(rewritings)];
    answers.push_back(around[0] + golds_[i] + around[1]);
  }
  // Every second answer and its rewriting keep the pairs of the largest suite few.
  if (answers.size() > 800) {
    std::vector<std::string> fewer;
    for (size_t i = 0; i < answers.size(); i += 2) {
      fewer.push_back(answers[i]);
    }
    answers = fewer;
  }
  const std::vector<int> expected = GroupsOfAllPairs(answers);
  ExpectGroups(answers, GroupAnswers(answers), expected);
  std::reverse(answers.begin(), answers.end());
  const std::vector<int> reversed(expected.rbegin(), expected.rend());
  ExpectGroups(answers, GroupAnswers(answers), Numbered(reversed));
}

INSTANTIATE_TEST_SUITE_P(Suites, Golds, ::testing::Values("math500", "gsm8k_test", "aime24"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace hyper
