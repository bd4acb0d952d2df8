// Counts of values by size, as Prometheus reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hyper::server {

inline constexpr std::array kSecondsBounds = {0.001, 0.0025, 0.005, 0.01,  0.025, 0.05, 0.1,
                                              0.25,  0.5,    1.0,   2.5,   5.0,   10.0, 30.0,
                                              60.0,  120.0,  300.0, 600.0, 1800.0};
inline constexpr std::array kShareBounds = {0.0, 0.05, 0.1, 0.2, 0.3, 0.4,
                                            0.5, 0.6,  0.7, 0.8, 0.9, 1.0};

// `kBounds`: upper ends, rising; a value counts below the first that is not less.
template <const auto& kBounds>
class Histogram {
 public:
  static constexpr std::span<const double> bounds() { return kBounds; }

  void Observe(double value) {
    const auto place = std::lower_bound(kBounds.begin(), kBounds.end(), value);
    ++counts_[static_cast<size_t>(place - kBounds.begin())];
    sum_ += value;
  }
  void Add(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] += other.counts_[i];
    }
    sum_ += other.sum_;
  }
  // Of values up to each bound and above the one before; the last entry those above all bounds.
  std::span<const int64_t> counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::array<int64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

using Seconds = Histogram<kSecondsBounds>;
using Shares = Histogram<kShareBounds>;

}  // namespace hyper::server
