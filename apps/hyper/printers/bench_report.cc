#include "apps/hyper/printers/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/hyper/command.h"
#include "src/core/quantile.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  Spread spread;
  spread.median = Median(values);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  spread.low = *low;
  spread.high = *high;
  for (double& value : values) {
    value = std::abs(value - spread.median);
  }
  spread.median_deviation = Median(std::move(values));
  return spread;
}

std::vector<double> SpeedsOf(const BenchReport& report) {
  std::vector<double> speeds;
  for (const BenchRun& run : report.runs) {
    speeds.push_back(run.wall_s > 0 ? static_cast<double>(run.tokens) / run.wall_s : 0.0);
  }
  return speeds;
}

TimeShares SharesOf(const BenchReport& report) {
  TimeShares sums;
  double wall = 0;
  for (const BenchRun& run : report.runs) {
    sums.engine += run.engine_s;
    sums.sampler += run.sampler_s;
    sums.statistics += run.statistics_s;
    wall += run.wall_s;
  }
  if (wall <= 0) {
    return {0, 0, 0, 1};
  }
  const double rest = std::max(0.0, wall - sums.engine - sums.sampler - sums.statistics);
  return {sums.engine / wall, sums.sampler / wall, sums.statistics / wall, rest / wall};
}

std::string BenchToText(const BenchReport& report) {
  const Spread speed = SpreadOf(SpeedsOf(report));
  const TimeShares shares = SharesOf(report);
  std::string text = fmt::format(
      "model    {}, {}{}\n"
      "pool     {} paths of at most {} tokens, seed {}, {} runs\n",
      OneLine(report.model.name), report.determinism,
      report.model.cpu_backend.empty() ? "" : ", CPU backend " + report.model.cpu_backend,
      report.width, report.tokens, report.seed, report.runs.size());
  for (const BenchRun& run : report.runs) {
    text +=
        fmt::format("run      {:.1f} tokens/s: {} tokens in {:.3f} s, {:.1f} lanes on average\n",
                    run.wall_s > 0 ? static_cast<double>(run.tokens) / run.wall_s : 0.0, run.tokens,
                    run.wall_s, run.mean_lanes);
  }
  return text + fmt::format(
                    "speed    {:.1f} tokens/s (median; {:.1f} to {:.1f}, median deviation {:.1f})\n"
                    "time     engine {:.1f} %, sampler {:.1f} %, statistics {:.1f} %, rest {:.1f} "
                    "%\n",
                    speed.median, speed.low, speed.high, speed.median_deviation,
                    100 * shares.engine, 100 * shares.sampler, 100 * shares.statistics,
                    100 * shares.rest);
}

std::string BenchToJson(const BenchReport& report) {
  const Spread speed = SpreadOf(SpeedsOf(report));
  const TimeShares shares = SharesOf(report);
  Json runs = Json::array();
  for (const BenchRun& run : report.runs) {
    runs.push_back({{"tokens", run.tokens},
                    {"wall_s", run.wall_s},
                    {"engine_s", run.engine_s},
                    {"sampler_s", run.sampler_s},
                    {"statistics_s", run.statistics_s},
                    {"mean_lanes", run.mean_lanes}});
  }
  const Json object = {{"model", {{"name", report.model.name}, {"hash", report.model.hash}}},
                       {"cpu_backend", report.model.cpu_backend},
                       {"determinism", report.determinism},
                       {"width", report.width},
                       {"tokens", report.tokens},
                       {"seed", report.seed},
                       {"tokens_per_s",
                        {{"median", speed.median},
                         {"low", speed.low},
                         {"high", speed.high},
                         {"median_deviation", speed.median_deviation}}},
                       {"shares",
                        {{"engine", shares.engine},
                         {"sampler", shares.sampler},
                         {"statistics", shares.statistics},
                         {"rest", shares.rest}}},
                       {"runs", std::move(runs)}};
  return DumpJson(object, 2) + "\n";
}

}  // namespace hyper::app
