#include "src/core/ets_program.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "src/core/binary_program.h"

namespace hyper {
namespace {

constexpr double kFreeReward = 1e-4;

int Count(const std::vector<int>& labels) {
  return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
}

int AncestorCount(const EtsProgram& program) {
  int count = 0;
  for (const std::vector<int>& ancestors : program.ancestors) {
    count = std::max(count, Count(ancestors));
  }
  return count;
}

// lambda_c / (M + N).
double NodeCost(const EtsProgram& program) {
  const auto all = static_cast<double>(program.shares.size()) + AncestorCount(program);
  return (program.cost_weight > 0 ? program.cost_weight : -kFreeReward) / all;
}

// lambda_s / K.
double ClusterReward(const EtsProgram& program) {
  const int clusters = Count(program.clusters);
  return clusters > 0 ? program.coverage_weight / clusters : 0.0;
}

// Variables: x_i of the nodes, y_j of the ancestors, z_k of the clusters.
BinaryProgram Translate(const EtsProgram& program) {
  const int nodes = static_cast<int>(program.shares.size());
  const int ancestors = AncestorCount(program);
  const int clusters = ClusterReward(program) > 0 ? Count(program.clusters) : 0;
  const double cost = NodeCost(program);
  BinaryProgram all;
  for (const double share : program.shares) {
    all.objective.push_back(share - cost);
  }
  all.objective.insert(all.objective.end(), static_cast<size_t>(ancestors), -cost);
  all.objective.insert(all.objective.end(), static_cast<size_t>(clusters), ClusterReward(program));

  const auto at_least = [&all](std::vector<int> sum, int variable) {
    std::vector<double> ones(sum.size(), 1);
    sum.push_back(variable);
    ones.push_back(-1);
    all.rows.push_back({std::move(sum), std::move(ones), 0});
  };
  // x_i <= y_j for each ancestor, and y_j <= the sum of its nodes.
  std::vector<std::vector<int>> nodes_below(static_cast<size_t>(ancestors));
  for (int i = 0; i < nodes; ++i) {
    for (const int j : program.ancestors[static_cast<size_t>(i)]) {
      at_least({nodes + j}, i);
      nodes_below[static_cast<size_t>(j)].push_back(i);
    }
  }
  for (int j = 0; j < ancestors; ++j) {
    at_least(nodes_below[static_cast<size_t>(j)], nodes + j);
  }
  // z_k <= the sum of its nodes.
  for (int k = 0; k < clusters; ++k) {
    std::vector<int> members;
    for (int i = 0; i < nodes; ++i) {
      if (program.clusters[static_cast<size_t>(i)] == k) {
        members.push_back(i);
      }
    }
    at_least(std::move(members), nodes + ancestors + k);
  }
  std::vector<int> any(static_cast<size_t>(nodes));
  std::iota(any.begin(), any.end(), 0);
  all.rows.push_back({std::move(any), std::vector<double>(static_cast<size_t>(nodes), 1), 1});
  return all;
}

}  // namespace

double EtsObjective(const EtsProgram& program, const std::vector<bool>& keep) {
  std::set<int> ancestors;
  std::set<int> clusters;
  double sum = 0;
  int kept = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) {
      continue;
    }
    ++kept;
    sum += program.shares[i];
    ancestors.insert(program.ancestors[i].begin(), program.ancestors[i].end());
    if (!program.clusters.empty()) {
      clusters.insert(program.clusters[i]);
    }
  }
  return sum -
         NodeCost(program) * static_cast<double>(static_cast<size_t>(kept) + ancestors.size()) +
         ClusterReward(program) * static_cast<double>(clusters.size());
}

Result<std::vector<bool>> SolveEts(const EtsProgram& program) {
  if (program.shares.empty()) {
    return std::vector<bool>();
  }
  Result<std::vector<bool>> chosen = Maximise(Translate(program));
  if (chosen) {
    chosen->resize(program.shares.size());
  }
  return chosen;
}

}  // namespace hyper
