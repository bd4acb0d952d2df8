// Repeated runs of a benchmark and their summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyper/engine.h"

namespace hyper::app {

// One timed run.
struct BenchRun {
  int64_t tokens = 0;
  double wall_s = 0;
  double engine_s = 0;
  double sampler_s = 0;
  double statistics_s = 0;
  double mean_lanes = 0;
  int64_t prompt_tokens = 0;
  double prompt_s = 0;       // until the first tokens were there
  int64_t first_tokens = 0;  // that were there then; of `tokens`
};

// Middle of a set of values, and how far they lie from it.
struct Spread {
  double median = 0;
  double low = 0;               // smallest value
  double high = 0;              // largest value
  double median_deviation = 0;  // median distance from the median
};

struct BenchReport {
  ModelInfo model;
  std::string determinism;
  int width = 0;
  int tokens = 0;
  uint64_t seed = 0;
  std::vector<BenchRun> runs;
};

// Summary of at least one value. Pure.
Spread SpreadOf(std::vector<double> values);

// Tokens per second of each run: the whole of it, the prompt included; and of decoding alone, from
// the first tokens on (0 where no others came). Pure.
std::vector<double> SpeedsOf(const BenchReport& report);
std::vector<double> DecodingSpeedsOf(const BenchReport& report);

// Shares of the wall time of all runs together, in [0, 1], that sum to 1. Pure.
struct TimeShares {
  double engine = 0;
  double sampler = 0;
  double statistics = 0;
  double rest = 0;
};
TimeShares SharesOf(const BenchReport& report);

// Plain text for people, and one JSON object; both end with a line break.
std::string BenchToText(const BenchReport& report);
std::string BenchToJson(const BenchReport& report);

}  // namespace hyper::app
