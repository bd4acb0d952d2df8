#include "src/core/confidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyper {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnitsPerNat = 0x1p32;

// All of `confidences` in one window.
ConfidenceWindow Filled(std::span<const double> confidences, int window, MeanKind kind) {
  ConfidenceWindow running(window, kind);
  for (const double confidence : confidences) {
    running.Push(confidence);
  }
  return running;
}

size_t AtLeastOne(int window) { return static_cast<size_t>(std::max(window, 1)); }

}  // namespace

double TokenConfidence(std::span<const TokenLogprob> top, Token chosen, ConfidenceSet set, int k) {
  double sum = 0;
  int used = 0;
  for (const TokenLogprob& candidate : top) {
    if (used >= k) {
      break;
    }
    if (set == ConfidenceSet::kAlternatives && candidate.token == chosen) {
      continue;
    }
    if (std::isnan(candidate.logprob)) {
      return kNan;
    }
    sum += std::clamp(static_cast<double>(candidate.logprob), kLogProbFloor, 0.0);
    ++used;
  }
  return used == 0 ? kNan : -sum / used;
}

std::vector<TokenProbability> Renormalise(std::span<const TokenLogprob> top, int k) {
  const auto kept = top.first(std::min(top.size(), static_cast<size_t>(std::max(k, 0))));
  std::vector<TokenProbability> distribution;
  distribution.reserve(kept.size());
  double total = 0;
  for (const TokenLogprob& candidate : kept) {
    const double probability = std::exp(static_cast<double>(candidate.logprob));
    distribution.push_back({candidate.token, probability});
    total += probability;
  }
  if (!(total > 0) || !std::isfinite(total)) {
    return {};
  }
  for (TokenProbability& entry : distribution) {
    entry.probability /= total;
  }
  std::sort(distribution.begin(), distribution.end(),
            [](const auto& a, const auto& b) { return a.token < b.token; });
  return distribution;
}

double TopKEntropy(std::span<const TokenLogprob> top, int k) {
  const std::vector<TokenProbability> distribution = Renormalise(top, k);
  if (distribution.empty()) {
    return kNan;
  }
  double entropy = 0;
  for (const TokenProbability& entry : distribution) {
    // p log p -> 0 as p -> 0
    if (entry.probability > 0) {
      entropy -= entry.probability * std::log(entry.probability);
    }
  }
  return std::max(entropy, 0.0);
}

ConfidenceWindow::ConfidenceWindow(int window, MeanKind kind)
    : window_(AtLeastOne(window)), kind_(kind) {}

bool ConfidenceWindow::Push(double confidence) {
  if (std::isnan(confidence)) {
    return false;
  }
  const bool geometric = kind_ == MeanKind::kGeometric;
  const double lowest = geometric ? std::exp(kLogProbFloor) : 0.0;
  const double clipped = std::clamp(confidence, lowest, kMaxConfidence);
  const int64_t units = std::llround((geometric ? std::log(clipped) : clipped) * kUnitsPerNat);
  recent_.push_back(units);
  window_sum_ += units;
  total_ += units;
  ++count_;
  if (recent_.size() > window_) {
    window_sum_ -= recent_.front();
    recent_.pop_front();
  }
  if (full()) {
    const bool first = count_ == static_cast<int64_t>(window_);
    lowest_window_sum_ = first ? window_sum_ : std::min(lowest_window_sum_, window_sum_);
  }
  return clipped == confidence;
}

double ConfidenceWindow::sum() const { return static_cast<double>(total_) / kUnitsPerNat; }

double ConfidenceWindow::Mean(int64_t sum_units, int64_t count) const {
  if (count == 0) {
    return kNan;
  }
  const double mean = static_cast<double>(sum_units) / (static_cast<double>(count) * kUnitsPerNat);
  return kind_ == MeanKind::kGeometric ? std::exp(mean) : mean;
}

double ConfidenceWindow::WindowMean() const {
  return Mean(window_sum_, static_cast<int64_t>(recent_.size()));
}

double ConfidenceWindow::LowestWindowMean() const {
  return full() ? Mean(lowest_window_sum_, static_cast<int64_t>(window_)) : TraceMean();
}

double ConfidenceWindow::TraceMean() const { return Mean(total_, count_); }

double LowestWindow(std::span<const double> confidences, int window, MeanKind kind) {
  return Filled(confidences, window, kind).LowestWindowMean();
}

double TraceConfidence(std::span<const double> confidences, MeanKind kind) {
  return Filled(confidences, 1, kind).TraceMean();
}

double TailConfidence(std::span<const double> confidences, int window, MeanKind kind) {
  return Filled(confidences, window, kind).WindowMean();
}

double BottomWindowConfidence(std::span<const double> confidences, int window, MeanKind kind,
                              double fraction) {
  ConfidenceWindow running(window, kind);
  std::vector<double> means;
  for (double confidence : confidences) {
    const int64_t before = running.count();
    running.Push(confidence);
    if (running.full() && running.count() > before) {
      means.push_back(running.WindowMean());
    }
  }
  if (means.empty()) {
    return running.TraceMean();
  }
  const double wanted = std::floor(fraction * static_cast<double>(means.size()));
  const size_t lowest =
      std::clamp<size_t>(static_cast<size_t>(std::max(wanted, 1.0)), 1, means.size());
  std::sort(means.begin(), means.end());
  double sum = 0;
  for (size_t i = 0; i < lowest; ++i) {
    sum += means[i];
  }
  return sum / static_cast<double>(lowest);
}

}  // namespace hyper
