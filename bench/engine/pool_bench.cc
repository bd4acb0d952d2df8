// What a wide pool of long paths takes: memory, and the time of forks.
//   pool_bench MODEL memory [LANES] [TOKENS] [strict|fast]     default: 80 2000 fast
//   pool_bench MODEL forks  [LANES] [TOKENS] [RUNS]            default: 64 2000 7
// memory: TOKENS random tokens on each lane, none of them shared but the first. Prints the highest
// resident memory of the process, and what it should be: weights, the cells in use, and the buffers
// of a forward, by llama.cpp's own account.
// forks: one path writes TOKENS tokens; then LANES paths fork there, each its MultiToken way: lane,
// history and statistics. Milliseconds of all forks together, and of ending them all: the first
// time, and the others.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/llama_engine.h"
#include "src/decode/session_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

[[noreturn]] void Fail(const std::string& message) {
  fmt::print(stderr, "pool_bench: {}\n", message);
  std::exit(1);
}

// A number of /proc/self/status, in bytes.
int64_t StatusBytes(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word == name) {
      int64_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

std::unique_ptr<hyper::Engine> Load(const hyper::LlamaOptions& options) {
  auto engine = hyper::MakeLlamaEngine(options);
  if (!engine) {
    Fail(engine.error().message);
  }
  return std::move(*engine);
}

std::vector<hyper::Token> RandomTokens(int count, int vocabulary, std::mt19937& random) {
  std::vector<hyper::Token> tokens(count);
  for (hyper::Token& token : tokens) {
    token = static_cast<hyper::Token>(random() % static_cast<unsigned>(vocabulary));
  }
  return tokens;
}

// Polls until every lane has its token.
void WaitForTokens(hyper::Engine& engine, int lanes) {
  while (lanes > 0) {
    const auto events = engine.Poll(0);
    if (!events) {
      Fail(events.error().message);
    }
    for (const hyper::Event& event : *events) {
      if (event.kind == hyper::EventKind::kFailed) {
        Fail(event.error.message);
      }
      lanes -= event.kind == hyper::EventKind::kBoundary || event.kind == hyper::EventKind::kEnd;
    }
  }
}

int MeasureMemory(hyper::LlamaOptions options, int lanes, int tokens) {
  options.max_lanes = lanes;
  options.needed_cells = int64_t{lanes} * tokens;
  const auto plan = hyper::PlanLlamaMemory(options);
  if (!plan) {
    Fail(plan.error().message);
  }
  const int64_t before = StatusBytes("VmRSS:");
  const std::unique_ptr<hyper::Engine> engine = Load(options);
  const int64_t loaded = StatusBytes("VmRSS:");
  std::mt19937 random(1);
  for (int i = 0; i < lanes; ++i) {
    hyper::LaneSpec spec;
    spec.path_key = static_cast<uint64_t>(i);
    spec.stop_at_end = false;
    std::vector<hyper::Token> prompt = RandomTokens(tokens - 1, engine->model().vocab_size, random);
    prompt.front() = 0;
    const auto lane = engine->Open(prompt, spec);
    if (!lane || !engine->Grant(*lane, 1)) {
      Fail(lane ? "no grant" : lane.error().message);
    }
  }
  WaitForTokens(*engine, lanes);
  const hyper::EngineCost cost = engine->cost();
  const double kv = static_cast<double>(cost.cells_used) * cost.bytes_per_cell;
  const double due =
      static_cast<double>(plan->weights_bytes) + kv + static_cast<double>(plan->compute_bytes);
  const auto peak = static_cast<double>(StatusBytes("VmHWM:"));
  constexpr double kMiB = 1024.0 * 1024;
  fmt::print(
      "{} lanes of {} tokens: {} cells in use\n"
      "weights {:.1f} MiB, cells in use {:.1f} MiB, buffers of a forward {:.1f} MiB: {:.1f} MiB\n"
      "process: {:.1f} MiB before, {:.1f} with the engine, {:.1f} at most: {:.3f} of the above\n",
      lanes, tokens, cost.cells_used, static_cast<double>(plan->weights_bytes) / kMiB, kv / kMiB,
      static_cast<double>(plan->compute_bytes) / kMiB, due / kMiB,
      static_cast<double>(before) / kMiB, static_cast<double>(loaded) / kMiB, peak / kMiB,
      peak / due);
  return 0;
}

// One path that has written `tokens` tokens.
hyper::PathId Write(hyper::SessionPool& pool, int tokens) {
  const auto path = pool.Open(0, false);
  if (!path || !pool.GrantAll(tokens)) {
    Fail(path ? "no grant" : path.error().message);
  }
  while (!pool.settled()) {
    const auto events = pool.engine().Poll(0);
    if (!events) {
      Fail(events.error().message);
    }
    for (const hyper::Event& event : *events) {
      pool.Apply(event);
    }
  }
  const int length = pool.path(*path).length();
  if (length != tokens) {
    Fail(fmt::format("the path has {} tokens and not {}", length, tokens));
  }
  return *path;
}

int MeasureForks(hyper::LlamaOptions options, int lanes, int tokens, int runs) {
  options.max_lanes = lanes + 1;
  const std::unique_ptr<hyper::Engine> engine = Load(options);
  hyper::Pool::Config config;
  config.prompt.tokens = {0};
  config.options.max_tokens = 2 * tokens;
  config.reservation = {lanes + 1, int64_t{2} * tokens + lanes};
  for (hyper::Token token = 0; token < engine->model().vocab_size; ++token) {
    if (engine->IsEndOfGeneration(token)) {
      config.logit_bias.emplace_back(token, -std::numeric_limits<float>::infinity());
    }
  }
  hyper::SessionPool pool(*engine, config);
  const hyper::PathId root = Write(pool, tokens);
  std::vector<double> forks;
  std::vector<double> ends;
  for (int run = 0; run < runs; ++run) {
    std::vector<hyper::PathId> children;
    auto begin = Clock::now();
    for (int child = 0; child < lanes; ++child) {
      const auto forked = pool.Fork(root, run + 1, child);
      if (!forked) {
        Fail(forked.error().message);
      }
      children.push_back(*forked);
    }
    forks.push_back(MillisecondsSince(begin));
    begin = Clock::now();
    for (const hyper::PathId child : children) {
      pool.Finish(child, hyper::PathStatus::kMerged, "another was surer", root);
    }
    ends.push_back(MillisecondsSince(begin));
  }
  // The first forks enter all cells of the path, later ones those that their ids lack.
  const auto print = [](const char* name, std::vector<double> values) {
    const double first = values.front();
    std::sort(values.begin() + 1, values.end());
    fmt::print("{}: {:.3f} ms at first, then {:.3f} (median; {:.3f} to {:.3f})\n", name, first,
               values[(values.size() + 1) / 2], values[1], values.back());
  };
  fmt::print("{} forks of a path of {} tokens, {} runs\n", lanes, tokens, runs);
  print("forks", std::move(forks));
  print("merges", std::move(ends));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[2] : "";
  if (what != "memory" && what != "forks") {
    fmt::print(stderr,
               "usage: pool_bench MODEL memory [LANES] [TOKENS] [strict|fast]\n"
               "       pool_bench MODEL forks [LANES] [TOKENS] [RUNS]\n");
    return 64;
  }
  const auto number = [argc, argv](int index, int otherwise) {
    return argc > index ? std::max(1, std::atoi(argv[index])) : otherwise;
  };
  hyper::LlamaOptions options;
  options.model_path = argv[1];
  options.threads = 1;
  options.strict = argc > 5 && std::string_view(argv[5]) == "strict";
  return what == "memory"
             ? MeasureMemory(options, number(3, 80), number(4, 2000))
             : MeasureForks(options, number(3, 64), number(4, 2000), std::max(2, number(5, 7)));
}
