// The tables of a report that no other command prints.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/eval/figures/figure_parts.h"
#include "src/eval/figures/report.h"

namespace hyper::eval {
namespace {

constexpr size_t kMostQuestions = 100;

// Names of the settings, and whether all runs have equal values.
std::map<std::string, bool> SharedSettings(const std::vector<StoredRun>& runs) {
  std::map<std::string, bool> shared;
  for (const StoredRun& run : runs) {
    for (const auto& [name, value] : run.settings) {
      shared[name] = true;
    }
  }
  for (auto& [name, all] : shared) {
    const std::string first = OptionOf(runs.front(), name);
    all = std::all_of(runs.begin(), runs.end(), [&, &key = name](const StoredRun& run) {
      return OptionOf(run, key) == first;
    });
  }
  return shared;
}

}  // namespace

std::vector<Table> SettingsTables(const std::vector<StoredRun>& runs) {
  Table rows{"rows", "Rows and the settings in which they differ", {}, {}, {}};
  Table common{
      "settings", "Settings that all rows share", {{"setting", ""}, {"value", ""}}, {}, {}};
  for (const char* name :
       {"row", "method", "suite", "model", "model hash", "engine", "version", "seed"}) {
    rows.columns.push_back({name, ""});
  }
  const std::map<std::string, bool> shared = SharedSettings(runs);
  for (const auto& [name, all] : shared) {
    if (all) {
      common.rows.push_back({Cell::Text(name), Cell::Text(OptionOf(runs.front(), name))});
    } else {
      rows.columns.push_back({name, ""});
    }
  }
  for (const StoredRun& run : runs) {
    std::vector<Cell> cells;
    for (const std::string& text : {run.label, run.method, run.suite, run.model, run.model_hash,
                                    run.engine, run.version, std::to_string(run.seed)}) {
      cells.push_back(Cell::Text(text));
    }
    for (const auto& [name, all] : shared) {
      if (!all) {
        cells.push_back(Cell::Text(OptionOf(run, name)));
      }
    }
    rows.rows.push_back(std::move(cells));
  }
  return {std::move(rows), std::move(common)};
}

Table DisagreementTable(const StudyMaterial& material) {
  Table table{"disagreements",
              "Questions that rows answer differently: share of right answers (%)",
              {{"question", ""}, {"gold", ""}, {"range", ""}},
              {},
              {}};
  std::map<std::string, std::vector<double>> shares;  // by question, a share for each run
  std::map<std::string, std::string> golds;
  for (const StoredQuestion& question : material.questions) {
    golds[question.suite + "/" + question.name] = question.gold;
  }
  for (size_t run = 0; run < material.runs.size(); ++run) {
    table.columns.push_back({material.runs[run].run().label, ""});
    for (const QuestionShare& share : material.runs[run].summary.per_question) {
      std::vector<double>& row = shares[share.question];
      row.resize(material.runs.size(), kNaN);
      row[run] = share.open ? kNaN : kToPercent * share.right;
    }
  }
  for (const auto& [question, row] : shares) {
    double least = kToPercent;
    double most = 0;
    for (const double share : row) {
      least = share < least ? share : least;
      most = share > most ? share : most;
    }
    if (least < most) {
      std::vector<Cell> cells = {Cell::Text(question), Cell::Text(golds[question]),
                                 Cell::Number(most - least, 0)};
      for (const double share : row) {
        cells.push_back(Cell::Number(share, 0));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return *a[2].value > *b[2].value; });
  if (table.rows.size() > kMostQuestions) {
    table.notes.push_back(fmt::format("The {} questions with the largest range of {}.",
                                      kMostQuestions, table.rows.size()));
    table.rows.resize(kMostQuestions);
  }
  table.notes.emplace_back("hyper inspect STUDY QUESTION explains each answer.");
  return table;
}

}  // namespace hyper::eval
