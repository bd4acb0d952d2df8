// Soak: random sessions on real engines for as long as asked, several side by side, many of them
// cancelled. Fails where a session does not end, where a lane or cell is left, and where what is
// allocated between two engines grows. Run by `make soak MINUTES=n`, under AddressSanitizer, whose
// own books (stacks of all allocations, memory kept in quarantine) grow in resident memory.
//   hyper_soak MINUTES [SEED]
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/llama_engine.h"
#include "hyper/method.h"
#include "hyper/session.h"

#ifdef __SANITIZE_ADDRESS__
// Of the sanitizer's allocator_interface.h, which GCC does not install.
extern "C" size_t __sanitizer_get_current_allocated_bytes(void);
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 6> kModels = {
    "tests/goldens/arch/qwen3.gguf",     "tests/goldens/arch/qwen3moe.gguf",
    "tests/goldens/arch/olmoe.gguf",     "tests/goldens/arch/deepseek2.gguf",
    "tests/goldens/arch/qwen3next.gguf", "models/tinymath/tinymath-moe-6m-f16.gguf"};
constexpr double kGrowthAllowed = 0.1;  // of the largest value of the first third

// Bytes of this process that lie in memory, with what the allocator keeps for later given back.
double ResidentBytes() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

// Bytes that this process has allocated and not freed; the resident ones without the sanitizer,
// which counts them.
double LiveBytes() {
#ifdef __SANITIZE_ADDRESS__
  return static_cast<double>(__sanitizer_get_current_allocated_bytes());
#else
  return ResidentBytes();
#endif
}

struct Counts {
  int64_t engines = 0;
  int64_t sessions = 0;
  int64_t cancelled = 0;
  int64_t tokens = 0;
};

hyper::ExtractedAnswer LastByte(std::string_view text, bool finished, bool /*reasoning_opened*/) {
  if (text.empty()) {
    return {};
  }
  const std::string answer(text.substr(text.size() - 1));
  return {answer, answer, !finished};
}

class Soak {
 public:
  explicit Soak(uint64_t seed) : random_(seed) {}

  const Counts& counts() const { return counts_; }

  // Some groups of sessions on one engine. Returns what went wrong, or nothing.
  std::string Round() {
    hyper::LlamaOptions options;
    options.model_path =
        std::string(HYPER_SOURCE_DIR) + "/" + kModels[counts_.engines % kModels.size()];
    options.context_cells = 200 + static_cast<int>(Below(4000));
    options.max_lanes = 8 + static_cast<int>(Below(60));
    options.threads = 1;
    options.strict = Below(2) == 0;
    const auto engine = hyper::MakeLlamaEngine(options);
    if (!engine) {
      return engine.error().message;
    }
    ++counts_.engines;
    for (int group = 0; group < 5; ++group) {
      const std::string trouble = Group(**engine);
      if (!trouble.empty()) {
        return trouble;
      }
      const hyper::EngineCost cost = (*engine)->cost();
      if (cost.lanes_open != 0 || cost.cells_used != 0) {
        return std::to_string(cost.lanes_open) + " lanes and " + std::to_string(cost.cells_used) +
               " cells are left";
      }
    }
    return "";
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }

  std::unique_ptr<hyper::Session> NewSession(hyper::Engine& engine) {
    static constexpr std::array<const char*, 3> kMethods = {"hyper", "sc", "deepconf"};
    const std::string method = kMethods[Below(kMethods.size())];
    auto plan = hyper::ResolveRun({method, "short", {}, {}}, {});
    if (!plan) {
      return nullptr;
    }
    plan->options.width = 1 + static_cast<int>(Below(6));
    plan->options.warmup = 1 + static_cast<int>(Below(4));
    plan->options.interval = 1 + static_cast<int>(Below(12));
    plan->options.window = 1 + static_cast<int>(Below(12));
    plan->options.max_tokens = 5 + static_cast<int>(Below(60));
    hyper::SessionSpec spec;
    const uint64_t length = 1 + Below(40);
    for (uint64_t i = 0; i < length; ++i) {
      spec.prompt.tokens.push_back(static_cast<hyper::Token>(Below(250)));
    }
    spec.seed = {random_(), 0};
    spec.most.cells = int64_t{1} << 20;
    spec.extractor = LastByte;
    auto session = hyper::OpenSession(engine, *plan, std::move(spec));
    return session ? std::move(*session) : nullptr;
  }

  std::string Group(hyper::Engine& engine) {
    std::vector<std::unique_ptr<hyper::Session>> sessions;
    hyper::Driver driver(engine);
    const uint64_t count = 1 + Below(3);
    for (uint64_t i = 0; i < count; ++i) {
      sessions.push_back(NewSession(engine));
      if (sessions.back() == nullptr) {
        return "a session cannot be made";
      }
      driver.Add(sessions.back().get());
    }
    for (int step = 0; !driver.idle(); ++step) {
      if (step > 20000) {
        return "a session does not end";
      }
      if (Below(150) == 0) {
        hyper::Session& session = *sessions[Below(sessions.size())];
        if (session.started() && !session.finished()) {
          session.Stop("cancelled");
          ++counts_.cancelled;
        }
      }
      if (const hyper::Status status = driver.Step(0); !status) {
        return status.error().message;
      }
    }
    for (const auto& session : sessions) {
      ++counts_.sessions;
      for (const hyper::Path& path : session->pool().paths()) {
        counts_.tokens += static_cast<int64_t>(path.tokens.size());
      }
    }
    return "";
  }

  std::mt19937_64 random_;
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  const double minutes = argc > 1 ? std::atof(argv[1]) : 0;
  if (minutes <= 0) {
    std::fprintf(stderr, "usage: hyper_soak MINUTES [SEED]\n");
    return 64;
  }
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  Soak soak(seed);
  const auto start = Clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count() / 60;
  };
  double early = 0;
  double late = 0;
  double next_report = 0;
  for (double now = 0; now < minutes; now = elapsed()) {
    const std::string trouble = soak.Round();
    if (!trouble.empty()) {
      std::fprintf(stderr, "seed %llu, engine %lld: %s\n", static_cast<unsigned long long>(seed),
                   static_cast<long long>(soak.counts().engines), trouble.c_str());
      return 1;
    }
    double& largest = now <= minutes / 3 ? early : late;
    largest = std::max(largest, LiveBytes());
    if (now >= next_report) {
      next_report += minutes / 10;
      std::printf(
          "%6.1f min  %6.2f MB allocated, %6.1f MB resident  %lld engines, %lld sessions "
          "(%lld cancels), %lld tokens\n",
          elapsed(), LiveBytes() / 1e6, ResidentBytes() / 1e6,
          static_cast<long long>(soak.counts().engines),
          static_cast<long long>(soak.counts().sessions),
          static_cast<long long>(soak.counts().cancelled),
          static_cast<long long>(soak.counts().tokens));
      std::fflush(stdout);
    }
  }
  const double growth = std::max(late, early) / early - 1;
  std::printf("most allocated after the first third: %+.1f %%\n", growth * 100);
  return growth <= kGrowthAllowed ? 0 : 1;
}
