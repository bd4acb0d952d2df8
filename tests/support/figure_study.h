// Test support: a small study with known paths, decisions and costs, and its figures as rows of
// numbers, for tests that compute them again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/figures/figure_list.h"
#include "src/eval/grade/study_grades.h"
#include "src/store/store.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {

// A line of a figure's CSV.
struct FigureRow {
  std::string panel, series, x_axis, category, y_axis;
  double x = 0, y = 0, low = 0, high = 0;  // NaN: empty
};

// Fields of one line of CSV without line breaks in fields.
inline std::vector<std::string> CsvFields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

inline std::vector<FigureRow> ReadFigureCsv(const std::string& csv) {
  std::vector<FigureRow> rows;
  const auto number = [](const std::string& field) {
    return field.empty() ? kNaN : std::strtod(field.c_str(), nullptr);
  };
  size_t start = csv.find('\n') + 1;
  for (size_t end = 0; (end = csv.find('\n', start)) != std::string::npos; start = end + 1) {
    const std::vector<std::string> f = CsvFields(csv.substr(start, end - start));
    EXPECT_EQ(f.size(), 9U) << csv.substr(start, end - start);
    rows.push_back(
        {f[0], f[1], f[2], f[4], f[5], number(f[3]), number(f[6]), number(f[7]), number(f[8])});
  }
  return rows;
}

// Four questions of two groups with the gold "1", two repeats. Rows: "sc" has six independent
// paths, "sc3" the first three of them, "hyper" a warm-up, pruned paths, branches and decisions.
class FigureStudy : public ::testing::Test {
 protected:
  static constexpr int kQuestions = 4;
  static constexpr int kRepeats = 2;
  static constexpr int kTokens = 40;  // of a path's series at least

  FigureStudy() : store_(*Store::Open(folder_.File("s.db"), DatabaseMode::kCreate)) {
    for (int i = 0; i < kQuestions; ++i) {
      StoredQuestion question;
      question.suite = "made";
      question.name = "q" + std::to_string(i);
      question.gold = "1";
      question.kind = "integer";
      question.group = i < 2 ? "2" : "3";
      question.id = *store_.AddQuestion(question);
      questions_.push_back(question);
    }
  }

  int64_t AddRun(const std::string& label, const std::string& method,
                 std::map<std::string, std::string> settings) {
    StoredRun run;
    run.label = label;
    run.method = method;
    run.suite = "made";
    run.model = "tiny";
    run.settings = std::move(settings);
    return *store_.AddRun(run);
  }

  int Draw(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }

  // A path from the prompt on: "1" is right, "" no answer; a confidence for each token.
  StoredPath MakePath(StoredItem& item, const std::string& answer, int tokens) {
    StoredPath path;
    path.path = static_cast<PathId>(item.paths.size());
    path.key = random_();
    path.tokens = tokens;
    if (!answer.empty()) {
      path.answer = answer;
    }
    std::vector<float> confidences;
    double sum = 0;
    for (int i = 0; i < tokens; ++i) {
      confidences.push_back(static_cast<float>(Draw(100)) / 10 + (answer == "1" ? 2.0F : 0.0F));
      sum += static_cast<double>(confidences.back());
    }
    path.mean_confidence = sum / tokens;
    path.lowest_window = path.mean_confidence - Draw(20) / 10.0;
    item.series.push_back({path.path, "confidence", 0, confidences});
    return path;
  }

  // An answer that is right, wrong in one of two ways, or none.
  std::string DrawAnswer() {
    return std::vector<std::string>{"1", "1", "5", "5", "7", ""}[Draw(6)];
  }

  // A path with an answer that is neither pruned nor merged.
  static bool Votes(const StoredPath& path) {
    return path.answer && path.status == PathStatus::kFinished;
  }

  // The vote in which every path weighs `weight`: the largest sum wins, of equal ones the first.
  static StoredVote MakeVote(const StoredItem& item, const std::string& rule,
                             double (*weight)(const StoredPath&)) {
    std::map<std::string, double> sums;
    double all = 0;
    for (const StoredPath& path : item.paths) {
      if (Votes(path)) {
        sums[*path.answer] += weight(path);
        all += weight(path);
      }
    }
    StoredVote vote;
    vote.rule = rule;
    for (const auto& [answer, sum] : sums) {
      vote.tallies.push_back({answer, sum, sum / all, 0, true});
    }
    std::stable_sort(vote.tallies.begin(), vote.tallies.end(),
                     [](const StoredTally& a, const StoredTally& b) { return a.score > b.score; });
    if (!vote.tallies.empty()) {
      vote.answer = vote.tallies.front().answer;
    }
    return vote;
  }

  // Stores an item with its votes, of which the majority decides, and its tokens.
  void Save(StoredItem item) {
    item.votes = {
        MakeVote(item, "confidence", [](const StoredPath& path) { return path.mean_confidence; }),
        MakeVote(item, "length", [](const StoredPath& path) { return 1.0 * path.tokens; }),
        MakeVote(item, "majority", [](const StoredPath&) { return 1.0; })};
    item.answer = item.votes.back().answer;
    item.vote_rule = "majority";
    item.voting_paths =
        static_cast<int>(std::count_if(item.paths.begin(), item.paths.end(), Votes));
    for (const StoredPath& path : item.paths) {
      item.ledger.generated += path.tokens - path.fork_position;
    }
    item.ledger.lanes_opened = static_cast<int>(item.paths.size());
    EXPECT_TRUE(*store_.SaveItem(item));
    items_.push_back(std::move(item));
  }

  // The rows "sc" and "sc3".
  void AddSelfConsistency() {
    const int64_t sc = AddRun("sc", "sc", {{"width", "6"}, {"temperature", "0.8"}});
    const int64_t sc3 = AddRun("sc3", "sc", {{"width", "3"}, {"temperature", "0.8"}});
    for (const StoredQuestion& question : questions_) {
      for (int repeat = 0; repeat < kRepeats; ++repeat) {
        StoredItem item;
        item.key = {sc, question.id, repeat};
        for (int path = 0; path < 6; ++path) {
          item.paths.push_back(MakePath(item, DrawAnswer(), kTokens + 20 * Draw(3)));
        }
        StoredItem narrow = item;
        narrow.key.run = sc3;
        narrow.paths.resize(3);
        std::erase_if(narrow.series, [](const StoredSeries& series) { return series.path >= 3; });
        Save(std::move(item));
        Save(std::move(narrow));
      }
    }
  }

  void AddDecision(StoredItem& item, Action action, bool acted) {
    DecisionRecord decision;
    decision.step = static_cast<int>(item.decisions.size());
    decision.position = 8 * decision.step;
    decision.action = action;
    decision.expansion = 2;
    decision.paths_before = 2 + Draw(3);
    decision.paths_after = decision.paths_before;
    decision.lanes_after = decision.paths_before + (acted ? 2 : 0);
    decision.acted = acted;
    decision.raw.confidence = 1 + Draw(50) / 10.0;
    decision.raw.diversity = Draw(100) / 100.0;
    item.decisions.push_back(decision);
  }

  // A row of two warm-up paths, four of the pool (one is pruned) and a merged continuation.
  void AddHyper(const std::string& label = "hyper", const std::string& method = "hyper",
                std::map<std::string, std::string> settings = {}) {
    settings.insert({{"width", "4"}, {"temperature", "0.8"}});
    const int64_t run = AddRun(label, method, std::move(settings));
    for (const StoredQuestion& question : questions_) {
      for (int repeat = 0; repeat < kRepeats; ++repeat) {
        StoredItem item;
        item.key = {run, question.id, repeat};
        for (int i = 0; i < 7; ++i) {
          StoredPath path = MakePath(item, DrawAnswer(), kTokens + 10 * Draw(6));
          path.warmup = i < 2;
          if (i == 4) {
            path.status = PathStatus::kPruned;
          }
          if (i == 6) {
            path.status = PathStatus::kMerged;
            path.parent = 3;
            path.fork_position = 10;
            path.answer.reset();
          }
          item.paths.push_back(std::move(path));
        }
        std::erase_if(item.series, [](const StoredSeries& series) { return series.path == 6; });
        item.ledger.extra_routes = 30 + Draw(30);
        item.ledger.refined = item.ledger.extra_routes;
        for (int i = 0; i < 6; ++i) {
          AddDecision(item, static_cast<Action>(Draw(4)), Draw(3) > 0);
        }
        for (DecisionRecord& decision : item.decisions) {
          decision.acted = decision.acted && decision.action != Action::kNone;
          decision.lanes_after = decision.paths_before + (decision.acted ? 2 : 0);
        }
        Save(std::move(item));
      }
    }
  }

  // The figure of that name; its rows are what its CSV holds.
  Figure Make(const std::string& name) {
    EXPECT_TRUE(GradeStudy(store_, false).has_value());
    const Result<StudyMaterial> material = LoadMaterial(store_);
    EXPECT_TRUE(material.has_value());
    const Result<Figure> figure = MakeFigure(*FindFigure(name), *material);
    EXPECT_TRUE(figure.has_value()) << (figure ? "" : figure.error().message);
    EXPECT_FALSE(figure->finding.empty());
    for (const FigurePanel& panel : figure->panels) {
      EXPECT_FALSE(panel.x.label.empty());
      EXPECT_FALSE(panel.y.label.empty());
      EXPECT_FALSE(panel.series.empty()) << panel.title;
    }
    return *figure;
  }
  std::vector<FigureRow> Rows(const std::string& name) {
    return ReadFigureCsv(FigureCsv(Make(name)));
  }

  // The rows of one panel (any whose title holds `panel`) and series.
  static std::vector<FigureRow> Of(const std::vector<FigureRow>& rows, const std::string& panel,
                                   const std::string& series) {
    std::vector<FigureRow> chosen;
    for (const FigureRow& row : rows) {
      if (row.panel.find(panel) != std::string::npos && row.series.rfind(series, 0) == 0) {
        chosen.push_back(row);
      }
    }
    EXPECT_FALSE(chosen.empty()) << panel << " / " << series;
    return chosen;
  }

  int64_t RunOf(const std::string& label) {
    for (const StoredRun& run : *store_.Runs()) {
      if (run.label == label) {
        return run.id;
      }
    }
    ADD_FAILURE() << label;
    return 0;
  }

  test::TemporaryFolder folder_;
  Store store_;
  std::mt19937 random_{1};
  std::vector<StoredQuestion> questions_;
  std::vector<StoredItem> items_;  // as they were stored
};

// All subsets of `k` of the six paths: the share with a right one, and the mean of a majority that
// splits ties evenly.
inline std::pair<double, double> OverSubsets(const StoredItem& item, int k) {
  const auto count = static_cast<int>(item.paths.size());
  double subsets = 0;
  double exists = 0;
  double majority = 0;
  for (int subset = 0; subset < 1 << count; ++subset) {
    std::map<std::string, int> votes;
    int size = 0;
    for (int path = 0; path < count; ++path) {
      if ((subset >> path & 1) != 0) {
        ++size;
        if (const auto& answer = item.paths[static_cast<size_t>(path)].answer) {
          ++votes[*answer];
        }
      }
    }
    if (size != k) {
      continue;
    }
    ++subsets;
    exists += votes.count("1") > 0 ? 1 : 0;
    int most = 0;
    for (const auto& [answer, paths] : votes) {
      most = std::max(most, paths);
    }
    int tied = 0;
    for (const auto& [answer, paths] : votes) {
      tied += paths == most ? 1 : 0;
    }
    majority += most > 0 && votes["1"] == most ? 1.0 / tied : 0;
  }
  return {exists / subsets, majority / subsets};
}

// Mean and sample standard deviation of one value per repeat, in percent where `factor` is 100.
inline void ExpectOverRepeats(const FigureRow& row, double first, double second,
                              double factor = 1) {
  const double mean = (first + second) / 2 * factor;
  const double spread = std::abs(first - second) / std::sqrt(2.0) * factor;
  EXPECT_NEAR(row.y, mean, 1e-9);
  EXPECT_NEAR(row.low, mean - spread, 1e-9);
  EXPECT_NEAR(row.high, mean + spread, 1e-9);
}

}  // namespace hyper::eval
