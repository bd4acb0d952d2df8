#include "src/eval/tables/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "src/eval/metrics/study_baseline.h"
#include "src/eval/tables/paper_numbers.h"
#include "src/eval/tables/table_notes.h"

namespace hyper::eval {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kMegabytesPerGigabyte = 1e3;
constexpr double kMilliseconds = 1e3;
constexpr size_t kMostColumns = 8;       // methods of Table 2 that fit beside each other
constexpr int kFewestForBootstrap = 10;  // questions; fewer give hardly any different resample
constexpr const char* kPaperGroup = "paper";

// Values in order of first appearance.
template <class Get>
std::vector<std::string> Distinct(const std::vector<RunSummary>& runs, Get get) {
  std::vector<std::string> values;
  for (const RunSummary& run : runs) {
    const std::string value = get(run);
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(value);
    }
  }
  return values;
}

// The method under whose name the paper's numbers stand; none for variants, which have a label of
// their own.
std::string PaperMethod(const RunSummary& run) {
  return run.run.label == run.run.method ? run.run.method : "";
}

// The names of the paper's models and data sets among these runs, each once.
std::vector<PaperPlace> PaperPlaces(const std::vector<RunSummary>& runs) {
  std::vector<PaperPlace> places;
  for (const RunSummary& run : runs) {
    const std::optional<PaperPlace> place = PaperPlaceOf(run.run);
    if (place && std::find(places.begin(), places.end(), *place) == places.end()) {
      places.push_back(*place);
    }
  }
  return places;
}

// What every table of accuracies and token ratios has to say of its numbers.
std::vector<std::string> Notes(const std::vector<RunSummary>& runs) {
  std::vector<std::string> notes = {
      "Acc: right / all in percent, no answer is wrong; after the sign is the standard deviation "
      "over repeats (n - 1). 95% interval: Wilson's, over questions."};
  for (const auto& more : {BaselineNotes(runs), RowNotes(runs)}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  return notes;
}

// Head of the column that counts repeats: those of a pool of stored traces are draws.
std::string RepeatsName(const std::vector<RunSummary>& runs) {
  const bool resampled = !runs.empty() && std::all_of(runs.begin(), runs.end(), IsResampled);
  return resampled ? "Resamples" : "Repeats";
}

}  // namespace

Cell AccuracyCell(const Accuracy& accuracy) {
  if (!accuracy.comparable) {
    return Cell::Range(kPercent * accuracy.low, kPercent * accuracy.high, 1);
  }
  return Cell::Spread(kPercent * accuracy.mean, kPercent * accuracy.std_dev, 1);
}

Cell IntervalCell(const Accuracy& accuracy) {
  return Cell::Range(kPercent * accuracy.interval.low, kPercent * accuracy.interval.high, 1);
}

Cell PaperCell(const char* table, const RunSummary& run, const std::string& method,
               const char* column, int decimals) {
  const std::optional<PaperPlace> place = PaperPlaceOf(run.run);
  return Cell::Number(place ? PaperNumber(table, *place, method, column) : kNaN, decimals);
}

Table ResultsTable(const std::vector<RunSummary>& runs) {
  Table table;
  table.name = "results";
  table.title = "Accuracy and cost";
  table.columns = {{"Method", ""},          {"Suite", ""},        {"Questions", ""},
                   {RepeatsName(runs), ""}, {"Acc", ""},          {"95% interval", ""},
                   {"Token", ""},           {"Abs", ""},          {"Effective", ""},
                   {"Sequential", ""},      {"N_inst", ""},       {"Mean paths", ""},
                   {"s/question", ""},      {"Acc", kPaperGroup}, {"Token", kPaperGroup}};
  for (const RunSummary& run : runs) {
    const std::string method = PaperMethod(run);
    table.rows.push_back(
        {Cell::Text(RowLabel(run)), Cell::Text(run.run.suite),
         Cell::Number(run.accuracy.questions, 0), Cell::Number(run.accuracy.repeats, 0),
         AccuracyCell(run.accuracy), IntervalCell(run.accuracy),
         Cell::Number(EffectiveRatio(runs, run), 2), Cell::Number(run.generated_tokens, 0),
         Cell::Number(run.effective_tokens, 0), Cell::Number(run.sequential_tokens, 0),
         Cell::Number(run.instances, 1), Cell::Number(run.mean_paths, 1),
         Cell::Number(run.latency_s, 2), PaperCell("main", run, method, "accuracy", 1),
         PaperCell("main", run, method, "tokens", 2)});
  }
  table.notes = Notes(runs);
  if (DropEmptyColumns(table, kPaperGroup)) {
    table.notes.emplace_back("Paper: its Table 2.");
  }
  return table;
}

namespace {

// Whether two runs stand in one line of Table 2.
bool SameLine(const RunSummary& a, const RunSummary& b) {
  return SamePlace(a, b) && a.run.seed == b.run.seed && a.run.engine == b.run.engine &&
         a.run.version == b.run.version;
}

// The first run of each line, in order.
std::vector<const RunSummary*> MainLines(const std::vector<RunSummary>& runs) {
  std::vector<const RunSummary*> lines;
  for (const RunSummary& run : runs) {
    const bool known = std::any_of(lines.begin(), lines.end(),
                                   [&](const RunSummary* line) { return SameLine(*line, run); });
    if (!known) {
      lines.push_back(&run);
    }
  }
  return lines;
}

// The suite of a line, with what sets the line apart from others of its model and suite.
std::string LineName(const std::vector<const RunSummary*>& lines, const RunSummary& line) {
  const auto differs = [&](auto field) {
    return std::any_of(lines.begin(), lines.end(), [&](const RunSummary* other) {
      return SamePlace(*other, line) && other->run.*field != line.run.*field;
    });
  };
  std::string name = line.run.suite;
  if (differs(&StoredRun::seed)) {
    name += fmt::format(", seed {}", line.run.seed);
  }
  if (differs(&StoredRun::engine)) {
    name += ", " + line.run.engine;
  }
  if (differs(&StoredRun::version)) {
    name += ", version " + line.run.version;
  }
  return name;
}

// The row of Table 2 for the runs of a line. A label that several of them bear is left out of it,
// with a note.
std::vector<Cell> MainRow(const std::vector<RunSummary>& runs, const RunSummary& line,
                          const std::string& name, const std::vector<std::string>& methods,
                          std::vector<std::string>& notes) {
  std::vector<Cell> row = {Cell::Text(line.run.model), Cell::Text(name)};
  std::vector<Cell*> accuracies;
  row.resize(2 + 2 * methods.size());
  for (size_t method = 0; method < methods.size(); ++method) {
    std::vector<const RunSummary*> own;
    std::vector<std::string> numbers;
    for (const RunSummary& run : runs) {
      if (run.run.label != methods[method] || !SameLine(run, line)) {
        continue;
      }
      own.push_back(&run);
      numbers.push_back(fmt::format("#{}", run.run.id));
    }
    if (own.size() > 1) {
      notes.push_back(
          fmt::format("{} on {}: several rows of that label ({}), so none is shown; see the table "
                      "results, by line.",
                      methods[method], name, fmt::join(numbers, ", ")));
    }
    if (own.size() != 1) {
      continue;
    }
    row[2 + 2 * method] = Cell::Number(EffectiveRatio(runs, *own.front()), 2);
    row[3 + 2 * method] = AccuracyCell(own.front()->accuracy);
    accuracies.push_back(&row[3 + 2 * method]);
  }
  MarkBest(accuracies);
  return row;
}

// The paper's row for a model and a data set.
std::vector<Cell> PaperRow(const PaperPlace& place, const std::vector<std::string>& methods) {
  std::vector<Cell> row = {Cell::Text(fmt::format("paper: {}", place.model)),
                           Cell::Text(place.data_set)};
  for (const std::string& method : methods) {
    row.push_back(Cell::Number(PaperNumber("main", place, method, "tokens"), 2));
    row.push_back(Cell::Spread(PaperNumber("main", place, method, "accuracy"),
                               PaperNumber("main", place, method, "std"), 1));
  }
  return row;
}

// The columns of Table 2: all rows, or where those are too many for a line, the paper's methods.
std::vector<std::string> MainMethods(const std::vector<std::string>& labels) {
  if (labels.size() <= kMostColumns) {
    return labels;
  }
  std::vector<std::string> methods;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(methods),
               [](const std::string& label) { return PaperNames("main", label); });
  return methods.empty() ? labels : methods;
}

}  // namespace

Table MainTable(const std::vector<RunSummary>& runs) {
  Table table;
  table.name = "main-results";
  table.title = "Token cost and accuracy across models and datasets";
  const auto labels = Distinct(runs, [](const RunSummary& run) { return run.run.label; });
  const std::vector<std::string> methods = MainMethods(labels);
  table.columns = {{"Model", ""}, {"Dataset", ""}};
  for (const std::string& method : methods) {
    table.columns.push_back({"Token", method});
    table.columns.push_back({"Acc", method});
  }
  table.notes = Notes(runs);
  const std::vector<const RunSummary*> lines = MainLines(runs);
  for (const RunSummary* line : lines) {
    table.rows.push_back(MainRow(runs, *line, LineName(lines, *line), methods, table.notes));
  }
  for (const PaperPlace& place : PaperPlaces(runs)) {
    table.rows.push_back(PaperRow(place, methods));
  }
  if (methods.size() < labels.size()) {
    table.notes.push_back(
        fmt::format("{} other rows of the study are in the table results, by line.",
                    labels.size() - methods.size()));
  }
  return table;
}

Table AblationTable(const std::vector<RunSummary>& runs) {
  Table table;
  table.name = "ablation-components";
  table.title = "Ablation I: expansion strategies";
  table.columns = {{"Method", ""},          {"Dataset", ""},         {"Acc", ""},
                   {"Effective", "Tokens"}, {"Abs", "Tokens"},       {"single", "Decisions"},
                   {"multi", "Decisions"},  {"branch", "Decisions"}, {"Acc", kPaperGroup},
                   {"Tokens", kPaperGroup}};
  for (const RunSummary& run : runs) {
    const auto decisions = [&](Action action) {
      return Cell::Number(static_cast<double>(run.actions[static_cast<size_t>(action)]), 0);
    };
    table.rows.push_back(
        {Cell::Text(RowLabel(run)), Cell::Text(run.run.suite), AccuracyCell(run.accuracy),
         Cell::Number(EffectiveRatio(runs, run), 2), Cell::Number(GeneratedRatio(runs, run), 2),
         decisions(Action::kSingleToken), decisions(Action::kMultiToken),
         decisions(Action::kBranch), PaperCell("ablation", run, PaperMethod(run), "accuracy", 1),
         PaperCell("ablation", run, PaperMethod(run), "tokens", 2)});
  }
  MarkBest(table, 0, table.rows.size(), {2});
  table.notes = Notes(runs);
  table.notes.emplace_back("Decisions: those that changed the pool; any other is None.");
  if (DropEmptyColumns(table, kPaperGroup)) {
    table.notes.emplace_back("Paper: its Ablation I.");
  }
  return table;
}

Table VoteTable(const RunSummary& run, const std::vector<RuleAccuracy>& rules) {
  Table table;
  table.name = "ablation-voting";
  table.title = "Voting rules over the paths of " + run.run.label + " on " + run.run.suite;
  table.columns = {{"Voting rule", ""}, {"Acc", ""}, {"95% interval", ""}};
  for (const RuleAccuracy& rule : rules) {
    table.rows.push_back({Cell::Text(Marked(rule.rule, rule.accuracy)), AccuracyCell(rule.accuracy),
                          IntervalCell(rule.accuracy)});
  }
  MarkBest(table, 0, table.rows.size(), {1});
  table.notes = {"The same paths for every rule; " + std::to_string(run.accuracy.questions) +
                 " questions, " + std::to_string(run.accuracy.repeats) +
                 (IsResampled(run) ? " resamples." : " repeats.")};
  for (const std::string& note : RuleNotes(run, rules)) {
    table.notes.push_back(note);
  }
  return table;
}

namespace {

// The paper's own row beside that of a method that it names.
std::vector<Cell> PaperAccountingRow(const RunSummary& run) {
  const std::optional<PaperPlace> place = PaperPlaceOf(run.run);
  if (!place) {
    return {};
  }
  const auto number = [&](const char* column) {
    return PaperNumber("accounting", *place, run.run.label, column);
  };
  if (std::isnan(number("accuracy"))) {
    return {};
  }
  return {Cell::Text("paper: " + place->model),
          Cell::Text(place->data_set),
          Cell::Text(run.run.label),
          Cell::Number(number("accuracy"), 1),
          Cell::Number(number("sc norm"), 2),
          Cell::Number(number("abs tokens"), 0),
          Cell::Number(number("effective tokens"), 0),
          Cell::Number(kNaN, 0),
          Cell::Number(number("latency ms"), 0),
          Cell::Number(number("peak paths"), 0),
          Cell::Number(number("mean paths"), 1),
          Cell::Number(number("peak KV GB") * kMegabytesPerGigabyte, 0)};
}

}  // namespace

Table AccountingTable(const std::vector<RunSummary>& runs) {
  Table table;
  table.name = "abs-compute";
  table.title = "Absolute compute accounting";
  table.columns = {{"Model", ""},      {"Dataset", ""},    {"Method", ""},
                   {"Acc (%)", ""},    {"SC-norm", ""},    {"Abs tokens", ""},
                   {"Eff tokens", ""}, {"Seq tokens", ""}, {"Latency (ms)", ""},
                   {"Peak paths", ""}, {"Avg paths", ""},  {"Peak KV (MB)", ""}};
  for (const RunSummary& run : runs) {
    Cell accuracy = AccuracyCell(run.accuracy);
    accuracy.spread.reset();
    table.rows.push_back(
        {Cell::Text(run.run.model), Cell::Text(run.run.suite), Cell::Text(RowLabel(run)), accuracy,
         Cell::Number(EffectiveRatio(runs, run), 2), Cell::Number(run.generated_tokens, 0),
         Cell::Number(run.effective_tokens, 0), Cell::Number(run.sequential_tokens, 0),
         Cell::Number(kMilliseconds * run.latency_s, 0), Cell::Number(run.peak_paths, 0),
         Cell::Number(run.mean_paths, 1), Cell::Number(run.peak_kv_bytes / kMegabyte, 2)});
  }
  const size_t own = table.rows.size();
  for (const RunSummary& run : runs) {
    std::vector<Cell> row = PaperAccountingRow(run);
    if (!row.empty()) {
      table.rows.push_back(std::move(row));
    }
  }
  table.notes = Notes(runs);
  table.notes.emplace_back(
      "Tokens and latency per question; peaks over all questions. Seq: tokens one after another.");
  if (table.rows.size() > own) {
    table.notes.emplace_back(
        "Paper: its App. I; on another machine the latency is not comparable.");
  }
  return table;
}

Table ComparisonTable(const std::vector<ComparedRows>& rows) {
  Table table;
  table.name = "comparison";
  table.title = "Paired comparison";
  table.columns = {{"A", ""},      {"B", ""},      {"Questions", ""},     {"Acc A", ""},
                   {"Acc B", ""},  {"A - B", ""},  {"95% bootstrap", ""}, {"p bootstrap", ""},
                   {"Only A", ""}, {"Only B", ""}, {"p McNemar", ""}};
  bool any_few = false;
  std::vector<std::string> left_out;
  for (const ComparedRows& row : rows) {
    const RunComparison& comparison = row.comparison;
    const PairedDifference& difference = comparison.difference;
    const bool few = comparison.questions < kFewestForBootstrap;
    any_few = any_few || few;
    table.rows.push_back(
        {Cell::Text(row.first), Cell::Text(row.second), Cell::Number(comparison.questions, 0),
         Cell::Number(kPercent * comparison.first, 1),
         Cell::Number(kPercent * comparison.second, 1), Cell::Number(kPercent * difference.mean, 1),
         few ? Cell::Range(kNaN, kNaN, 1)
             : Cell::Range(kPercent * difference.interval.low, kPercent * difference.interval.high,
                           1),
         Cell::Number(few ? kNaN : difference.p_value, 4), Cell::Number(comparison.only_first, 0),
         Cell::Number(comparison.only_second, 0), Cell::Number(comparison.mcnemar_p, 4)});
    if (comparison.left_out > 0) {
      left_out.push_back(fmt::format(
          "{} and {}: {} common question{} left out, failed or undecided in one of the rows.",
          row.first, row.second, comparison.left_out, comparison.left_out == 1 ? " is" : "s are"));
    }
  }
  table.notes = {
      "Acc: share of right answers in percent over the common questions, repeats pooled.",
      "Bootstrap: questions resampled in pairs. Only A, only B: questions that one row alone "
      "answers right in more than half of its repeats; McNemar's test is exact and two-sided."};
  table.notes.insert(table.notes.end(), left_out.begin(), left_out.end());
  if (any_few) {
    table.notes.push_back(
        fmt::format("Fewer than {} questions are too few for a bootstrap, so none is given.",
                    kFewestForBootstrap));
  }
  return table;
}

}  // namespace hyper::eval
