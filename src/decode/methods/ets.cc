#include "src/decode/methods/ets.h"

#include <algorithm>
#include <map>
#include <string>

#include "src/core/ets_program.h"
#include "src/core/step_clusters.h"
#include "src/core/tree_search.h"

namespace hyper {
namespace {

constexpr double kTemperature = 0.2;  // of ETS's code; REBASE's paper has 0.1

}  // namespace

std::vector<std::vector<int>> Ets::AncestorsOf(const std::vector<int>& frontier) const {
  std::map<int, int> numbers;
  std::vector<std::vector<int>> result;
  for (const int index : frontier) {
    std::vector<int>& ancestors = result.emplace_back();
    for (int at = node(index).parent; at >= 0; at = node(at).parent) {
      const int next = static_cast<int>(numbers.size());
      ancestors.push_back(numbers.emplace(at, next).first->second);
    }
  }
  return result;
}

std::vector<int> Ets::ClustersOf(Pool& pool, const std::vector<int>& frontier) const {
  std::vector<std::string> texts;
  texts.reserve(frontier.size());
  for (const int index : frontier) {
    texts.push_back(StepText(pool, index));
  }
  const bool alike = std::all_of(texts.begin(), texts.end(),
                                 [&texts](const std::string& text) { return text == texts[0]; });
  if (options().tree.coverage_weight <= 0 || alike) {
    return {};
  }
  return AverageLinkage(TextDistances(texts), options().tree.cluster_distance);
}

Result<std::vector<int>> Ets::Shares(Pool& pool, const std::vector<int>& frontier, int budget) {
  const TreeOptions& tree = options().tree;
  const double temperature = tree.balance_temperature > 0 ? tree.balance_temperature : kTemperature;
  std::vector<double> values;
  values.reserve(frontier.size());
  for (const int index : frontier) {
    values.push_back(node(index).value);
  }
  EtsProgram program;
  for (const int share : RebaseShares(values, budget, temperature, ShareRounding::kCeil)) {
    program.shares.push_back(static_cast<double>(share) / budget);
  }
  program.ancestors = AncestorsOf(frontier);
  program.clusters = ClustersOf(pool, frontier);
  program.cost_weight = tree.cost_weight;
  program.coverage_weight = tree.coverage_weight;
  const Result<std::vector<bool>> keep = SolveEts(program);
  if (!keep) {
    return keep.error();
  }
  std::vector<double> kept_values;
  for (size_t i = 0; i < frontier.size(); ++i) {
    if ((*keep)[i]) {
      kept_values.push_back(values[i]);
    }
  }
  const std::vector<int> kept =
      RebaseShares(kept_values, budget, temperature, ShareRounding::kCeil);
  std::vector<int> shares;
  size_t next = 0;
  for (const bool survives : *keep) {
    shares.push_back(survives ? kept[next++] : 0);
  }
  return shares;
}

}  // namespace hyper
