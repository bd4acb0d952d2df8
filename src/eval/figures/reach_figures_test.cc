// Tokens to an accuracy and the time from which answers stay, computed again another way.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/support/figure_study.h"

namespace hyper::eval {
namespace {

using ReachFiguresTest = FigureStudy;

TEST_F(ReachFiguresTest, TokensToAnAccuracyAreThoseOfTheFirstPointThatHasIt) {
  AddSelfConsistency();
  AddHyper();
  // Accuracy at a number of tokens: the highest so far, linear between points that raise it.
  std::map<std::string, std::map<double, double>> points;
  std::map<std::string, double> tokens;
  std::map<std::string, double> right;
  for (const StoredItem& item : items_) {
    for (const char* label : {"sc", "sc3", "hyper"}) {
      if (item.key.run == RunOf(label)) {
        tokens[label] += static_cast<double>(item.ledger.generated + item.ledger.extra_routes) / 8;
        right[label] += item.answer == "1" ? 1.0 / 8 : 0;
      }
    }
  }
  points["hyper"][tokens["hyper"]] = right["hyper"];
  points["sc"][tokens["sc"]] = right["sc"];
  points["sc"][tokens["sc3"]] = right["sc3"];
  for (int k = 1; k < 6; ++k) {
    double& accuracy = points["sc"][tokens["sc"] * k / 6];
    accuracy = 0;
    for (const StoredItem& item : items_) {
      accuracy += item.key.run == RunOf("sc") ? OverSubsets(item, k).second / 8 : 0;
    }
  }
  const auto at = [](const std::map<double, double>& curve, double spent) {
    double reached = -1;
    double from = 0;
    for (const auto& [cost, accuracy] : curve) {
      if (cost > spent) {
        return reached < 0 || accuracy <= reached
                   ? reached
                   : reached + (accuracy - reached) * (spent - from) / (cost - from);
      }
      if (accuracy > reached) {
        reached = accuracy;
        from = cost;
      }
    }
    return reached;
  };
  const std::vector<FigureRow> rows = Rows("target");
  int bars = 0;
  for (const FigureRow& row : rows) {
    const double target = std::stod(row.category) / 100;
    const std::map<double, double>& curve = points.at(row.series);
    if (std::isnan(row.y)) {
      EXPECT_LT(at(curve, 1e9), target) << row.series;
      continue;
    }
    ++bars;
    EXPECT_GE(at(curve, row.y + 1e-6), target - 1e-8) << row.series << " " << target;
    EXPECT_LT(at(curve, row.y - 1e-6), target) << row.series << " " << target;
  }
  EXPECT_GT(bars, 2) << "the fixture reaches nothing";
}

TEST_F(ReachFiguresTest, OneMethodHasNothingToReach) {
  AddSelfConsistency();
  EXPECT_TRUE(GradeStudy(store_, false).has_value());
  const Result<StudyMaterial> material = LoadMaterial(store_);
  EXPECT_FALSE(MakeFigure(*FindFigure("target"), *material));
}

TEST_F(ReachFiguresTest, AnswersAreSettledOnceTheLeaderIsTheLast) {
  AddSelfConsistency();
  const std::vector<FigureRow> points = Of(Rows("settled"), "", "sc");
  ASSERT_EQ(points.size(), 21U);
  // The leader after each path that ends, shortest first; a tie keeps the one before.
  const auto leaders = [](const StoredItem& item) {
    std::vector<std::pair<int, std::string>> after;  // length, leader
    for (size_t ended = 1; ended <= item.paths.size(); ++ended) {
      std::vector<StoredPath> paths = item.paths;
      std::stable_sort(paths.begin(), paths.end(),
                       [](const auto& a, const auto& b) { return a.tokens < b.tokens; });
      std::map<std::string, int> votes;
      for (size_t i = 0; i < ended; ++i) {
        votes[paths[i].answer.value_or("")] += paths[i].answer ? 1 : 0;
      }
      std::string leader = after.empty() ? "" : after.back().second;
      for (const auto& [answer, count] : votes) {
        leader = count > votes[leader] ? answer : leader;
      }
      after.emplace_back(paths[ended - 1].tokens, leader);
    }
    return after;
  };
  for (size_t place = 0; place < points.size(); ++place) {
    std::array<double, kRepeats> settled{};
    std::array<double, kRepeats> known{};
    for (const StoredItem& item : items_) {
      if (item.key.run != RunOf("sc")) {
        continue;
      }
      const auto after = leaders(item);
      const double now = static_cast<double>(place) / 20 * after.back().first;
      std::string leader;
      bool stays = true;
      for (const auto& [length, then] : after) {
        leader = length <= now ? then : leader;
        stays = stays && (length <= now || then == leader);
      }
      const auto repeat = static_cast<size_t>(item.key.repeat);
      const bool decided = item.answer && after.back().second == *item.answer;
      known.at(repeat) += decided ? 1 : 0;
      settled.at(repeat) += stays && decided ? 1 : 0;
    }
    EXPECT_NEAR(points[place].x, 5.0 * static_cast<double>(place), 1e-9);
    ExpectOverRepeats(points[place], settled[0] / known[0], settled[1] / known[1], 100);
  }
}

}  // namespace
}  // namespace hyper::eval
