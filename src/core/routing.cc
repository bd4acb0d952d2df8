#include "src/core/routing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "src/core/softmax.h"

namespace hyper {
namespace {

float Orderable(float value) {
  return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
}

}  // namespace

std::vector<int> TopExperts(std::span<const float> row, int m) {
  const size_t wanted = std::min(static_cast<size_t>(std::max(m, 0)), row.size());
  std::vector<int> best;
  best.reserve(wanted + 1);
  for (size_t expert = 0; expert < row.size(); ++expert) {
    const float value = Orderable(row[expert]);
    // Strictly larger only: of equals the earlier stays in front.
    const auto place = std::find_if(best.begin(), best.end(), [&](int other) {
      return value > Orderable(row[static_cast<size_t>(other)]);
    });
    if (place == best.end() && best.size() == wanted) {
      continue;
    }
    best.insert(place, static_cast<int>(expert));
    if (best.size() > wanted) {
      best.pop_back();
    }
  }
  return best;
}

RoutePass::RoutePass(const RouteSpec& spec, int experts, int used)
    : spec_(spec), used_(used), score_sum_(static_cast<size_t>(experts)) {}

std::vector<int> RoutePass::Apply(std::span<float> row, std::span<const float> noise) {
  assert(row.size() == score_sum_.size());
  if (routes_++ == 0) {
    AddScores(row);
    return TopExperts(row, used_);
  }
  assert(noise.size() == row.size());
  std::vector<float> noisy(row.begin(), row.end());
  const float tau = static_cast<float>(spec_.tau);
  for (size_t e = 0; e < noisy.size(); ++e) {
    noisy[e] += tau * noise[e];
  }
  std::vector<float> penalised = noisy;
  if (spec_.two_pass) {
    Penalise(penalised);
  }
  AddScores(noisy);
  std::vector<int> chosen = TopExperts(penalised, used_);
  if (spec_.weights == RouteWeights::kNoisy) {
    std::copy(penalised.begin(), penalised.end(), row.begin());
  }
  return chosen;
}

void RoutePass::Penalise(std::span<float> row) {
  const float lambda = static_cast<float>(spec_.lambda);
  for (size_t e = 0; e < row.size(); ++e) {
    if (score_sum_[e] == 0) {
      continue;
    }
    ++penalty_count_;
    if (score_sum_[e] < 0) {
      ++reward_count_;
    }
    row[e] -= lambda * std::tanh(score_sum_[e]);
  }
}

void RoutePass::AddScores(std::span<const float> noisy) {
  if (!spec_.two_pass) {
    return;
  }
  const std::vector<int> chosen = TopExperts(noisy, used_);
  const bool softmax = spec_.penalty == RoutePenalty::kSoftmax;
  const std::vector<float> probabilities = softmax ? Softmax(noisy) : std::vector<float>();
  for (int expert : chosen) {
    const size_t e = static_cast<size_t>(expert);
    score_sum_[e] += softmax ? probabilities[e] : noisy[e];
  }
}

}  // namespace hyper
