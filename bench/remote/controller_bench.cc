// Where the controller itself saturates: sessions over many replicas whose events are rendered
// beforehand. Prints tokens per second that one core of ours handles, and the server's CPU apart.
//   remote_controller_bench [REPLICAS] [LANES] [TOKENS] [METHOD]     default: 64 128 128 sc
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/remote/event_server.h"
#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/remote_engine.h"

namespace {

// A token of its own with twenty alternatives, as vLLM would send it.
std::string RenderChoice(std::mt19937& random, const char* finish) {
  const auto word = [&random] { return fmt::format(" w{}", random() % 5000); };
  std::string top;
  double logprob = -0.05;
  const std::string chosen = word();
  for (int i = 0; i < 20; ++i) {
    top += fmt::format("{}\"{}\":{:.5f}", i > 0 ? "," : "", i == 0 ? chosen : word(), logprob);
    logprob -= 0.3 + static_cast<double>(random() % 1000) / 1000;
  }
  return fmt::format(
      R"({{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{{"index":0,)"
      R"("text":"{0}","token_ids":[{1}],"logprobs":{{"tokens":["{0}"],"token_logprobs":[-0.05],)"
      R"("top_logprobs":[{{{2}}}],"text_offset":[0]}},"finish_reason":{3}}}]}})",
      chosen, random() % 5000, top, finish);
}

double CpuSeconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Plan {
  int replicas = 64;
  int lanes = 128;  // of each session; there are as many sessions as replicas
  int tokens = 128;
  std::string method = "sc";
};

int Run(const Plan& plan, const std::vector<std::string>& urls) {
  hyper::RemoteOptions options;
  options.urls = urls;
  options.stream_tokens = plan.tokens;
  auto engine = hyper::MakeRemoteEngine(options);
  if (!engine) {
    fmt::print(stderr, "{}\n", engine.error().message);
    return 1;
  }
  hyper::Driver driver(**engine);
  std::vector<std::unique_ptr<hyper::Session>> sessions;
  hyper::AskOptions ask;
  ask.method = plan.method;
  ask.preset = "paper";
  ask.defaults = {
      {"width", plan.lanes}, {"max-tokens", plan.tokens}, {"actions", "none,multi_token,branch"}};
  for (int i = 0; i < plan.replicas; ++i) {
    ask.seed = static_cast<uint64_t>(i);
    auto session = hyper::PrepareSession(**engine, "a question", ask, nullptr);
    if (!session) {
      fmt::print(stderr, "{}\n", session.error().message);
      return 1;
    }
    sessions.push_back(std::move(*session));
    driver.Add(sessions.back().get());
  }
  const double cpu_before = CpuSeconds(RUSAGE_SELF);
  const auto begin = std::chrono::steady_clock::now();
  if (!driver.RunAll().ok()) {
    return 1;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const double cpu = CpuSeconds(RUSAGE_SELF) - cpu_before;
  int64_t tokens = 0;
  double statistics_s = 0;
  for (const auto& session : sessions) {
    tokens += session->pool().ledger().generated;
  }
  statistics_s = sessions.front()->pool().ledger().statistics_s;
  fmt::print(
      "{} replicas, {} sessions x {} lanes, method {}: {} tokens in {:.2f} s, {:.0f} tokens/s\n"
      "our CPU {:.2f} s ({:.1f} us a token, {:.0f} tokens per second of one core); "
      "{:.2f} s in sessions; at most {} lanes\n",
      plan.replicas, plan.replicas, plan.lanes, plan.method, tokens, wall.count(),
      static_cast<double>(tokens) / wall.count(), cpu, 1e6 * cpu / static_cast<double>(tokens),
      static_cast<double>(tokens) / cpu, statistics_s, (*engine)->cost().lanes_peak);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (argc > 1) {
    plan.replicas = std::atoi(argv[1]);
  }
  if (argc > 2) {
    plan.lanes = std::atoi(argv[2]);
  }
  if (argc > 3) {
    plan.tokens = std::atoi(argv[3]);
  }
  if (argc > 4) {
    plan.method = argv[4];
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  std::vector<int> listeners;
  std::vector<std::string> urls;
  for (int i = 0; i < plan.replicas; ++i) {
    int port = 0;
    listeners.push_back(hyper::bench::ListenOnLoopback(port));
    urls.push_back(fmt::format("http://127.0.0.1:{}/v1", port));
  }
  const pid_t server = fork();
  if (server == 0) {
    std::mt19937 random(1);
    std::vector<std::string> events;
    for (int i = 0; i < 997; ++i) {
      events.push_back("data: " + RenderChoice(random, "null") + "\n\n");
    }
    hyper::bench::ServeEvents(listeners, events, RenderChoice(random, "\"length\""));
  }
  for (const int listener : listeners) {
    close(listener);
  }
  const int code = Run(plan, urls);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  fmt::print("the server's CPU {:.2f} s\n", CpuSeconds(RUSAGE_CHILDREN));
  return code;
}
