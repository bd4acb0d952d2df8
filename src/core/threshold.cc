#include "src/core/threshold.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "src/core/quantile.h"

namespace hyper {
namespace {

Error BadRule(std::string_view text) {
  return InvalidArgument(
      "threshold '" + std::string(text) +
      "' is not a rule; use top:N with N >= 1, or percentile:Q with Q from 0 to 100");
}

// Reads all of `text` as a number; false where anything else is in it.
template <class Number>
bool ReadNumber(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

std::vector<double> SortedFinite(std::span<const double> values) {
  std::vector<double> sorted;
  for (double value : values) {
    if (std::isfinite(value)) {
      sorted.push_back(value);
    }
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Result<ThresholdRule> ParseThresholdRule(std::string_view text) {
  ThresholdRule rule;
  if (text == "off") {
    rule.kind = ThresholdRule::Kind::kOff;
    return rule;
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return BadRule(text);
  }
  const std::string_view name = text.substr(0, colon);
  const std::string_view number = text.substr(colon + 1);
  if (name == "top") {
    rule.kind = ThresholdRule::Kind::kTop;
    if (!ReadNumber(number, rule.top) || rule.top < 1) {
      return BadRule(text);
    }
  } else if (name == "percentile") {
    rule.kind = ThresholdRule::Kind::kPercentile;
    const bool read = ReadNumber(number, rule.percentile);
    if (!read || !(rule.percentile >= 0 && rule.percentile <= 100)) {
      return BadRule(text);
    }
  } else {
    return BadRule(text);
  }
  return rule;
}

std::string ThresholdRuleText(const ThresholdRule& rule) {
  if (rule.kind == ThresholdRule::Kind::kOff) {
    return "off";
  }
  if (rule.kind == ThresholdRule::Kind::kTop) {
    return "top:" + std::to_string(rule.top);
  }
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), rule.percentile).ptr;
  return "percentile:" + std::string(std::begin(digits), end);
}

double ComputeThreshold(const ThresholdRule& rule, std::span<const double> lowest_windows) {
  const std::vector<double> sorted = SortedFinite(lowest_windows);
  if (sorted.empty() || rule.kind == ThresholdRule::Kind::kOff) {
    return -std::numeric_limits<double>::infinity();
  }
  if (rule.kind == ThresholdRule::Kind::kPercentile) {
    return Quantile(sorted, std::clamp(rule.percentile, 0.0, 100.0) / 100);
  }
  const size_t kept = std::min(static_cast<size_t>(std::max(rule.top, 1)), sorted.size());
  return sorted[sorted.size() - kept];
}

bool ShouldPrune(const ConfidenceWindow& window, double threshold) {
  return window.full() && window.WindowMean() < threshold;
}

WarmupPlan PlanWarmup(int initial_paths, int max_paths, const ThresholdRule& rule) {
  WarmupPlan plan{initial_paths, rule};
  if (max_paths / 2 >= initial_paths) {
    return plan;
  }
  plan.paths = std::max(2, max_paths / 2);
  const double share = static_cast<double>(plan.paths) / initial_paths;
  plan.rule.top = std::max(1, static_cast<int>(std::lround(rule.top * share)));
  return plan;
}

int WarmupNeeded(const WarmupPlan& plan, int usable) {
  constexpr double kPercentileShare = 0.75;
  const double needed = plan.rule.kind == ThresholdRule::Kind::kTop
                            ? std::min(plan.rule.top, plan.paths)
                            : kPercentileShare * plan.paths;
  return std::max(1, static_cast<int>(std::ceil(needed * usable / plan.paths)));
}

}  // namespace hyper
