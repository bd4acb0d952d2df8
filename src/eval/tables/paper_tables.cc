#include "src/eval/tables/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hyper/ask.h"
#include "hyper/method.h"
#include "hyper/method_traits.h"
#include "src/eval/metrics/study_baseline.h"
#include "src/eval/tables/paper_numbers.h"
#include "src/eval/tables/study_tables.h"
#include "src/eval/tables/table_notes.h"

namespace hyper::eval {
namespace {

// "rebase 8" for rebase-conf at width 8: the name that App. H has for it.
std::string TreeName(const RunSummary& run) {
  std::string stem = run.run.method.substr(0, run.run.method.find('-'));
  const auto width = run.run.settings.find("width");
  if (stem != "rebase" || width == run.run.settings.end()) {
    return stem;
  }
  return stem + " " + width->second;
}

bool IsTree(const std::string& method) {
  const std::string stem = method.substr(0, method.find('-'));
  return stem == "rebase" || stem == "ets" || stem == "mcts" || stem == "tot";
}

void AddNotes(Table& table, const std::vector<std::string>& notes) {
  table.notes.insert(table.notes.end(), notes.begin(), notes.end());
}

std::vector<RunSummary> RunsOf(const std::vector<RunSamples>& all) {
  std::vector<RunSummary> runs;
  runs.reserve(all.size());
  for (const RunSamples& one : all) {
    runs.push_back(one.run);
  }
  return runs;
}

// Of these, the items of questions that the run has whole.
std::vector<SampleCounts> SamplesOf(const std::vector<SampleCounts>& samples,
                                    const RunSummary& run) {
  std::set<std::string> questions;
  for (const QuestionShare& share : run.per_question) {
    questions.insert(share.question);
  }
  std::vector<SampleCounts> common;
  for (const SampleCounts& item : samples) {
    if (questions.count(item.question) != 0) {
      common.push_back(item);
    }
  }
  return common;
}

// Lines of accuracy and cost, with the paper's number out of its table `paper`.
template <class Wanted, class Name>
Table AccuracyTable(const std::vector<RunSummary>& runs, const char* paper, Wanted wanted,
                    Name name) {
  Table table;
  table.columns = {{"Method", ""},          {"Model", ""},     {"Dataset", ""}, {"Acc", ""},
                   {"Effective", "Tokens"}, {"Abs", "Tokens"}, {"Acc", "paper"}};
  std::vector<RunSummary> shown;
  for (const RunSummary& run : runs) {
    if (!wanted(run)) {
      continue;
    }
    table.rows.push_back({Cell::Text(RowLabel(run)), Cell::Text(run.run.model),
                          Cell::Text(run.run.suite), AccuracyCell(run.accuracy),
                          Cell::Number(EffectiveRatio(runs, run), 2),
                          Cell::Number(GeneratedRatio(runs, run), 2),
                          PaperCell(paper, run, name(run), "accuracy", 1)});
    shown.push_back(run);
  }
  MarkBest(table, 0, table.rows.size(), {3});
  DropEmptyColumns(table, "paper");
  table.notes = {"Tokens: over those of SC on the same model and data set, if the study has it."};
  AddNotes(table, BaselineNotes(shown));
  AddNotes(table, RowNotes(shown));
  return table;
}

const RuleAccuracy* FindRule(const RunVotes& votes, const std::string& name) {
  for (const RuleAccuracy& rule : votes.rules) {
    if (rule.rule == name) {
      return &rule;
    }
  }
  return nullptr;
}

// The cells of a line of Table 1, from the granularity on.
std::vector<std::string> ChecklistCells(const MethodTraits& traits) {
  std::vector<std::string> cells = {traits.granularity};
  for (const bool yes : {traits.adaptive, !traits.rigid_search, traits.aggregates, traits.prunes,
                         traits.refines_tokens, !traits.trained_policy, !traits.reward_model}) {
    cells.emplace_back(yes ? "yes" : "no");
  }
  return cells;
}

// The paper's line for a method: trees are named without what values their steps.
std::string ChecklistName(const std::string& method) {
  return IsTree(method) ? method.substr(0, method.find('-')) : method;
}

// The label of a run, marked where one of its rules cannot be compared.
std::string LengthVotesHead(const RunVotes& one) {
  const auto open = std::find_if(one.rules.begin(), one.rules.end(),
                                 [](const auto& rule) { return !rule.accuracy.comparable; });
  return open != one.rules.end() ? Marked(one.run.run.label, open->accuracy) : one.run.run.label;
}

}  // namespace

Table ChecklistTable() {
  Table table;
  table.name = "tts-checklist";
  table.title = "Test-time scaling methods as checklists";
  table.columns = {{"Method", ""},
                   {"Gran.", ""},
                   {"Adap ctrl", "Exploration"},
                   {"No rigid search", "Exploration"},
                   {"Answer eval", "Exploitation"},
                   {"Prune", "Exploitation"},
                   {"Token refine", "Exploitation"},
                   {"Policy model", "Train-free"},
                   {"Reward model", "Train-free"}};
  for (const MethodInfo& info : Methods()) {
    const Result<RunPlan> plan = ResolveRun({info.name, "paper", {}, {}}, {});
    if (!plan) {
      continue;
    }
    const Result<MethodTraits> found = TraitsOf(info.name, plan->options);
    if (!found) {
      continue;
    }
    const std::vector<std::string> own = ChecklistCells(*found);
    const std::vector<std::string> paper = PaperChecklist(ChecklistName(info.name));
    std::vector<Cell> row = {Cell::Text(info.name)};
    for (size_t i = 0; i < own.size(); ++i) {
      const bool differs = !paper.empty() && paper[i] != own[i];
      row.push_back(Cell::Text(differs ? own[i] + " (paper: " + paper[i] + ")" : own[i]));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      "Of the methods as they run here. (paper: ...): the paper's Table 1 differs for the system "
      "as published, where ETS and Thread have a trained policy, the trees, SC and BoN a trained "
      "reward or verifier, and RoE one path.",
      "ToT, Prune: yes here, because its beam ends all states of a level but the best (--keep). "
      "The "
      "paper gives no reason for its no."};
  return table;
}

Table VoteRulesTable(const std::vector<RunSummary>& runs, const std::vector<RunVotes>& votes) {
  Table table;
  table.name = "ablation-voting";
  table.title = "Ablation II: voting strategies";
  table.columns = {{"Voting rule", ""}, {"Method", ""},       {"Dataset", ""},
                   {"Acc", ""},         {"95% interval", ""}, {"Effective", "Tokens"},
                   {"Abs", "Tokens"},   {"Acc", "paper"}};
  for (const RunVotes& one : votes) {
    const size_t first = table.rows.size();
    for (const RuleAccuracy& rule : one.rules) {
      table.rows.push_back({Cell::Text(Marked(rule.rule, rule.accuracy)),
                            Cell::Text(one.run.run.label), Cell::Text(one.run.run.suite),
                            AccuracyCell(rule.accuracy), IntervalCell(rule.accuracy),
                            Cell::Number(EffectiveRatio(runs, one.run), 2),
                            Cell::Number(GeneratedRatio(runs, one.run), 2),
                            PaperCell("votes", one.run, rule.rule, "accuracy", 1)});
    }
    MarkBest(table, first, table.rows.size(), {3});
  }
  table.notes = {
      "The same paths for every rule of a method, so the same tokens: over those of SC."};
  if (DropEmptyColumns(table, "paper")) {
    table.notes.emplace_back("Paper: its Ablation II and App. E, of full HyPER.");
  }
  AddNotes(table, BaselineNotes(runs));
  for (const RunVotes& one : votes) {
    AddNotes(table, RuleNotes(one.run, one.rules));
  }
  return table;
}

Table LengthVotesTable(const std::vector<RunVotes>& votes) {
  Table table;
  table.name = "voting_ablation";
  table.title = "Length-based, confidence-based and combined voting";
  table.columns = {{"Voting strategy", ""}};
  for (const RunVotes& one : votes) {
    table.columns.push_back({one.run.run.suite, LengthVotesHead(one)});
  }
  for (const RunVotes& one : votes) {
    table.columns.push_back({one.run.run.suite, "paper"});
  }
  const std::pair<const char*, const char*> rules[] = {
      {"length", "Length-based voting"},
      {"confidence", "Confidence-based voting"},
      {"length_confidence", "Combined voting (length + confidence)"}};
  for (const auto& [rule, title] : rules) {
    std::vector<Cell> row = {Cell::Text(title)};
    for (const RunVotes& one : votes) {
      const RuleAccuracy* found = FindRule(one, rule);
      row.push_back(found != nullptr ? AccuracyCell(found->accuracy) : Cell{});
    }
    for (const RunVotes& one : votes) {
      row.push_back(PaperCell("votes", one.run, rule, "accuracy", 1));
    }
    table.rows.push_back(std::move(row));
  }
  DropEmptyColumns(table, "paper");
  table.notes = {"The same paths for every rule."};
  for (const RunVotes& one : votes) {
    AddNotes(table, RuleNotes(one.run, one.rules));
  }
  return table;
}

Table DenseTable(const std::vector<RunSummary>& runs) {
  Table table = AccuracyTable(
      runs, "dense",
      [](const RunSummary& run) {
        const std::string& method = run.run.method;
        return method == "sc" || method.starts_with("deepconf") || method.starts_with("hyper");
      },
      [](const RunSummary& run) {
        return run.run.method.starts_with("hyper") ? std::string("hyper") : run.run.method;
      });
  table.name = "non-moe-demo";
  table.title = "SC, DeepConf and HyPER (controller only on a model without experts)";
  return table;
}

Table TreesTable(const std::vector<RunSummary>& runs) {
  Table table = AccuracyTable(
      runs, "trees",
      [](const RunSummary& run) { return run.run.method == "sc" || IsTree(run.run.method); },
      TreeName);
  table.name = "tot-thinking";
  table.title = "SC against step-level tree search";
  table.notes.emplace_back(
      "The end of a name says how a step is valued: conf by its confidence, ptrue by a P(True) "
      "probe, judge by the policy as judge, prm by a process reward model (the paper's).");
  return table;
}

Table SamplesTable(const std::vector<RunSamples>& runs) {
  Table table;
  table.name = "samples";
  table.title = "Oracle and majority over k paths";
  table.columns = {{"Paths of", ""}, {"Dataset", ""}, {"k", ""}, {"pass@k", ""}, {"maj@k", ""}};
  for (const RunSamples& one : runs) {
    if (one.samples.empty()) {
      continue;
    }
    int fewest = one.samples.front().total();
    for (const SampleCounts& item : one.samples) {
      fewest = std::min(fewest, item.total());
    }
    std::vector<int> sizes;
    for (int k = 1; k < fewest; k *= 2) {
      sizes.push_back(k);
    }
    if (fewest > 0) {
      sizes.push_back(fewest);
    }
    const auto add = [&](Cell k, double pass, double majority) {
      table.rows.push_back({Cell::Text(RowLabel(one.run)), Cell::Text(one.run.run.suite),
                            std::move(k), Cell::Number(kPercent * pass, 1),
                            Cell::Number(kPercent * majority, 1)});
    };
    for (const int k : sizes) {
      add(Cell::Number(k, 0), MeanPassAtK(one.samples, k), MeanMajorityAtK(one.samples, k));
    }
    add(Cell::Text("all paths"), Existence(one.samples), MeanMajorityOfAll(one.samples));
  }
  table.notes = {
      "Unbiased estimates over k paths drawn without replacement, as a mean over all items; k goes "
      "up to the smallest number of paths of any item.",
      "All paths: all those of each item; then pass@k is the existence probability, the upper "
      "bound of any vote (oracle).",
      "Of methods that prune or branch, the paths are not independent samples: use only their line "
      "of all paths."};
  AddNotes(table, RowNotes(RunsOf(runs)));
  return table;
}

Table EqualTokensTable(const std::vector<RunSamples>& runs) {
  Table table;
  table.name = "equal-tokens";
  table.title = "Accuracy at equal effective tokens";
  table.columns = {{"Method", ""},    {"Dataset", ""},  {"Effective", ""},
                   {"Acc", ""},       {"SC paths", ""}, {"SC at equal tokens", ""},
                   {"Difference", ""}};
  const std::vector<RunSummary> summaries = RunsOf(runs);
  for (const RunSummary& run : summaries) {
    const RunSummary* base = Baseline(summaries, run);
    double paths = kNaN;
    double accuracy = kNaN;
    double right = kNaN;
    if (base != nullptr) {
      const CommonCosts common = OverCommonQuestions(run, *base);
      paths = common.effective * common.base_instances / common.base_effective;
      const auto place = static_cast<size_t>(base - summaries.data());
      const std::vector<SampleCounts> samples = SamplesOf(runs[place].samples, *base);
      accuracy = MajorityAtTokens(SamplesOf(samples, run), std::max(1.0, paths));
      right = common.right;
    }
    table.rows.push_back({Cell::Text(RowLabel(run)), Cell::Text(run.run.suite),
                          Cell::Number(run.effective_tokens, 0), AccuracyCell(run.accuracy),
                          Cell::Number(paths, 1), Cell::Number(kPercent * accuracy, 1),
                          Cell::Number(kPercent * (right - accuracy), 1)});
  }
  table.notes = {
      "SC paths: as many of SC's as cost the method's effective tokens. SC at equal tokens: maj@k "
      "over SC's stored paths at that k, linear between whole numbers. Empty if the method spent "
      "more than all of SC's paths: give SC a greater width. These columns and the difference are "
      "over the questions that both have."};
  AddNotes(table, BaselineNotes(summaries));
  AddNotes(table, RowNotes(summaries));
  return table;
}

}  // namespace hyper::eval
