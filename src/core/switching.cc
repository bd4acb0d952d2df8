#include "src/core/switching.h"

#include <algorithm>
#include <cmath>

namespace hyper {
namespace {

constexpr double kPenalty = 0.01;
constexpr int kNewtonSteps = 100;
constexpr double kFlat = 1e-7;  // of the gradient, per state
constexpr double kLeastProbability = 1e-7;

using LogisticRow = std::vector<double>;  // the intercept's 1 first

double LogisticOf(double x) { return 1 / (1 + std::exp(-x)); }

double DotOf(const LogisticRow& a, const LogisticRow& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// -log of the likelihood, with the penalty on all but the intercept. log(1 + exp x) without
// overflow.
double LogisticLoss(const std::vector<LogisticRow>& rows, const std::vector<bool>& labels,
                    double penalty, const LogisticRow& at) {
  double loss = penalty * (DotOf(at, at) - at[0] * at[0]);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double x = DotOf(rows[i], at);
    loss += std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) - (labels[i] ? x : 0.0);
  }
  return loss;
}

// Solves a x = b for a symmetric positive definite matrix, by elimination.
LogisticRow SolveSymmetric(std::vector<LogisticRow> a, LogisticRow b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      const double factor = a[j][i] / a[i][i];
      for (size_t k = i; k < n; ++k) {
        a[j][k] -= factor * a[i][k];
      }
      b[j] -= factor * b[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) {
      b[i] -= a[i][k] * b[k];
    }
    b[i] /= a[i][i];
  }
  return b;
}

// Newton's method from `at`, with shorter steps where a whole one would overshoot.
LogisticRow FitLogistic(const std::vector<LogisticRow>& rows, const std::vector<bool>& labels,
                        double penalty, LogisticRow at) {
  const size_t n = at.size();
  double loss = LogisticLoss(rows, labels, penalty, at);
  for (int step = 0; step < kNewtonSteps; ++step) {
    LogisticRow gradient(n);
    // A small diagonal keeps the matrix regular where features are constant.
    std::vector<LogisticRow> hessian(n, LogisticRow(n));
    for (size_t k = 0; k < n; ++k) {
      const double own = k == 0 ? 0.0 : penalty;
      gradient[k] = 2 * own * at[k];
      hessian[k][k] = 2 * own + 1e-9;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const double p = LogisticOf(DotOf(rows[i], at));
      for (size_t k = 0; k < n; ++k) {
        gradient[k] += (p - (labels[i] ? 1.0 : 0.0)) * rows[i][k];
        for (size_t l = 0; l < n; ++l) {
          hessian[k][l] += p * (1 - p) * rows[i][k] * rows[i][l];
        }
      }
    }
    if (std::sqrt(DotOf(gradient, gradient)) < kFlat * static_cast<double>(rows.size())) {
      break;
    }
    const LogisticRow move = SolveSymmetric(std::move(hessian), gradient);
    double length = 1;
    LogisticRow next = at;
    double next_loss = loss;
    for (; length > 1e-6; length /= 2) {
      for (size_t k = 0; k < n; ++k) {
        next[k] = at[k] - length * move[k];
      }
      next_loss = LogisticLoss(rows, labels, penalty, next);
      if (next_loss < loss) {
        break;
      }
    }
    if (!(next_loss < loss)) {
      break;
    }
    at = next;
    loss = next_loss;
  }
  return at;
}

void Standardise(std::span<const SwitchFeatures> states, SwitchModel& model) {
  const auto count = static_cast<double>(states.size());
  for (size_t k = 0; k < kSwitchFeatures; ++k) {
    double sum = 0;
    for (const SwitchFeatures& state : states) {
      sum += state[k];
    }
    model.means[k] = sum / count;
    double squares = 0;
    for (const SwitchFeatures& state : states) {
      squares += (state[k] - model.means[k]) * (state[k] - model.means[k]);
    }
    model.deviations[k] = std::max(std::sqrt(squares / count), 1e-10);
  }
}

double LogOddsOf(double probability) {
  const double p = std::clamp(probability, kLeastProbability, 1 - kLeastProbability);
  return std::log(p / (1 - p));
}

// What a challenger gains if each path that may switch is taken from the leader's side; -1: a
// challenger that nobody has voted for.
double HostileGain(std::span<const SwitchVote> votes, int leader, int challenger, double gamma) {
  double gain = 0;
  for (const SwitchVote& vote : votes) {
    const double share = vote.answer == leader                          ? 2 * gamma
                         : challenger >= 0 && vote.answer == challenger ? -1.0
                         : vote.answer < 0                              ? 1.0
                                                                        : gamma;
    gain += vote.switching * share * vote.weight;
  }
  return gain;
}

std::vector<double> WeightsOf(std::span<const SwitchVote> votes) {
  std::vector<double> weights;
  for (const SwitchVote& vote : votes) {
    if (vote.answer >= 0) {
      weights.resize(std::max(weights.size(), static_cast<size_t>(vote.answer) + 1));
      weights[static_cast<size_t>(vote.answer)] += vote.weight;
    }
  }
  return weights;
}

}  // namespace

SwitchFeatures NextSwitchFeatures(const SwitchFeatures* before, int tokens, double confidence,
                                  bool same) {
  if (before == nullptr) {
    return {static_cast<double>(tokens), confidence, 0, 1, 0};
  }
  const auto& [last_tokens, last_confidence, changes, streak, last_rise] = *before;
  return {static_cast<double>(tokens), confidence, changes + (same ? 0 : 1), same ? streak + 1 : 1,
          confidence - last_confidence};
}

SwitchModel FitSwitches(std::span<const SwitchFeatures> states, const std::vector<bool>& switched) {
  SwitchModel model;
  if (states.empty()) {
    model.deviations.fill(1);
    return model;
  }
  Standardise(states, model);
  std::vector<LogisticRow> rows;
  for (const SwitchFeatures& state : states) {
    LogisticRow& row = rows.emplace_back(1, 1.0);
    for (size_t k = 0; k < kSwitchFeatures; ++k) {
      row.push_back((state[k] - model.means[k]) / model.deviations[k]);
    }
  }
  const LogisticRow fitted =
      FitLogistic(rows, switched, kPenalty, LogisticRow(kSwitchFeatures + 1));
  model.intercept = fitted[0];
  std::copy(fitted.begin() + 1, fitted.end(), model.slopes.begin());
  std::vector<LogisticRow> odds;
  odds.reserve(rows.size());
  for (const LogisticRow& row : rows) {
    odds.push_back({1, LogOddsOf(LogisticOf(DotOf(row, fitted)))});
  }
  const LogisticRow platt = FitLogistic(odds, switched, /*penalty=*/0, {0, 1});
  model.shift = platt[0];
  model.scale = platt[1];
  return model;
}

double SwitchProbability(const SwitchModel& model, const SwitchFeatures& state) {
  double x = model.intercept;
  for (size_t k = 0; k < kSwitchFeatures; ++k) {
    x += model.slopes[k] * (state[k] - model.means[k]) / model.deviations[k];
  }
  return LogisticOf(model.scale * LogOddsOf(LogisticOf(x)) + model.shift);
}

int LeaderOf(std::span<const SwitchVote> votes) {
  const std::vector<double> weights = WeightsOf(votes);
  return weights.empty()
             ? -1
             : static_cast<int>(std::max_element(weights.begin(), weights.end()) - weights.begin());
}

bool IsSafeLead(std::span<const SwitchVote> votes, double gamma) {
  const std::vector<double> weights = WeightsOf(votes);
  const int leader = LeaderOf(votes);
  if (leader < 0) {
    return false;
  }
  const double lead = weights[static_cast<size_t>(leader)];
  bool safe = lead > HostileGain(votes, leader, -1, gamma);
  for (size_t k = 0; k < weights.size() && safe; ++k) {
    const int challenger = static_cast<int>(k);
    if (challenger != leader && weights[k] > 0) {
      safe = lead - weights[k] > HostileGain(votes, leader, challenger, gamma);
    }
  }
  return safe;
}

double CalibrateGamma(std::span<const std::vector<SwitchVote>> probes, int end) {
  const auto answer_with = [&](double gamma) {
    const auto at = std::find_if(probes.begin(), probes.end(),
                                 [gamma](const auto& votes) { return IsSafeLead(votes, gamma); });
    return at == probes.end() ? end : LeaderOf(*at);
  };
  const int reference = answer_with(1);
  int tenths = 10;
  while (tenths > 0 && answer_with(0.1 * (tenths - 1)) == reference) {
    --tenths;
  }
  const double paths = std::max<double>(1, static_cast<double>(probes.front().size()));
  return std::clamp(0.1 * tenths + 1 / std::sqrt(paths), 0.5, 1.0);
}

}  // namespace hyper
