// The figures of decisions, costs and options, computed again by plain counting.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/support/figure_study.h"

namespace hyper::eval {
namespace {

using RowFiguresTest = FigureStudy;

TEST_F(RowFiguresTest, IsolatedActionsAreMeansOverDecisions) {
  AddHyper("single", "single-token-only", {});
  AddHyper("branch", "hyper", {{"actions", "none,branch"}});
  AddHyper("other signal", "hyper", {{"actions", "none"}, {"confidence", "logprob"}});
  const std::vector<FigureRow> rows = Rows("5");
  EXPECT_TRUE(std::none_of(rows.begin(), rows.end(),
                           [](const FigureRow& row) { return row.series == "none"; }));
  for (const auto& [series, label] :
       {std::pair("single_token", "single"), std::pair("branch", "branch")}) {
    const std::vector<FigureRow> points = Of(rows, "", series);
    std::vector<std::pair<double, double>> expected;
    for (const StoredItem& item : items_) {
      if (item.key.run != RunOf(label)) {
        continue;
      }
      double diversity = 0;
      double confidence = 0;
      for (const DecisionRecord& decision : item.decisions) {
        diversity += decision.raw.diversity / 6;
        confidence += decision.raw.confidence / 6;
      }
      expected.emplace_back(diversity, confidence);
    }
    ASSERT_EQ(points.size(), expected.size());
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(points[i].x, expected[i].first, 1e-9);
      EXPECT_NEAR(points[i].y, expected[i].second, 1e-9);
    }
  }
}

TEST_F(RowFiguresTest, TracesAreThoseOfTheEasiestAndTheHardestQuestion) {
  AddHyper();
  const std::vector<FigureRow> rows = Rows("traces");
  const auto right = [](const StoredItem& item) {
    return std::count_if(item.paths.begin(), item.paths.end(),
                         [](const StoredPath& path) { return path.answer == "1"; });
  };
  for (const bool easy : {true, false}) {
    const std::vector<FigureRow> line = Of(rows, easy ? "easy" : "hard", "paths");
    const auto [least, most] = std::minmax_element(
        items_.begin(), items_.end(),
        [&](const StoredItem& a, const StoredItem& b) { return right(a) < right(b); });
    const int64_t wanted = right(easy ? *most : *least);
    // One of the items with so many right paths has exactly these decisions.
    const bool found = std::any_of(items_.begin(), items_.end(), [&](const StoredItem& item) {
      bool same = right(item) == wanted && item.decisions.size() == line.size();
      for (size_t i = 0; same && i < line.size(); ++i) {
        const DecisionRecord& decision = item.decisions[i];
        const char* action = decision.lanes_after > decision.paths_before ? NameOf(decision.action)
                                                                          : NameOf(Action::kNone);
        const std::vector<FigureRow> marks = Of(rows, easy ? "easy" : "hard", action);
        same = line[i].x == decision.position && line[i].y == decision.paths_before &&
               std::any_of(marks.begin(), marks.end(),
                           [&](const FigureRow& mark) { return mark.x == line[i].x; });
      }
      return same;
    });
    EXPECT_TRUE(found) << (easy ? "easy" : "hard");
  }
}

TEST_F(RowFiguresTest, RefinementComparesConfidenceAndDiversity) {
  AddSelfConsistency();
  AddHyper("ours", "hyper", {{"two-pass", "true"}});
  AddHyper("theirs", "hyper-roe-sampling", {{"two-pass", "false"}});
  const std::vector<FigureRow> rows = Rows("11");
  for (const auto& [series, label] :
       {std::pair("two-pass", "ours"), std::pair("independent", "theirs")}) {
    const std::vector<FigureRow> curve = Of(rows, "diversity", series);
    ASSERT_EQ(curve.size(), 10U);
    // Six decisions at ten places: place p begins in decision 6 p / 10.
    for (size_t place = 0; place < curve.size(); ++place) {
      std::array<double, kRepeats> mean{};
      for (const StoredItem& item : items_) {
        if (item.key.run == RunOf(label)) {
          mean.at(static_cast<size_t>(item.key.repeat)) +=
              item.decisions[6 * place / 10].raw.diversity / kQuestions;
        }
      }
      EXPECT_NEAR(curve[place].y, (mean[0] + mean[1]) / 2, 1e-6);
    }
  }
  const std::vector<FigureRow> plain = Of(rows, "confidence", "none (sc)");
  double first = 0;
  double paths = 0;
  for (const StoredItem& item : items_) {
    if (item.key.run != RunOf("sc") || item.key.repeat != 0) {
      continue;
    }
    for (const StoredSeries& series : item.series) {
      const auto& values = std::get<std::vector<float>>(series.values);
      const size_t each = values.size() / 20;
      for (size_t token = 0; token < each; ++token) {
        first += static_cast<double>(values[token]) / static_cast<double>(each);
      }
      paths += 1;
    }
  }
  // The mean of the first repeat is one end of the error: two values lie a spread / sqrt(2) apart.
  const double spread = (plain[0].high - plain[0].low) / 2;
  EXPECT_NEAR(std::abs(first / paths - plain[0].y), spread / std::sqrt(2.0), 1e-9);
}

TEST_F(RowFiguresTest, SensitivityTakesRowsThatDifferInOneOption) {
  AddHyper("T 8", "hyper", {{"interval", "8"}, {"reserved-lanes", "9"}});
  AddHyper("T 4", "hyper", {{"interval", "4"}, {"reserved-lanes", "8"}});
  AddHyper("T 16", "hyper", {{"interval", "16"}});
  AddHyper("both", "hyper", {{"interval", "32"}, {"eta", "1"}});
  const std::vector<FigureRow> rows = Rows("12");
  const std::vector<FigureRow> all = Of(rows, "interval", "hyper");
  ASSERT_EQ(all.size(), 6U) << "three values, accuracy and tokens";
  for (size_t i = 0; i < all.size(); ++i) {
    const int value = std::array{4, 8, 16}.at(i % 3);
    const std::string label = "T " + std::to_string(value);
    std::array<double, kRepeats> mean{};
    for (const StoredItem& item : items_) {
      if (item.key.run == RunOf(label)) {
        const double tokens = static_cast<double>(item.ledger.generated + item.ledger.extra_routes);
        mean.at(static_cast<size_t>(item.key.repeat)) +=
            (i < 3 ? (item.answer == "1" ? 100 : 0) : tokens) / kQuestions;
      }
    }
    EXPECT_EQ(all[i].x, value);
    ExpectOverRepeats(all[i], mean[0], mean[1]);
  }
}

TEST_F(RowFiguresTest, WorthComparesEqualStatesInWhichAnActionChangedThePool) {
  AddHyper("sc");  // no decision of it is forced
  for (const char* decision : {"1", "4"}) {
    for (const char* action : {"none", "multi_token", "branch"}) {
      AddHyper(std::string(decision) + action, "hyper",
               {{"force-decision", decision}, {"force-action", action}});
    }
  }
  AddHyper("alone", "hyper", {{"force-decision", "5"}, {"force-action", "branch"}});  // no None
  const std::vector<FigureRow> rows = Rows("worth");
  const auto item_of = [this](const std::string& label, const StoredItem& like) {
    return *std::find_if(items_.begin(), items_.end(), [&](const StoredItem& item) {
      return item.key.run == RunOf(label) && item.key.question == like.key.question &&
             item.key.repeat == like.key.repeat;
    });
  };
  for (const std::string action : {"multi_token", "branch"}) {
    std::array<double, kRepeats> all_points{};
    std::array<double, kRepeats> all_tokens{};
    std::array<double, kRepeats> all{};
    for (const int step : {1, 4}) {
      std::array<double, kRepeats> points{};
      std::array<double, kRepeats> tokens{};
      std::array<double, kRepeats> states{};
      for (const StoredItem& item : items_) {
        const std::string label = std::to_string(step) + action;
        if (item.key.run != RunOf(label) || !item.decisions[static_cast<size_t>(step)].acted) {
          continue;
        }
        const StoredItem none = item_of(std::to_string(step) + "none", item);
        const auto repeat = static_cast<size_t>(item.key.repeat);
        states.at(repeat) += 1;
        points.at(repeat) += (item.answer == "1" ? 100 : 0) - (none.answer == "1" ? 100 : 0);
        tokens.at(repeat) += static_cast<double>(item.ledger.generated + item.ledger.extra_routes -
                                                 none.ledger.generated - none.ledger.extra_routes);
      }
      const auto found = [&](const std::string& panel, const std::string& category) {
        return *std::find_if(rows.begin(), rows.end(), [&](const FigureRow& row) {
          return row.panel == panel && row.series == action && row.category == category;
        });
      };
      ASSERT_GT(states[0] * states[1], 0);
      const std::string category = std::to_string(step);
      ExpectOverRepeats(found("answers", category), points[0] / states[0], points[1] / states[1]);
      ExpectOverRepeats(found("cost", category), tokens[0] / states[0], tokens[1] / states[1]);
      for (size_t repeat = 0; repeat < kRepeats; ++repeat) {
        all.at(repeat) += states.at(repeat);
        all_points.at(repeat) += points.at(repeat);
        all_tokens.at(repeat) += tokens.at(repeat);
      }
      if (step == 4) {
        ExpectOverRepeats(found("answers", "all"), all_points[0] / all[0], all_points[1] / all[1]);
        ExpectOverRepeats(found("cost", "all"), all_tokens[0] / all[0], all_tokens[1] / all[1]);
      }
    }
  }
  for (const FigureRow& row : rows) {
    EXPECT_NE(row.series, "single_token") << "no row forces it";
    EXPECT_NE(row.category, "5");
  }
}

TEST_F(RowFiguresTest, LengthBiasIsTheMeanLengthByGroup) {
  AddSelfConsistency();
  const std::vector<FigureRow> rows = Rows("13");
  for (const bool right : {true, false}) {
    const std::vector<FigureRow> bars = Of(rows, "", right ? "right" : "wrong");
    ASSERT_EQ(bars.size(), 2U);
    for (const FigureRow& bar : bars) {
      std::array<double, kRepeats> tokens{};
      std::array<double, kRepeats> paths{};
      for (const StoredItem& item : items_) {
        const auto question = static_cast<size_t>(item.key.question) - 1;
        if (item.key.run != RunOf("sc") || "made " + questions_[question].group != bar.category) {
          continue;
        }
        for (const StoredPath& path : item.paths) {
          if ((path.answer == "1") == right) {
            tokens.at(static_cast<size_t>(item.key.repeat)) += path.tokens;
            paths.at(static_cast<size_t>(item.key.repeat)) += 1;
          }
        }
      }
      ExpectOverRepeats(bar, tokens[0] / paths[0], tokens[1] / paths[1]);
    }
  }
}

TEST_F(RowFiguresTest, EveryEffectiveTokenIsSpentOnce) {
  AddSelfConsistency();
  AddHyper();
  const std::vector<FigureRow> rows = Rows("tokens");
  std::map<std::string, double> sums;
  for (const FigureRow& row : rows) {
    sums[row.category] += row.y;
  }
  for (const auto& [label, sum] : sums) {
    double effective = 0;
    double pruned = 0;
    for (const StoredItem& item : items_) {
      if (item.key.run == RunOf(label)) {
        effective += static_cast<double>(item.ledger.effective()) / (kQuestions * kRepeats);
        for (const StoredPath& path : item.paths) {
          pruned += path.status == PathStatus::kPruned
                        ? static_cast<double>(path.tokens) / (kQuestions * kRepeats)
                        : 0;
        }
      }
    }
    EXPECT_NEAR(sum, effective, 1e-6) << label;
    for (const FigureRow& row : Of(rows, "", "paths pruned")) {
      if (row.category == label) {
        EXPECT_NEAR(row.y, pruned, 1e-6);
      }
    }
  }
  EXPECT_EQ(sums.size(), 3U);
  EXPECT_EQ(Of(rows, "", "continuations").size(), 3U);
}

}  // namespace
}  // namespace hyper::eval
