// What RPC servers and the router hook cost: milliseconds of a decoding forward, and tokens per
// second, of plain pools and of one whose tokens are refined over routes. The routed pool has as
// many rows in a forward as the wide plain one, so what it takes longer is the hook and the
// routing.
//   rpc_bench MODEL [SERVERS] [WIDTH] [ROUTES] [TOKENS] [RUNS] [SEED] [THREADS] [strict|fast]
//   default:  ""        8       4        48       5      1      1         strict
// A strict forward has at most 63 rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/llama_engine.h"

namespace {

using hyper::Engine;
using Clock = std::chrono::steady_clock;

constexpr const char* kQuestion =
    "Ben has 44 boxes with 23 books each. Ben buys 47 more. Ben gives away 73. How many books does "
    "Ben have now?";

struct Plan {
  hyper::LlamaOptions engine;
  int width = 8;
  int routes = 4;
  int tokens = 48;
  int runs = 5;
  uint64_t seed = 1;
};

struct Speed {
  double tokens_per_s = 0;
  double forward_ms = 0;
};

// Polls until every lane has used its grant. False after a failure.
bool Decode(Engine& engine, int lanes) {
  while (lanes > 0) {
    const auto events = engine.Poll(0);
    if (!events) {
      fmt::print(stderr, "{}\n", events.error().message);
      return false;
    }
    for (const hyper::Event& event : *events) {
      lanes -= event.kind == hyper::EventKind::kBoundary || event.kind == hyper::EventKind::kEnd;
      if (event.kind == hyper::EventKind::kFailed) {
        fmt::print(stderr, "{}\n", event.error.message);
        return false;
      }
    }
  }
  return true;
}

// Speed of a pool: the prompt and the first token are computed before the clock starts.
std::optional<Speed> Measure(Engine& engine, const hyper::Prompt& prompt, const Plan& plan,
                             int width, int routes) {
  std::vector<hyper::LaneId> lanes;
  const auto grant = [&](int count) {
    for (const hyper::LaneId lane : lanes) {
      if (!engine.Grant(lane, count)) {
        std::exit(1);
      }
    }
    return Decode(engine, width);
  };
  hyper::RouteSpec route;
  route.routes = routes;
  for (int i = 0; i < width; ++i) {
    hyper::LaneSpec spec;
    spec.path_key = plan.seed * 1000 + static_cast<uint64_t>(i);
    spec.stop_at_end = false;
    const auto lane = engine.Open(prompt.tokens, spec);
    if (!lane || (routes > 1 && !engine.Route(*lane, route))) {
      return std::nullopt;
    }
    lanes.push_back(*lane);
  }
  if (!grant(1)) {
    return std::nullopt;
  }
  const int64_t forwards = engine.cost().forwards;
  const auto begin = Clock::now();
  if (!grant(plan.tokens)) {
    return std::nullopt;
  }
  const std::chrono::duration<double> taken = Clock::now() - begin;
  const auto steps = static_cast<double>(engine.cost().forwards - forwards);
  for (const hyper::LaneId lane : lanes) {
    engine.Close(lane);
  }
  return Speed{width * plan.tokens / taken.count(), taken.count() * 1e3 / steps};
}

int Run(const Plan& plan) {
  auto engine = hyper::MakeLlamaEngine(plan.engine);
  if (!engine) {
    fmt::print(stderr, "{}\n", engine.error().message);
    return 1;
  }
  const std::array<hyper::ChatMessage, 1> messages = {{{"user", kQuestion}}};
  const auto prompt = (*engine)->RenderChat(messages, {});
  if (!prompt) {
    fmt::print(stderr, "{}\n", prompt.error().message);
    return 1;
  }
  struct Pool {
    const char* name;
    int width;
    int routes;
  };
  const std::array<Pool, 3> pools = {{{"plain", plan.width, 1},
                                      {"wide", plan.width * plan.routes, 1},
                                      {"routed", plan.width, plan.routes}}};
  for (int run = 0; run <= plan.runs; ++run) {  // the first warms up
    for (const Pool& pool : pools) {
      const auto speed = Measure(**engine, *prompt, plan, pool.width, pool.routes);
      if (!speed) {
        return 1;
      }
      if (run > 0) {
        fmt::print(
            "{{\"pool\": \"{}\", \"width\": {}, \"routes\": {}, \"tokens_per_s\": {:.2f}, "
            "\"forward_ms\": {:.4f}}}\n",
            pool.name, pool.width, pool.routes, speed->tokens_per_s, speed->forward_ms);
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc < 2) {
    fmt::print(stderr,
               "usage: rpc_bench MODEL [SERVERS] [WIDTH] [ROUTES] [TOKENS] [RUNS] [SEED] [THREADS] "
               "[strict|fast]\n");
    return 64;
  }
  Plan plan;
  plan.engine.model_path = argv[1];
  plan.engine.threads = 1;
  std::istringstream servers(argc > 2 ? argv[2] : "");
  for (std::string server; std::getline(servers, server, ',');) {
    plan.engine.rpc_servers.push_back(server);
  }
  if (argc > 3) {
    plan.width = std::max(1, std::atoi(argv[3]));
  }
  if (argc > 4) {
    plan.routes = std::max(2, std::atoi(argv[4]));
  }
  if (argc > 5) {
    plan.tokens = std::max(1, std::atoi(argv[5]));
  }
  if (argc > 6) {
    plan.runs = std::max(1, std::atoi(argv[6]));
  }
  if (argc > 7) {
    plan.seed = static_cast<uint64_t>(std::atoll(argv[7]));
  }
  if (argc > 8) {
    plan.engine.threads = std::max(1, std::atoi(argv[8]));
  }
  plan.engine.strict = argc <= 9 || std::string_view(argv[9]) != "fast";
  return Run(plan);
}
