// The figures of votes and signals, computed again by plain counting.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/support/figure_study.h"

namespace hyper::eval {
namespace {

class VoteFiguresTest : public FigureStudy {
 protected:
  static const StoredVote& Vote(const StoredItem& item, const std::string& rule) {
    for (const StoredVote& vote : item.votes) {
      if (vote.rule == rule) {
        return vote;
      }
    }
    ADD_FAILURE() << rule;
    return item.votes.front();
  }

  static bool HasRightPath(const StoredItem& item) {
    return std::any_of(item.paths.begin(), item.paths.end(),
                       [](const StoredPath& path) { return Votes(path) && path.answer == "1"; });
  }

  // Values of the finished paths of a row in a repeat (-1: all), largest first.
  std::vector<double> Values(const std::string& row, bool right, int repeat,
                             double (*of)(const StoredPath&)) {
    std::vector<double> values;
    for (const StoredItem& item : items_) {
      for (const StoredPath& path : item.paths) {
        if (item.key.run == RunOf(row) && (repeat < 0 || item.key.repeat == repeat) &&
            path.status == PathStatus::kFinished && (path.answer == "1") == right) {
          values.push_back(of(path));
        }
      }
    }
    std::sort(values.rbegin(), values.rend());
    return values;
  }
};

TEST_F(VoteFiguresTest, FailuresAreThoseWhereARightPathWasOutvoted) {
  AddSelfConsistency();
  AddHyper();
  const Figure figure = Make("3");
  const std::vector<FigureRow> rows = ReadFigureCsv(FigureCsv(figure));
  std::map<int64_t, std::vector<const StoredItem*>> cases;
  for (const StoredItem& item : items_) {
    if (item.answer && item.answer != "1" && HasRightPath(item)) {
      cases[item.key.run].push_back(&item);
    }
  }
  std::vector<const StoredItem*> shown;  // of the row with most, of equal ones the first
  for (const char* label : {"sc", "sc3", "hyper"}) {
    const std::vector<const StoredItem*>& of_row = cases[RunOf(label)];
    shown = of_row.size() > shown.size() ? of_row : shown;
  }
  ASSERT_FALSE(shown.empty()) << "the fixture has none";
  EXPECT_NE(figure.finding.find("in " + std::to_string(shown.size()) + " of 8 answers"),
            std::string::npos)
      << figure.finding;
  for (const FigureRow& row : Of(rows, "cases", "saved")) {
    const auto saved = std::count_if(shown.begin(), shown.end(), [&](const StoredItem* item) {
      return Vote(*item, row.category).answer == "1";
    });
    const double share = static_cast<double>(saved) / static_cast<double>(shown.size());
    EXPECT_NEAR(row.y, 100 * share, 1e-9) << row.category;
    const Interval wilson = WilsonInterval(share, static_cast<int>(shown.size()));
    EXPECT_NEAR(row.high, 100 * wilson.high, 1e-9);
  }
  // The first panel is one of them: its answers by votes, the right one marked, with their shares.
  const FigurePanel& panel = figure.panels[0];
  const bool found = std::any_of(shown.begin(), shown.end(), [&](const StoredItem* item) {
    const auto& tallies = Vote(*item, "majority").tallies;
    bool same = questions_[static_cast<size_t>(item->key.question) - 1].name == panel.title &&
                tallies.size() == panel.categories.size();
    for (size_t i = 0; same && i < tallies.size(); ++i) {
      const bool right = tallies[i].answer == "1";
      same = panel.categories[i] == tallies[i].answer + (right ? " (right)" : "") &&
             panel.series[0].points[i].y == 100 * tallies[i].share;
    }
    return same;
  });
  EXPECT_TRUE(found);
}

TEST_F(VoteFiguresTest, ReliabilityIsAccuracyByTheWinnersShare) {
  AddSelfConsistency();
  const std::vector<FigureRow> points = Of(Rows("reliability"), "sc", "sc");
  struct Bin {
    double shares = 0;
    std::array<double, kRepeats> items{}, right{};
  };
  std::map<int, Bin> bins;
  for (const StoredItem& item : items_) {
    if (item.key.run != RunOf("sc") || item.voting_paths < 2) {
      continue;
    }
    const double share = Vote(item, "majority").tallies.front().share;
    Bin& bin = bins[std::min(9, static_cast<int>(share * 10))];
    bin.shares += share;
    bin.items.at(static_cast<size_t>(item.key.repeat)) += 1;
    bin.right.at(static_cast<size_t>(item.key.repeat)) += item.answer == "1" ? 1 : 0;
  }
  ASSERT_EQ(points.size(), bins.size());
  size_t next = 0;
  for (const auto& [place, bin] : bins) {
    const FigureRow& point = points[next++];
    EXPECT_NEAR(point.x, 100 * bin.shares / (bin.items[0] + bin.items[1]), 1e-9);
    if (bin.items[0] > 0 && bin.items[1] > 0) {
      ExpectOverRepeats(point, bin.right[0] / bin.items[0], bin.right[1] / bin.items[1], 100);
    } else {
      EXPECT_NEAR(point.y, 100 * (bin.right[0] + bin.right[1]) / (bin.items[0] + bin.items[1]),
                  1e-9);
    }
  }
}

TEST_F(VoteFiguresTest, RocIsTheShareOfRightPathsAboveWrongOnes) {
  AddSelfConsistency();
  const std::vector<FigureRow> rows = Rows("roc");
  const auto confidence = [](const StoredPath& path) { return path.mean_confidence; };
  const std::vector<FigureRow> curve = Of(rows, "sc", "mean confidence");
  ASSERT_EQ(curve.size(), 21U);
  for (size_t step = 0; step < curve.size(); ++step) {
    std::array<double, kRepeats> kept{};
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const std::vector<double> right = Values("sc", true, repeat, confidence);
      const std::vector<double> wrong = Values("sc", false, repeat, confidence);
      // The curve is a staircase, as no two values are equal: at a share of wrong paths it has
      // passed all right ones before the first wrong one beyond.
      const auto passed =
          static_cast<size_t>(std::floor(static_cast<double>(step * wrong.size()) / 20 + 1e-9));
      const auto above = std::count_if(right.begin(), right.end(), [&](double value) {
        return passed == wrong.size() || value > wrong[passed];
      });
      kept.at(static_cast<size_t>(repeat)) =
          static_cast<double>(above) / static_cast<double>(right.size());
    }
    EXPECT_NEAR(curve[step].x, 5.0 * static_cast<double>(step), 1e-9);
    ExpectOverRepeats(curve[step], kept[0], kept[1], 100);
  }
  const std::vector<double> right = Values("sc", true, -1, confidence);
  const std::vector<double> wrong = Values("sc", false, -1, confidence);
  double pairs = 0;
  for (const double a : right) {
    for (const double b : wrong) {
      pairs += a > b ? 1 : (a == b ? 0.5 : 0);
    }
  }
  char area[16];
  std::snprintf(area, sizeof area, "%.2f",
                pairs / (static_cast<double>(right.size()) * static_cast<double>(wrong.size())));
  EXPECT_NE(curve[0].series.find(std::string("area ") + area), std::string::npos)
      << curve[0].series;
}

}  // namespace
}  // namespace hyper::eval
