#include "src/core/ets_program.h"

#include <algorithm>
#include <coin/CbcModel.hpp>
#include <coin/CoinError.hpp>
#include <coin/CoinPackedVector.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#include <set>
#include <string>

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

// Columns: x_i of the nodes, y_j of the ancestors, z_k of the clusters, all binary.
class Builder {
 public:
  explicit Builder(const EtsProgram& program)
      : program_(program),
        nodes_(static_cast<int>(program.shares.size())),
        ancestors_(AncestorCount(program)),
        clusters_(ClusterReward(program) > 0 ? Count(program.clusters) : 0) {}

  void Fill(OsiClpSolverInterface& solver) const {
    const double cost = NodeCost(program_);
    for (const double share : program_.shares) {
      AddBinary(solver, share - cost);
    }
    for (int j = 0; j < ancestors_; ++j) {
      AddBinary(solver, -cost);
    }
    for (int k = 0; k < clusters_; ++k) {
      AddBinary(solver, ClusterReward(program_));
    }
    solver.setObjSense(-1);
    AddAncestorRows(solver);
    AddClusterRows(solver);
    CoinPackedVector any;
    for (int i = 0; i < nodes_; ++i) {
      any.insert(i, 1);
    }
    solver.addRow(any, 1, solver.getInfinity());
  }

 private:
  static void AddBinary(OsiClpSolverInterface& solver, double objective) {
    solver.addCol(CoinPackedVector(), 0, 1, objective);
    solver.setInteger(solver.getNumCols() - 1);
  }

  // x_i <= y_j for each ancestor, and y_j <= the sum of its nodes.
  void AddAncestorRows(OsiClpSolverInterface& solver) const {
    std::vector<CoinPackedVector> sums(static_cast<size_t>(ancestors_));
    for (int i = 0; i < nodes_; ++i) {
      for (const int j : program_.ancestors[static_cast<size_t>(i)]) {
        CoinPackedVector row;
        row.insert(nodes_ + j, 1);
        row.insert(i, -1);
        solver.addRow(row, 0, solver.getInfinity());
        sums[static_cast<size_t>(j)].insert(i, 1);
      }
    }
    for (int j = 0; j < ancestors_; ++j) {
      CoinPackedVector& row = sums[static_cast<size_t>(j)];
      row.insert(nodes_ + j, -1);
      solver.addRow(row, 0, solver.getInfinity());
    }
  }

  // z_k <= the sum of its nodes.
  void AddClusterRows(OsiClpSolverInterface& solver) const {
    for (int k = 0; k < clusters_; ++k) {
      CoinPackedVector row;
      for (int i = 0; i < nodes_; ++i) {
        if (program_.clusters[static_cast<size_t>(i)] == k) {
          row.insert(i, 1);
        }
      }
      row.insert(nodes_ + ancestors_ + k, -1);
      solver.addRow(row, 0, solver.getInfinity());
    }
  }

  const EtsProgram& program_;
  int nodes_;
  int ancestors_;
  int clusters_;
};

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
  try {
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    Builder(program).Fill(solver);
    CbcModel model(solver);
    model.setLogLevel(0);
    model.solver()->messageHandler()->setLogLevel(0);
    // CBC would pass over improvements below 1e-5 by itself.
    model.setDblParam(CbcModel::CbcCutoffIncrement, 1e-9);
    model.setAllowableGap(0);
    model.branchAndBound();
    if (!model.isProvenOptimal()) {
      return Error{ErrorCode::kInternal, "CBC found no optimum of ETS's integer program"};
    }
    std::vector<bool> keep;
    for (size_t i = 0; i < program.shares.size(); ++i) {
      keep.push_back(model.bestSolution()[i] > 0.5);
    }
    return keep;
  } catch (const CoinError& error) {
    return Error{ErrorCode::kInternal, "CBC failed: " + error.message()};
  }
}

}  // namespace hyper
