#include "apps/hyper/printers/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/hyper/models/profile.h"
#include "src/eval/tables/study_tables.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

using eval::Cell;

std::string LabelText(const eval::LabelCounts& labels) {
  std::string text = fmt::format("Right answers: {} known", labels.gold);
  if (labels.consensus > 0) {
    text += fmt::format(", {} by consensus, the answer of most paths", labels.consensus);
  }
  if (labels.dropped > 0) {
    text += fmt::format("; {} questions without one are left out", labels.dropped);
  }
  return text + ".";
}

eval::Table SignalTable(const eval::Calibration& made, const eval::LabelCounts& labels) {
  eval::Table table;
  table.name = "signals";
  table.title = "How well each signal tells right paths of a question from wrong ones";
  table.columns = {{"signal", ""},       {"lowest window", ""}, {"ROC area", ""},
                   {"95% interval", ""}, {"right cut %", ""},   {"wrong cut %", ""},
                   {"cut at %", ""}};
  for (const eval::SignalScore& score : made.scores) {
    table.rows.push_back({Cell::Text(NameOf(score.signal)),
                          Cell::Text(score.window == 0 ? "mean" : std::to_string(score.window)),
                          Cell::Number(score.area, 3),
                          Cell::Range(score.interval.low, score.interval.high, 3),
                          Cell::Number(eval::kPercent * score.right_cut, 1),
                          Cell::Number(eval::kPercent * score.wrong_cut, 1),
                          Cell::Number(eval::kPercent * score.cut_at, 1)});
  }
  eval::MarkBest(table, 0, table.rows.size(), {2});
  table.notes = {
      fmt::format("{} of {} questions of the first half have right and wrong paths; 0.5 is chance.",
                  made.scores.front().areas.size(), made.questions[0]),
      "Cut: right and wrong paths that the paper's threshold prunes, and at which part of a path.",
      LabelText(labels)};
  return table;
}

std::vector<Cell> RowCells(const eval::CalibrationRow& row) {
  const eval::PairedDifference& difference = row.against_all.difference;
  return {Cell::Text(row.label),
          Cell::Number(eval::kPercent * row.summary.accuracy.mean, 1),
          eval::IntervalCell(row.summary.accuracy),
          Cell::Number(eval::kPercent * difference.mean, 1),
          Cell::Range(eval::kPercent * difference.interval.low,
                      eval::kPercent * difference.interval.high, 1),
          Cell::Number(row.summary.effective_tokens, 0),
          Cell::Number(row.summary.sequential_tokens, 0)};
}

eval::Table RowTable(const char* name, std::string title) {
  eval::Table table;
  table.name = name;
  table.title = std::move(title);
  table.columns = {{"setting", ""},      {"Acc %", ""},         {"95% interval", ""},
                   {"to all paths", ""}, {"95% interval ", ""}, {"tokens", ""},
                   {"sequential", ""}};
  return table;
}

eval::Table FrontierTable(const eval::Calibration& made) {
  eval::Table table = RowTable(
      "frontier",
      fmt::format("First half, {} questions: settings that no other beats", made.questions[0]));
  std::vector<const eval::CalibrationRow*> rows = eval::Frontier(made.first);
  for (const eval::CalibrationRow* row : rows) {
    table.rows.push_back(RowCells(*row));
  }
  for (const eval::CalibrationRow& row : made.first) {
    const bool always =
        row.label == eval::kAllPaths || row.label == eval::kUsual || row.label == made.chosen;
    if (always && std::find(rows.begin(), rows.end(), &row) == rows.end()) {
      table.rows.push_back(RowCells(row));
    }
  }
  table.notes = {
      fmt::format("{} settings replayed, {} paths at most. The last lines are beaten by others.",
                  made.first.size(), made.paths),
      fmt::format("Chosen: {}{}.", made.chosen,
                  !made.within_tolerance ? ", since no setting surely stays within the tolerance"
                  : made.kept_usual
                      ? ", since no other is as accurate and saves tokens beyond noise"
                      : "")};
  return table;
}

std::string SavedText(const eval::Calibration& made, size_t other,
                      const eval::PairedDifference& tokens) {
  const double base = made.second[other].summary.effective_tokens;
  return fmt::format("{}: {:+.1f} % tokens ({:+.1f} to {:+.1f})", made.second[other].label,
                     eval::kPercent * tokens.mean / base,
                     eval::kPercent * tokens.interval.low / base,
                     eval::kPercent * tokens.interval.high / base);
}

eval::Table HeldOutTable(const eval::Calibration& made) {
  eval::Table table = RowTable(
      "held-out",
      fmt::format("Second half, {} questions: what the choice is worth", made.questions[1]));
  for (const eval::CalibrationRow& row : made.second) {
    table.rows.push_back(RowCells(row));
  }
  if (!made.kept_usual) {
    const eval::PairedDifference& difference = made.against_usual.difference;
    table.notes.push_back("Chosen against " + SavedText(made, 0, made.tokens_to_all) + ".");
    table.notes.push_back(fmt::format(
        "Against {}, {:+.1f} points ({:+.1f} to {:+.1f}).",
        SavedText(made, 1, made.tokens_to_usual), eval::kPercent * difference.mean,
        eval::kPercent * difference.interval.low, eval::kPercent * difference.interval.high));
  }
  if (made.against_usual.difference.interval.high < 0) {
    table.notes.emplace_back(
        "Beyond noise, the choice is less accurate here than without a profile: do not use it; "
        "record more questions.");
  }
  table.notes.push_back("Profile: " + (made.options.empty()
                                           ? std::string("nothing that differs from preset auto")
                                           : FlagsText(made.options)));
  return table;
}

Json IntervalJson(double mean, const eval::Interval& interval) {
  return {{"mean", mean}, {"low", interval.low}, {"high", interval.high}};
}

Json RowsJson(const std::vector<eval::CalibrationRow>& rows) {
  Json list = Json::array();
  for (const eval::CalibrationRow& row : rows) {
    const eval::Accuracy& accuracy = row.summary.accuracy;
    const eval::PairedDifference& difference = row.against_all.difference;
    list.push_back({{"setting", row.label},
                    {"accuracy", IntervalJson(accuracy.mean, accuracy.interval)},
                    {"to_all_paths", IntervalJson(difference.mean, difference.interval)},
                    {"tokens", row.summary.effective_tokens},
                    {"sequential", row.summary.sequential_tokens}});
  }
  return list;
}

Json SignalsJson(const std::vector<eval::SignalScore>& scores) {
  Json list = Json::array();
  for (const eval::SignalScore& score : scores) {
    list.push_back({{"signal", NameOf(score.signal)},
                    {"window", score.window},
                    {"roc_area", IntervalJson(score.area, score.interval)},
                    {"questions", score.areas.size()},
                    {"right_cut", score.right_cut},
                    {"wrong_cut", score.wrong_cut},
                    {"cut_at", score.cut_at}});
  }
  return list;
}

}  // namespace

std::vector<eval::Table> CalibrationTables(const eval::Calibration& made,
                                           const eval::LabelCounts& labels) {
  std::vector<eval::Table> tables;
  if (!made.scores.empty()) {
    tables.push_back(SignalTable(made, labels));
  }
  tables.push_back(FrontierTable(made));
  tables.push_back(HeldOutTable(made));
  return tables;
}

std::string FlagsText(const OptionValues& options) {
  std::string text;
  for (const OptionValue& option : options) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", option.name, option.text);
  }
  return text;
}

std::string ProfileJson(const eval::Calibration& made, const eval::LabelCounts& labels,
                        const StoredRun& pool, const eval::CalibrationPlan& plan) {
  Json options = Json::object();
  for (const OptionValue& option : made.options) {
    options[option.name] = option.text;
  }
  const Json json = {
      {"format", kProfileFormat},
      {"version", plan.program_version},
      {"model", {{"name", pool.model}, {"hash", pool.model_hash}}},
      {"options", std::move(options)},
      {"evidence",
       {{"pool", plan.source},
        {"suite", pool.suite},
        {"questions", {made.questions[0], made.questions[1]}},
        {"labels",
         {{"gold", labels.gold}, {"consensus", labels.consensus}, {"dropped", labels.dropped}}},
        {"paths", made.paths},
        {"resamples", plan.resamples},
        {"seed", plan.seed},
        {"tolerance", plan.tolerance},
        {"chosen", made.chosen},
        {"signals", SignalsJson(made.scores)},
        {"first_half", RowsJson(made.first)},
        {"second_half", RowsJson(made.second)},
        {"tokens_to_all_paths", IntervalJson(made.tokens_to_all.mean, made.tokens_to_all.interval)},
        {"tokens_to_usual",
         IntervalJson(made.tokens_to_usual.mean, made.tokens_to_usual.interval)}}}};
  return DumpJson(json, 1) + "\n";
}

}  // namespace hyper::app
