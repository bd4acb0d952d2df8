#include "src/eval/tables/item_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <variant>

#include "src/eval/tables/table.h"

namespace hyper::eval {
namespace {

// Fields of one line.
class Line {
 public:
  Line& Add(const std::string& text) {
    text_ += (text_.empty() && first_ ? "" : ",") + CsvField(text);
    first_ = false;
    return *this;
  }
  Line& Add(const char* text) { return Add(std::string(text)); }
  Line& Add(double value) { return AddNumber(value); }
  // Unknown ones are empty; others as short as their type allows.
  template <class Number>
  Line& AddNumber(Number value) {
    return Add(std::isfinite(static_cast<double>(value)) ? fmt::format("{}", value) : "");
  }
  Line& AddSwitch(bool value) { return Add(value ? "true" : "false"); }
  Line& AddPath(PathId path) { return Add(path == kNoPath ? "" : fmt::format("{}", path)); }
  template <class Count>
  Line& AddCount(Count count) {
    return Add(fmt::format("{}", count));
  }

  std::string Finish() const { return text_ + "\n"; }

 private:
  std::string text_;
  bool first_ = true;
};

constexpr const char* kContext[] = {"run",      "label", "method", "suite",  "model", "seed",
                                    "question", "group", "gold",   "repeat", "status"};
constexpr const char* kDecision[] = {"step",        "position",    "action",
                                     "acted",       "expansion",   "paths_before",
                                     "paths_after", "lanes_after", "note"};
constexpr const char* kSeries[] = {"path", "series", "position", "value"};
constexpr const char* kItem[] = {"answer",     "verdict",    "vote_rule",    "voting_paths",
                                 "generated",  "effective",  "prefilled",    "probe",
                                 "judge",      "value",      "lanes_opened", "lanes_peak",
                                 "lanes_mean", "cells_peak", "wall_s",       "lost_tokens"};
constexpr const char* kPath[] = {"path",         "parent",      "fork_position", "warmup",
                                 "kind",         "path_status", "reason",        "answer",
                                 "tentative",    "verdict",     "tokens",        "mean_confidence",
                                 "lowest_window"};

template <class Names>
std::string Head(const Names& names, const std::vector<std::string>& more) {
  Line line;
  for (const char* name : kContext) {
    line.Add(name);
  }
  for (const char* name : names) {
    line.Add(name);
  }
  for (const std::string& name : more) {
    line.Add(name);
  }
  return line.Finish();
}

void AddContext(const ItemContext& context, Line& line) {
  const StoredRun& run = context.run;
  const StoredQuestion& question = context.question;
  line.AddCount(run.id).Add(run.label).Add(run.method).Add(run.suite).Add(run.model);
  line.AddCount(run.seed).Add(question.name).Add(question.group).Add(question.gold);
  line.AddCount(context.summary.key.repeat).Add(NameOf(context.summary.status));
}

void AddSettings(const StoredRun& run, const std::vector<std::string>& settings, Line& line) {
  for (const std::string& name : settings) {
    const auto at = run.settings.find(name);
    line.Add(at != run.settings.end() ? at->second : "");
  }
}

}  // namespace

std::vector<std::string> SettingNames(const std::vector<StoredRun>& runs) {
  std::set<std::string> names;
  for (const StoredRun& run : runs) {
    for (const auto& [name, value] : run.settings) {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string ItemCsvHead(const std::vector<std::string>& settings) { return Head(kItem, settings); }

std::string ItemCsvLine(const ItemContext& context, const std::vector<std::string>& settings) {
  const ItemSummary& item = context.summary;
  const Ledger& ledger = item.ledger;
  Line line;
  AddContext(context, line);
  line.Add(item.answer.value_or("")).Add(item.grade ? NameOf(item.grade->verdict) : "");
  line.Add(item.vote_rule).AddCount(item.voting_paths).AddCount(ledger.generated);
  line.AddCount(ledger.effective()).AddCount(ledger.prefilled).AddCount(ledger.probe);
  line.AddCount(ledger.judge).AddCount(ledger.value).AddCount(ledger.lanes_opened);
  line.AddCount(ledger.lanes_peak).Add(ledger.mean_lanes()).AddCount(ledger.cells_peak);
  line.Add(ledger.wall_s).AddCount(item.lost.effective_tokens);
  AddSettings(context.run, settings, line);
  return line.Finish();
}

std::string PathCsvHead(const std::vector<std::string>& settings) { return Head(kPath, settings); }

std::string PathCsvLine(const ItemContext& context, const StoredPath& path, StoredVerdict verdict,
                        const std::vector<std::string>& settings) {
  Line line;
  AddContext(context, line);
  line.AddPath(path.path).AddPath(path.parent);
  line.AddCount(path.fork_position).AddSwitch(path.warmup);
  line.Add(NameOf(path.kind)).Add(NameOf(path.status)).Add(path.reason);
  line.Add(path.answer.value_or("")).AddSwitch(path.tentative);
  line.Add(path.answer ? NameOf(verdict) : "").AddCount(path.tokens);
  line.Add(path.mean_confidence).Add(path.lowest_window);
  AddSettings(context.run, settings, line);
  return line.Finish();
}

std::string DecisionCsvHead() {
  std::vector<std::string> more;
  more.reserve(kNamesOf<Action>.size());
  for (const char* action : kNamesOf<Action>) {
    more.push_back(fmt::format("score_{}", action));
  }
  const PoolStatistics statistics;
  for (const char* kind : {"raw", "normalised"}) {
    PoolStatistics::ForEach(statistics, [&](const char* name, double /*value*/) {
      more.push_back(fmt::format("{}_{}", kind, name));
    });
  }
  return Head(kDecision, more);
}

std::string DecisionCsvLines(const ItemContext& context, const StoredItem& item) {
  std::string lines;
  for (const DecisionRecord& decision : item.decisions) {
    Line line;
    AddContext(context, line);
    line.AddCount(decision.step).AddCount(decision.position).Add(NameOf(decision.action));
    line.AddSwitch(decision.acted).AddCount(decision.expansion);
    line.AddCount(decision.paths_before).AddCount(decision.paths_after);
    line.AddCount(decision.lanes_after).Add(decision.note);
    for (const double score : decision.scores) {
      line.Add(score);
    }
    for (const PoolStatistics& statistics : {decision.raw, decision.normalised}) {
      PoolStatistics::ForEach(statistics,
                              [&line](const char* /*name*/, double value) { line.Add(value); });
    }
    lines += line.Finish();
  }
  return lines;
}

std::string SeriesCsvHead() { return Head(kSeries, {}); }

std::string SeriesCsvLines(const ItemContext& context, const StoredItem& item) {
  std::string lines;
  Line context_line;
  AddContext(context, context_line);
  for (const StoredSeries& series : item.series) {
    Line head = context_line;
    head.AddPath(series.path).Add(series.name);
    std::visit(
        [&](const auto& values) {
          int position = series.first;
          for (const auto value : values) {
            Line line = head;
            lines += line.AddCount(position++).AddNumber(value).Finish();
          }
        },
        series.values);
  }
  return lines;
}

}  // namespace hyper::eval
