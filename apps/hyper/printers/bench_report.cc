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

double PerSecond(int64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

std::string SpeedLine(const char* name, const Spread& speed) {
  return fmt::format("{:<8} {:.1f} tokens/s (median; {:.1f} to {:.1f}, median deviation {:.1f})\n",
                     name, speed.median, speed.low, speed.high, speed.median_deviation);
}

double MedianPromptSeconds(const BenchReport& report) {
  std::vector<double> seconds;
  for (const BenchRun& run : report.runs) {
    seconds.push_back(run.prompt_s);
  }
  return Median(std::move(seconds));
}

Json SpreadToJson(const Spread& spread) {
  return {{"median", spread.median},
          {"low", spread.low},
          {"high", spread.high},
          {"median_deviation", spread.median_deviation}};
}

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
    speeds.push_back(PerSecond(run.tokens, run.wall_s));
  }
  return speeds;
}

std::vector<double> DecodingSpeedsOf(const BenchReport& report) {
  std::vector<double> speeds;
  for (const BenchRun& run : report.runs) {
    speeds.push_back(PerSecond(run.tokens - run.first_tokens, run.wall_s - run.prompt_s));
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
                    PerSecond(run.tokens, run.wall_s), run.tokens, run.wall_s, run.mean_lanes);
  }
  text += SpeedLine("speed", SpreadOf(SpeedsOf(report)));
  text += SpeedLine("decoding", SpreadOf(DecodingSpeedsOf(report)));
  text += fmt::format("prompt   {} tokens in {:.3f} s (median)\n",
                      report.runs.front().prompt_tokens, MedianPromptSeconds(report));
  return text + fmt::format(
                    "time     engine {:.1f} %, sampler {:.1f} %, statistics {:.1f} %, rest {:.1f} "
                    "%\n",
                    100 * shares.engine, 100 * shares.sampler, 100 * shares.statistics,
                    100 * shares.rest);
}

std::string BenchToJson(const BenchReport& report) {
  const TimeShares shares = SharesOf(report);
  Json runs = Json::array();
  for (const BenchRun& run : report.runs) {
    runs.push_back({{"tokens", run.tokens},
                    {"wall_s", run.wall_s},
                    {"engine_s", run.engine_s},
                    {"sampler_s", run.sampler_s},
                    {"statistics_s", run.statistics_s},
                    {"mean_lanes", run.mean_lanes},
                    {"prompt_tokens", run.prompt_tokens},
                    {"prompt_s", run.prompt_s},
                    {"first_tokens", run.first_tokens}});
  }
  const Json object = {{"model", {{"name", report.model.name}, {"hash", report.model.hash}}},
                       {"cpu_backend", report.model.cpu_backend},
                       {"determinism", report.determinism},
                       {"width", report.width},
                       {"tokens", report.tokens},
                       {"seed", report.seed},
                       {"tokens_per_s", SpreadToJson(SpreadOf(SpeedsOf(report)))},
                       {"decoding_tokens_per_s", SpreadToJson(SpreadOf(DecodingSpeedsOf(report)))},
                       {"shares",
                        {{"engine", shares.engine},
                         {"sampler", shares.sampler},
                         {"statistics", shares.statistics},
                         {"rest", shares.rest}}},
                       {"runs", std::move(runs)}};
  return DumpJson(object, 2) + "\n";
}

}  // namespace hyper::app
