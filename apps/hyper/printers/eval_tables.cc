#include "apps/hyper/printers/eval_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/eval/data/own_parts.h"
#include "src/eval/tables/own_tables.h"
#include "src/eval/tables/paper_tables.h"
#include "src/eval/tables/study_tables.h"

namespace hyper::app {
namespace {

constexpr std::array kBuiltIn = {"checklist",  "results", "main",        "ablation",
                                 "vote-rules", "votes",   "vote-length", "accounting",
                                 "dense",      "trees",   "samples",     "equal-tokens"};

// What the tables are made of; votes and samples are read only where a table needs them.
struct Material {
  std::vector<eval::RunSummary> runs;
  std::vector<eval::RunVotes> votes;
  std::vector<eval::RunSamples> samples;
};

bool Wants(const TablesRequest& request, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(request.names.begin(), request.names.end(), name) != request.names.end();
  });
}

Result<Material> Gather(const TablesRequest& request, Store& store,
                        const std::vector<int64_t>& runs) {
  const eval::SummaryOptions options{request.groups};
  Result<std::vector<eval::RunSummary>> all = eval::SummariseStudy(store, options);
  if (!all) {
    return all.error();
  }
  Material material;
  for (eval::RunSummary& summary : *all) {
    const bool wanted =
        runs.empty() || std::find(runs.begin(), runs.end(), summary.run.id) != runs.end();
    if (wanted) {
      material.runs.push_back(std::move(summary));
    }
  }
  for (const eval::RunSummary& run : material.runs) {
    if (Wants(request, {"votes", "vote-rules", "vote-length"})) {
      auto rules = eval::SummariseVotes(store, run.run.id, options);
      if (!rules) {
        return rules.error();
      }
      material.votes.push_back({run, std::move(*rules)});
    }
    if (Wants(request, {"samples", "equal-tokens"})) {
      auto samples = eval::CountSamples(store, run.run.id, options);
      if (!samples) {
        return samples.error();
      }
      material.samples.push_back({run, std::move(*samples)});
    }
  }
  return material;
}

// HyPER's own votes: the paper compares rules over its paths.
std::vector<eval::RunVotes> OfHyper(const std::vector<eval::RunVotes>& votes) {
  std::vector<eval::RunVotes> ours;
  for (const eval::RunVotes& one : votes) {
    if (one.run.run.method == "hyper") {
      ours.push_back(one);
    }
  }
  return ours;
}

std::vector<eval::Table> Make(const std::string& name, const Material& material) {
  if (name == "checklist") {
    return {eval::ChecklistTable()};
  }
  if (name == "results") {
    return {eval::ResultsTable(material.runs)};
  }
  if (name == "main") {
    return {eval::MainTable(material.runs)};
  }
  if (name == "ablation") {
    return {eval::AblationTable(material.runs)};
  }
  if (name == "vote-rules") {
    return {eval::VoteRulesTable(material.runs, OfHyper(material.votes))};
  }
  if (name == "vote-length") {
    return {eval::LengthVotesTable(OfHyper(material.votes))};
  }
  if (name == "accounting") {
    return {eval::AccountingTable(material.runs)};
  }
  if (name == "dense") {
    return {eval::DenseTable(material.runs)};
  }
  if (name == "trees") {
    return {eval::TreesTable(material.runs)};
  }
  if (name == "samples") {
    return {eval::SamplesTable(material.samples)};
  }
  if (name == "equal-tokens") {
    return {eval::EqualTokensTable(material.samples)};
  }
  std::vector<eval::Table> votes;
  for (const eval::RunVotes& one : material.votes) {
    votes.push_back(eval::VoteTable(one.run, one.rules));
  }
  return votes;
}

}  // namespace

std::vector<std::string> OwnTableNames() {
  std::vector<std::string> names;
  for (const auto& spec : eval::OwnTables()) {
    names.push_back(spec->name);
  }
  return names;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names(kBuiltIn.begin(), kBuiltIn.end());
  for (std::string& name : OwnTableNames()) {
    names.push_back(std::move(name));
  }
  return names;
}

Status AddTable(TableSpec spec) {
  const bool taken = spec.name == "all" ||
                     std::find(kBuiltIn.begin(), kBuiltIn.end(), spec.name) != kBuiltIn.end();
  return taken ? InvalidArgument("table '" + spec.name + "' is built in; give yours another name")
               : eval::AddTable(std::move(spec));
}

Result<std::vector<eval::Table>> MakeStudyTables(const TablesRequest& request, Store& store,
                                                 const std::vector<int64_t>& runs) {
  const Result<Material> material = Gather(request, store, runs);
  if (!material) {
    return material.error();
  }
  std::vector<eval::Table> tables;
  for (const std::string& name : request.names) {
    if (const auto own = eval::FindOwnTable(name)) {
      const Result<std::vector<EvaluatedRow>> rows = eval::StudyRows(store, runs, request.groups);
      Result<eval::Table> table =
          rows ? eval::MakeOwnTable(*own, *rows) : Result<eval::Table>(rows.error());
      if (!table) {
        return table.error();
      }
      tables.push_back(std::move(*table));
      continue;
    }
    for (eval::Table& table : Make(name, *material)) {
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

Result<std::string> StudyTables(const TablesRequest& request, Store& store,
                                const std::vector<int64_t>& runs) {
  const Result<std::vector<eval::Table>> tables = MakeStudyTables(request, store, runs);
  if (!tables) {
    return tables.error();
  }
  return eval::RenderTables(*tables, request.form);
}

}  // namespace hyper::app
