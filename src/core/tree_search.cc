#include "src/core/tree_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/core/softmax.h"

namespace hyper {
namespace {

std::vector<int> RoundedShares(std::span<const double> weights, int budget) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int> shares;
  for (const double weight : weights) {
    shares.push_back(static_cast<int>(std::lround(budget * weight / sum)));
  }
  const bool none = std::all_of(shares.begin(), shares.end(), [](int share) { return share == 0; });
  if (none && budget > 0 && !shares.empty()) {
    const auto best = std::max_element(weights.begin(), weights.end()) - weights.begin();
    shares[static_cast<size_t>(best)] = 1;
  }
  return shares;
}

std::vector<int> CeiledShares(std::span<const double> rewards, std::span<const double> weights,
                              int budget) {
  // An exact share such as 2 may be computed as 2 + 1e-16; without slack it would become 3.
  constexpr double kSlack = 1e-9;
  std::vector<size_t> order(rewards.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&rewards](size_t a, size_t b) {
    return rewards[a] != rewards[b] ? rewards[a] > rewards[b] : a > b;
  });
  std::vector<double> remaining(order.size() + 1, 0.0);  // suffix sums, the smallest first
  for (size_t i = order.size(); i-- > 0;) {
    remaining[i] = remaining[i + 1] + weights[order[i]];
  }
  std::vector<int> shares(rewards.size(), 0);
  for (size_t i = 0; i < order.size() && budget > 0; ++i) {
    // A node whose weight underflowed to 0 among others that did: all that is left is its due.
    const double ratio = remaining[i] > 0 ? weights[order[i]] / remaining[i] : 1.0;
    const int share = std::min(budget, static_cast<int>(std::ceil(budget * ratio - kSlack)));
    shares[order[i]] = share;
    budget -= share;
  }
  return shares;
}

}  // namespace

std::vector<int> RebaseShares(std::span<const double> rewards, int budget, double temperature,
                              ShareRounding rounding) {
  assert(temperature > 0 && budget >= 0);
  const std::vector<double> weights = ScaledExponentials(rewards, temperature).weights;
  return rounding == ShareRounding::kRound ? RoundedShares(weights, budget)
                                           : CeiledShares(rewards, weights, budget);
}

double UctScore(const SearchNode& node, int parent_visits, const UctOptions& options) {
  if (node.visits == 0) {
    return node.value + options.unvisited_bonus;
  }
  assert(parent_visits >= 1);
  return node.value + options.exploration * std::sqrt(2.0 * std::log(parent_visits) / node.visits);
}

int BestChild(std::span<const SearchNode> nodes, int parent, const UctOptions& options,
              double draw) {
  const SearchNode& from = nodes[static_cast<size_t>(parent)];
  std::vector<int> best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const int child : from.children) {
    const double score = UctScore(nodes[static_cast<size_t>(child)], from.visits, options);
    if (score > best_score) {
      best_score = score;
      best.clear();
    }
    if (score == best_score) {
      best.push_back(child);
    }
  }
  if (best.empty()) {
    return -1;
  }
  const auto pick = static_cast<size_t>(draw * static_cast<double>(best.size()));
  return best[std::min(pick, best.size() - 1)];
}

void Backpropagate(std::span<SearchNode> nodes, int node) {
  for (int at = node; at >= 0; at = nodes[static_cast<size_t>(at)].parent) {
    SearchNode& current = nodes[static_cast<size_t>(at)];
    ++current.visits;
    double sum = 0;
    int visits = 0;
    for (const int child : current.children) {
      const SearchNode& below = nodes[static_cast<size_t>(child)];
      sum += below.value * below.visits;
      visits += below.visits;
    }
    if (visits > 0) {
      current.value = sum / visits;
    }
  }
}

double RolloutValue(double value, double best, double alpha) {
  return (1.0 - alpha) * value + alpha * best;
}

double RescaleConfidence(double confidence, double low, double high) {
  if (std::isnan(confidence)) {
    return 0;
  }
  if (!(high > low)) {
    return confidence >= high ? 1 : 0;
  }
  return std::clamp((confidence - low) / (high - low), 0.0, 1.0);
}

}  // namespace hyper
