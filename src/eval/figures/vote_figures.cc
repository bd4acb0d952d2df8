// Figures of votes: 3 and reliability.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/base/utf8.h"
#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr size_t kMostAnswers = 5;   // of a question, in a panel
constexpr size_t kAnswerBytes = 12;  // of an answer's text
constexpr int kShareBins = 10;

bool VerdictOfAnswerIsRight(const MaterialItem& item, const std::optional<std::string>& answer) {
  for (size_t path = 0; path < item.item.paths.size(); ++path) {
    if (answer && item.item.paths[path].answer == answer) {
      return item.path_verdicts[path] == StoredVerdict::kRight;
    }
  }
  return false;
}

const StoredVote* VoteUnder(const StoredItem& item, const std::string& rule) {
  const auto at = std::find_if(item.votes.begin(), item.votes.end(),
                               [&](const StoredVote& vote) { return vote.rule == rule; });
  return at != item.votes.end() ? &*at : nullptr;
}

// Share of the deciding vote that right answers had.
double RightShareOfVote(const MaterialItem& item) {
  const StoredVote* vote = VoteUnder(item.item, item.item.vote_rule);
  double share = 0;
  for (const StoredTally& tally : vote != nullptr ? vote->tallies : std::vector<StoredTally>()) {
    share += VerdictOfAnswerIsRight(item, tally.answer) ? tally.share : 0;
  }
  return share;
}

// Items whose vote is wrong although right paths took part in it.
std::vector<const MaterialItem*> OutvotedItems(const RunMaterial& run) {
  std::vector<const MaterialItem*> cases;
  for (const MaterialItem& item : run.items) {
    if (item.verdict == StoredVerdict::kWrong && RightShareOfVote(item) > 0) {
      cases.push_back(&item);
    }
  }
  return cases;
}

bool SavedBy(const MaterialItem& item, const std::string& rule) {
  const StoredVote* vote = VoteUnder(item.item, rule);
  return vote != nullptr && VerdictOfAnswerIsRight(item, vote->answer);
}

bool SavedByAny(const MaterialItem& item) {
  return std::any_of(item.item.votes.begin(), item.item.votes.end(),
                     [&](const StoredVote& vote) { return SavedBy(item, vote.rule); });
}

// The rules that were counted for some of the items, in the order of their names.
std::vector<std::string> CountedRules(const std::vector<const MaterialItem*>& items) {
  std::vector<std::string> rules;
  for (const char* name : kNamesOf<VoteRule>) {
    if (std::any_of(items.begin(), items.end(), [&](const MaterialItem* item) {
          return VoteUnder(item->item, name) != nullptr;
        })) {
      rules.emplace_back(name);
    }
  }
  return rules;
}

std::string ShortAnswer(std::string answer) {
  if (answer.size() <= kAnswerBytes) {
    return answer;
  }
  size_t end = kAnswerBytes;
  while (end > 0 && base::GoesOn(answer[end])) {
    --end;
  }
  return answer.substr(0, end) + "...";
}

// Two cases of different questions: those that some rule saves first, then those where the right
// answer had the largest share.
std::vector<const MaterialItem*> ExampleCases(std::vector<const MaterialItem*> cases) {
  std::stable_sort(cases.begin(), cases.end(), [](const MaterialItem* a, const MaterialItem* b) {
    return std::pair(SavedByAny(*a), RightShareOfVote(*a)) >
           std::pair(SavedByAny(*b), RightShareOfVote(*b));
  });
  std::vector<const MaterialItem*> chosen;
  for (const MaterialItem* item : cases) {
    if (chosen.empty() || (chosen.size() < 2 && chosen[0]->question != item->question)) {
      chosen.push_back(item);
    }
  }
  return chosen;
}

// Answers of a question in the order of the deciding vote, a right one among them.
std::vector<std::string> ShownAnswers(const MaterialItem& item) {
  std::vector<std::string> answers;
  const StoredVote* vote = VoteUnder(item.item, item.item.vote_rule);
  for (const StoredTally& tally : vote != nullptr ? vote->tallies : std::vector<StoredTally>()) {
    if (answers.size() < kMostAnswers) {
      answers.push_back(tally.answer);
    } else if (VerdictOfAnswerIsRight(item, tally.answer) &&
               std::none_of(answers.begin(), answers.end(), [&](const std::string& answer) {
                 return VerdictOfAnswerIsRight(item, answer);
               })) {
      answers.back() = tally.answer;
    }
  }
  return answers;
}

double ShareUnder(const StoredItem& item, const std::string& rule, const std::string& answer) {
  const StoredVote* vote = VoteUnder(item, rule);
  for (const StoredTally& tally : vote != nullptr ? vote->tallies : std::vector<StoredTally>()) {
    if (tally.answer == answer) {
      return kToPercent * tally.share;
    }
  }
  return kNaN;
}

FigurePanel CasePanel(const StudyMaterial& material, const MaterialItem& item) {
  FigurePanel panel{material.questions[item.question].name,
                    {"answer, most votes first"},
                    {"share of the vote (%)", 0},
                    {},
                    {}};
  const std::vector<std::string> answers = ShownAnswers(item);
  for (const std::string& answer : answers) {
    panel.categories.push_back(ShortAnswer(answer) +
                               (VerdictOfAnswerIsRight(item, answer) ? " (right)" : ""));
  }
  for (const auto& [rule, name] :
       {std::pair("majority", "paths"), std::pair("confidence", "confidence"),
        std::pair("length", "length")}) {
    FigureSeries series{name, SeriesStyle::kBars, {}};
    for (size_t i = 0; i < answers.size(); ++i) {
      series.points.push_back(
          {static_cast<double>(i), ShareUnder(item.item, rule, answers[i]), kNaN, kNaN});
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

FigurePanel SavedPanel(const std::vector<const MaterialItem*>& cases, std::string& best) {
  FigurePanel panel{"cases that a rule would have saved",
                    {"rule"},
                    {"share of cases (%)", 0},
                    {},
                    {{"saved", SeriesStyle::kBars, {}}}};
  panel.categories = CountedRules(cases);
  double most = 0;
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    std::vector<double> saved;
    for (const MaterialItem* item : cases) {
      saved.push_back(SavedBy(*item, panel.categories[i]) ? 1 : 0);
    }
    const double count = std::accumulate(saved.begin(), saved.end(), 0.0);
    if (count > most) {
      most = count;
      best = fmt::format("{} would have saved {:g} of them, most of all rules", panel.categories[i],
                         count);
    }
    panel.series[0].points.push_back(
        PointOf(static_cast<double>(i), Scaled(EstimateShare({saved}), kToPercent)));
  }
  return panel;
}

// The share of the vote that the winner had, NaN where nothing was voted on.
double WinnerShare(const MaterialItem& item) {
  const StoredVote* vote = VoteUnder(item.item, item.item.vote_rule);
  const bool known = vote != nullptr && !vote->tallies.empty() && item.item.voting_paths > 1;
  return known ? vote->tallies.front().share : kNaN;
}

int ShareBin(double share) {
  return std::clamp(static_cast<int>(share * kShareBins), 0, kShareBins - 1);
}

bool HasShares(const RunMaterial& run) {
  return std::any_of(run.items.begin(), run.items.end(),
                     [](const MaterialItem& item) { return std::isfinite(WinnerShare(item)); });
}

// Accuracy against the winner's share, a point for each tenth of shares.
FigureSeries ReliabilitySeries(const RunMaterial& run, double& calibration_error) {
  FigureSeries series{run.run().label, SeriesStyle::kPoints, {}};
  calibration_error = 0;
  double all = 0;
  for (int bin = 0; bin < kShareBins; ++bin) {
    ValueSum shares;
    ValueSum right;
    for (const MaterialItem& item : run.items) {
      const double share = WinnerShare(item);
      if (std::isfinite(share) && ShareBin(share) == bin) {
        shares.Add(share);
        right.Add(item.verdict == StoredVerdict::kRight ? 1 : 0);
      }
    }
    if (shares.count == 0) {
      continue;
    }
    const Estimate accuracy = EstimateItems(run, [bin](const MaterialItem& item, ValueSum& sum) {
      const double share = WinnerShare(item);
      if (std::isfinite(share) && ShareBin(share) == bin) {
        sum.Add(item.verdict == StoredVerdict::kRight ? 1 : 0);
      }
    });
    series.points.push_back(
        PointOf(kToPercent * shares.sum / shares.count, Scaled(accuracy, kToPercent)));
    calibration_error += std::abs(right.sum - shares.sum);
    all += shares.count;
  }
  calibration_error *= kToPercent / all;
  return series;
}

}  // namespace

Result<Figure> FailuresFigure(const StudyMaterial& material) {
  const RunMaterial* row = nullptr;
  std::vector<const MaterialItem*> cases;
  for (const RunMaterial& run : material.runs) {
    std::vector<const MaterialItem*> of_run = OutvotedItems(run);
    if (of_run.size() > cases.size()) {
      row = &run;
      cases = std::move(of_run);
    }
  }
  if (row == nullptr) {
    return NotInStudy("no right path was outvoted in any row: nothing to show");
  }
  Figure figure;
  for (const MaterialItem* item : ExampleCases(cases)) {
    figure.panels.push_back(CasePanel(material, *item));
  }
  std::string best;
  FigurePanel saved = SavedPanel(cases, best);
  if (best.empty()) {
    best = "no rule would have saved one";
  } else {
    figure.panels.push_back(std::move(saved));
  }
  figure.finding = fmt::format("{}: in {} of {} answers ({} %) a right path was outvoted; {}.",
                               row->run().label, cases.size(), row->items.size(),
                               Short(kToPercent * static_cast<double>(cases.size()) /
                                     static_cast<double>(row->items.size())),
                               best);
  figure.notes = {"The row with most such answers: " + row->run().label +
                  ". Errors of the last panel: 95 % intervals over its cases."};
  return figure;
}

Result<Figure> ReliabilityFigure(const StudyMaterial& material) {
  const std::vector<const RunMaterial*> rows = FirstOfMethods(material, kMostPanels, HasShares);
  if (rows.empty()) {
    return NotInStudy("no row has votes of several paths");
  }
  Figure figure;
  for (const RunMaterial* run : rows) {
    double error = 0;
    FigureSeries series = ReliabilitySeries(*run, error);
    figure.finding += fmt::format(
        "{}{}: the winner's share is off its accuracy by {} points (expected calibration error)",
        figure.finding.empty() ? "" : "; ", run->run().label, Short(error));
    figure.panels.push_back(
        {run->run().label,
         {"share of the vote that the winner has (%)", 0, kToPercent, false},
         {kAccuracyAxis, 0, kToPercent, false},
         {},
         {{"as probable as its share", SeriesStyle::kGuide, {{0, 0}, {kToPercent, kToPercent}}},
          std::move(series)}});
  }
  figure.finding += ".";
  figure.notes = {"A point for each tenth of shares, at the mean share of its answers."};
  return figure;
}

}  // namespace hyper::eval
