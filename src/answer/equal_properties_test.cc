// Properties of the equivalence on the golds of public test sets, where ../shared/data has them.
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
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
    const std::size_t mark = gold.rfind("####");
    if (mark != std::string::npos) gold = gold.substr(mark + 4);
    golds.insert(gold);
  }
  return {golds.begin(), golds.end()};
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class Golds : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golds_ = LoadGolds(GetParam());
    if (golds_.empty()) GTEST_SKIP() << GetParam() << " is not there";
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
      if ((named && statement) || money) continue;
      const EqualResult result = AnswersEqual(gold, rewritten);
      EXPECT_EQ(result.verdict, Verdict::kEqual)
          << gold << " | " << rewritten << " | " << result.reason;
    }
  }
}

TEST_P(Golds, NeverEqualThemselvesWithOneDigitChanged) {
  for (const std::string& gold : golds_) {
    for (std::size_t i = 0; i < gold.size(); ++i) {
      if (std::isdigit(static_cast<unsigned char>(gold[i])) == 0) continue;
      std::string changed = gold;
      changed[i] = static_cast<char>('0' + (gold[i] - '0' + 1) % 10);
      EXPECT_NE(AnswersEqual(gold, changed).verdict, Verdict::kEqual) << gold << " | " << changed;
    }
  }
}

TEST_P(Golds, CompareTheSameInBothOrders) {
  // Neighbours in sorted order are alike, so these are hard pairs.
  for (std::size_t i = 0; i + 1 < golds_.size(); ++i) {
    const Verdict forth = AnswersEqual(golds_[i], golds_[i + 1]).verdict;
    EXPECT_EQ(AnswersEqual(golds_[i + 1], golds_[i]).verdict, forth)
        << golds_[i] << " | " << golds_[i + 1];
    if (CanonicalKey(golds_[i]) == CanonicalKey(golds_[i + 1])) {
      EXPECT_EQ(forth, Verdict::kEqual) << golds_[i] << " | " << golds_[i + 1];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Suites, Golds, ::testing::Values("math500", "gsm8k_test", "aime24"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace hyper
