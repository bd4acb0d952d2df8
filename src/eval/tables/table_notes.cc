#include "src/eval/tables/table_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "src/eval/tables/study_tables.h"

namespace hyper::eval {

std::string Marked(const std::string& name, const Accuracy& accuracy) {
  return name + (accuracy.comparable ? "" : " (!)");
}

std::string RowLabel(const RunSummary& run) { return Marked(run.run.label, run.accuracy); }

bool IsResampled(const RunSummary& run) {
  const auto resamples = run.run.settings.find("resamples");
  return resamples != run.run.settings.end() && std::atoi(resamples->second.c_str()) > 1;
}

std::vector<std::string> RowNotes(const std::vector<RunSummary>& runs) {
  std::vector<std::string> notes;
  std::string resampled;
  for (const RunSummary& run : runs) {
    const Accuracy& accuracy = run.accuracy;
    if (accuracy.open_share > 0) {
      notes.push_back(fmt::format(
          "{}: {:.1f} % undecided or failed, so the accuracy lies within {:.1f} to {:.1f}{}.",
          run.run.label, kPercent * accuracy.open_share, kPercent * accuracy.low,
          kPercent * accuracy.high, accuracy.comparable ? "" : "; (!) not comparable"));
    }
    if (run.left_out > 0) {
      notes.push_back(fmt::format("{}: {} questions lack a repeat and are left out.", run.run.label,
                                  run.left_out));
    }
    if (IsResampled(run)) {
      resampled += (resampled.empty() ? "" : ", ") + run.run.label;
    }
  }
  if (!resampled.empty()) {
    notes.push_back(resampled +
                    ": draws from one pool of stored traces; after the sign is the standard "
                    "deviation over draws, which is less than that over repeats.");
  }
  return notes;
}

std::vector<std::string> RuleNotes(const RunSummary& run, const std::vector<RuleAccuracy>& rules) {
  double open = 0;
  bool comparable = true;
  for (const RuleAccuracy& rule : rules) {
    open = std::max(open, rule.accuracy.open_share);
    comparable = comparable && rule.accuracy.comparable;
  }
  if (open == 0) {
    return {};
  }
  return {
      fmt::format("{}: up to {:.1f} % undecided or failed under a rule, so its accuracy may be "
                  "higher by as much{}.",
                  run.run.label, kPercent * open, comparable ? "" : "; (!) not comparable")};
}

}  // namespace hyper::eval
