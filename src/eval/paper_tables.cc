#include "src/eval/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyper/method.h"
#include "hyper/method_traits.h"
#include "src/eval/paper_numbers.h"
#include "src/eval/study_tables.h"

namespace hyper {
namespace {

Cell PaperCell(const char* table, const std::string& method, const char* place) {
  const std::optional<PaperAccuracy> number = PaperNumber(table, method, place);
  return Cell::Number(number ? number->percent : kNaN, 1);
}

// "rebase 8" for rebase-conf at width 8: the name that App. H has for it.
std::string TreeName(const RunSummary& run) {
  std::string stem = run.run.method.substr(0, run.run.method.find('-'));
  const auto width = run.run.settings.find("width");
  if (stem != "rebase" || width == run.run.settings.end()) return stem;
  return stem + " " + width->second;
}

bool IsTree(const std::string& method) {
  const std::string stem = method.substr(0, method.find('-'));
  return stem == "rebase" || stem == "ets" || stem == "mcts" || stem == "tot";
}

// Lines of accuracy and cost, with the paper's number of `paper` on `place`.
template <class Wanted, class Name>
Table AccuracyTable(const std::vector<RunSummary>& runs, const char* paper, const char* place,
                    Wanted wanted, Name name) {
  Table table;
  table.columns = {{"Method", ""},
                   {"Model", ""},
                   {"Dataset", ""},
                   {"Acc", ""},
                   {"Effective", "Tokens"},
                   {"Abs", "Tokens"},
                   {std::string("paper, ") + place, ""}};
  for (const RunSummary& run : runs) {
    if (!wanted(run)) continue;
    const RunSummary* base = Baseline(runs, run);
    table.rows.push_back(
        {Cell::Text(run.run.label), Cell::Text(run.run.model), Cell::Text(run.run.suite),
         AccuracyCell(run.accuracy),
         Cell::Number(base ? run.effective_tokens / base->effective_tokens : kNaN, 2),
         Cell::Number(base ? run.generated_tokens / base->generated_tokens : kNaN, 2),
         PaperCell(paper, name(run), place)});
  }
  MarkBest(table, 0, table.rows.size(), {3});
  table.notes = {"Tokens: over those of SC on the same model and data set, where the study has it.",
                 "The paper's numbers are of another model and data set: compare the order."};
  return table;
}

const RuleAccuracy* FindRule(const RunVotes& votes, const std::string& name) {
  for (const RuleAccuracy& rule : votes.rules) {
    if (rule.rule == name) return &rule;
  }
  return nullptr;
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
  const auto mark = [](bool yes) { return Cell::Text(yes ? "yes" : "no"); };
  for (const MethodInfo& info : Methods()) {
    MethodOptions options;
    if (!ApplyMethodDefaults(info.name, options)) continue;
    const Result<MethodTraits> found = TraitsOf(info.name, options);
    if (!found) continue;
    const MethodTraits& traits = *found;
    table.rows.push_back({Cell::Text(info.name), Cell::Text(traits.granularity),
                          mark(traits.adaptive), mark(!traits.rigid_search),
                          mark(traits.aggregates), mark(traits.prunes), mark(traits.refines_tokens),
                          mark(!traits.trained_policy), mark(!traits.reward_model)});
  }
  table.notes = {
      "Of the methods as they run here. The paper's table judges the systems as published: there "
      "ETS and Thread need a trained policy, SC and BoN an evaluator, and RoE has one path."};
  return table;
}

Table VoteRulesTable(const std::vector<RunSummary>& runs, const std::vector<RunVotes>& votes) {
  Table table;
  table.name = "ablation-voting";
  table.title = "Ablation II: voting strategies";
  table.columns = {{"Voting rule", ""}, {"Method", ""},        {"Dataset", ""},
                   {"Acc", ""},         {"95% bootstrap", ""}, {"Effective", "Tokens"},
                   {"Abs", "Tokens"},   {"AIME25", "paper"},   {"HMMT25", "paper"}};
  for (const RunVotes& one : votes) {
    const size_t first = table.rows.size();
    const RunSummary* base = Baseline(runs, one.run);
    for (const RuleAccuracy& rule : one.rules) {
      const Interval& interval = rule.accuracy.bootstrap;
      table.rows.push_back(
          {Cell::Text(rule.rule), Cell::Text(one.run.run.label), Cell::Text(one.run.run.suite),
           AccuracyCell(rule.accuracy),
           Cell::Text(
               fmt::format("{:.1f} to {:.1f}", kPercent * interval.low, kPercent * interval.high)),
           Cell::Number(base ? one.run.effective_tokens / base->effective_tokens : kNaN, 2),
           Cell::Number(base ? one.run.generated_tokens / base->generated_tokens : kNaN, 2),
           PaperCell("votes", rule.rule, "AIME25"), PaperCell("votes", rule.rule, "HMMT25")});
    }
    MarkBest(table, first, table.rows.size(), {3});
  }
  table.notes = {
      "The same paths for every rule of a method, so the same tokens: over those of SC.",
      "The paper's numbers are of Qwen3-30B and full HyPER: compare the order of the rules."};
  return table;
}

Table LengthVotesTable(const std::vector<RunVotes>& votes) {
  constexpr const char* kPlaces[] = {"AIME24", "AIME25", "HMMT25"};
  Table table;
  table.name = "voting_ablation";
  table.title = "Length-based, confidence-based and combined voting";
  table.columns = {{"Voting strategy", ""}};
  for (const RunVotes& one : votes) {
    table.columns.push_back({one.run.run.suite, one.run.run.label});
  }
  for (const char* place : kPlaces) table.columns.push_back({place, "paper"});
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
    for (const char* place : kPlaces) row.push_back(PaperCell("votes", rule, place));
    table.rows.push_back(std::move(row));
  }
  table.notes = {"The same paths for every rule. The paper's numbers are of Qwen3-30B."};
  return table;
}

Table DenseTable(const std::vector<RunSummary>& runs) {
  Table table = AccuracyTable(
      runs, "dense", "HMMT25",
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
      runs, "trees", "AIME24",
      [](const RunSummary& run) { return run.run.method == "sc" || IsTree(run.run.method); },
      TreeName);
  table.name = "tot-thinking";
  table.title = "SC against step-level tree search";
  table.notes.emplace_back(
      "The end of a name says what values a step: conf its confidence, ptrue a P(True) probe, "
      "judge "
      "the policy as judge, prm a process reward model (the paper's).");
  return table;
}

Table SamplesTable(const std::vector<RunSamples>& runs) {
  Table table;
  table.name = "samples";
  table.title = "Oracle and majority over k paths";
  table.columns = {{"Paths of", ""}, {"Dataset", ""}, {"k", ""}, {"pass@k", ""}, {"maj@k", ""}};
  for (const RunSamples& one : runs) {
    if (one.samples.empty()) continue;
    int fewest = one.samples.front().total();
    for (const SampleCounts& item : one.samples) fewest = std::min(fewest, item.total());
    std::vector<int> sizes;
    for (int k = 1; k < fewest; k *= 2) sizes.push_back(k);
    if (fewest > 0) sizes.push_back(fewest);
    for (const int k : sizes) {
      table.rows.push_back({Cell::Text(one.run.run.label), Cell::Text(one.run.run.suite),
                            Cell::Number(k, 0),
                            Cell::Number(kPercent * MeanPassAtK(one.samples, k), 1),
                            Cell::Number(kPercent * MeanMajorityAtK(one.samples, k), 1)});
    }
  }
  table.notes = {
      "Unbiased estimates over k paths drawn without replacement, as a mean over all items; at the "
      "largest k pass@k is the existence probability, the upper bound of any vote (oracle).",
      "Of methods that prune or branch, the paths are no independent samples: read their largest k "
      "only."};
  return table;
}

Table EqualTokensTable(const std::vector<RunSamples>& runs) {
  Table table;
  table.name = "equal-tokens";
  table.title = "Accuracy at equal effective tokens";
  table.columns = {{"Method", ""},    {"Dataset", ""},  {"Effective", ""},
                   {"Acc", ""},       {"SC paths", ""}, {"SC at equal tokens", ""},
                   {"Difference", ""}};
  for (const RunSamples& one : runs) {
    const RunSamples* base = nullptr;
    for (const RunSamples& other : runs) {
      if (other.run.run.method == kBaselineMethod && SamePlace(other.run, one.run)) base = &other;
    }
    double paths = kNaN;
    double accuracy = kNaN;
    if (base != nullptr) {
      paths = one.run.effective_tokens * base->run.instances / base->run.effective_tokens;
      accuracy = MajorityAtTokens(base->samples, std::max(1.0, paths));
    }
    table.rows.push_back({Cell::Text(one.run.run.label), Cell::Text(one.run.run.suite),
                          Cell::Number(one.run.effective_tokens, 0), AccuracyCell(one.run.accuracy),
                          Cell::Number(paths, 1), Cell::Number(kPercent * accuracy, 1),
                          Cell::Number(kPercent * (one.run.accuracy.mean - accuracy), 1)});
  }
  table.notes = {
      "SC paths: as many of SC's as cost the method's effective tokens; SC at equal tokens: maj@k "
      "over SC's stored paths at that k, between whole numbers linearly. Empty where the method "
      "spent more than all of SC's paths: give SC a greater width."};
  return table;
}

}  // namespace hyper
