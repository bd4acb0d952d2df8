#include "apps/hyper/eval_tables.h"

#include <algorithm>
#include <utility>

#include "src/eval/paper_tables.h"
#include "src/eval/study_tables.h"

namespace hyper::app {
namespace {

// What the tables are made of; votes and samples are read only where a table needs them.
struct Material {
  std::vector<RunSummary> runs;
  std::vector<RunVotes> votes;
  std::vector<RunSamples> samples;
};

bool Wants(const TablesRequest& request, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(request.names.begin(), request.names.end(), name) != request.names.end();
  });
}

Result<Material> Gather(const TablesRequest& request, Store& store,
                        const std::vector<int64_t>& runs) {
  const SummaryOptions options{request.groups};
  Result<std::vector<RunSummary>> all = SummariseStudy(store, options);
  if (!all) return all.error();
  Material material;
  for (RunSummary& summary : *all) {
    const bool wanted =
        runs.empty() || std::find(runs.begin(), runs.end(), summary.run.id) != runs.end();
    if (wanted) material.runs.push_back(std::move(summary));
  }
  for (const RunSummary& run : material.runs) {
    if (Wants(request, {"votes", "vote-rules", "vote-length"})) {
      auto rules = SummariseVotes(store, run.run.id, options);
      if (!rules) return rules.error();
      material.votes.push_back({run, std::move(*rules)});
    }
    if (Wants(request, {"samples", "equal-tokens"})) {
      auto samples = CountSamples(store, run.run.id, options);
      if (!samples) return samples.error();
      material.samples.push_back({run, std::move(*samples)});
    }
  }
  return material;
}

// HyPER's own votes: the paper compares rules over its paths.
std::vector<RunVotes> OfHyper(const std::vector<RunVotes>& votes) {
  std::vector<RunVotes> ours;
  for (const RunVotes& one : votes) {
    if (one.run.run.method == "hyper") ours.push_back(one);
  }
  return ours;
}

std::vector<Table> Make(const std::string& name, const Material& material) {
  if (name == "checklist") return {ChecklistTable()};
  if (name == "results") return {ResultsTable(material.runs)};
  if (name == "main") return {MainTable(material.runs)};
  if (name == "ablation") return {AblationTable(material.runs)};
  if (name == "vote-rules") return {VoteRulesTable(material.runs, OfHyper(material.votes))};
  if (name == "vote-length") return {LengthVotesTable(OfHyper(material.votes))};
  if (name == "accounting") return {AccountingTable(material.runs)};
  if (name == "dense") return {DenseTable(material.runs)};
  if (name == "trees") return {TreesTable(material.runs)};
  if (name == "samples") return {SamplesTable(material.samples)};
  if (name == "equal-tokens") return {EqualTokensTable(material.samples)};
  std::vector<Table> votes;
  for (const RunVotes& one : material.votes) votes.push_back(VoteTable(one.run, one.rules));
  return votes;
}

}  // namespace

std::vector<std::string> TableNames() {
  return {"checklist",   "results",    "main",  "ablation", "vote-rules", "votes",
          "vote-length", "accounting", "dense", "trees",    "samples",    "equal-tokens"};
}

Result<std::string> StudyTables(const TablesRequest& request, Store& store,
                                const std::vector<int64_t>& runs) {
  const Result<Material> material = Gather(request, store, runs);
  if (!material) return material.error();
  std::vector<Table> tables;
  for (const std::string& name : request.names) {
    for (Table& table : Make(name, *material)) tables.push_back(std::move(table));
  }
  return RenderTables(tables, request.form);
}

}  // namespace hyper::app
