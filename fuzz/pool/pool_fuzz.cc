// Sessions of any method beside each other on a scripted engine that fails, stalls and runs out of
// lanes and cells, while they are cancelled and their paths pruned and forked from outside: each
// ends, its ledger adds up, and no lane is left.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/require.h"
#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/fake_engine.h"
#include "hyper/method.h"
#include "hyper/session.h"

namespace {

using hyper::fuzz::Require;

hyper::ExtractedAnswer LastByte(std::string_view text, bool finished, bool /*reasoning_opened*/) {
  if (text.empty()) {
    return {};
  }
  const std::string answer(text.substr(text.size() - 1));
  return {answer, answer, !finished};
}

// Texts and faults out of the input: its bytes are looked up by what the step is.
class Script {
 public:
  explicit Script(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  uint8_t At(uint64_t place) const {
    return bytes_.empty() ? 0 : bytes_[(place * 0x9E3779B97F4A7C15ULL >> 20U) % bytes_.size()];
  }
  void Logits(const hyper::FakeStep& step, std::span<float> logits) const {
    const uint64_t place = step.path_key * 1000003 + step.history.size();
    const uint8_t favourite = At(place);
    logits[favourite % logits.size()] = static_cast<float>(favourite % 23);
    logits[At(place + 1) % logits.size()] += 3;
    logits[hyper::FakeEngine::kEnd] += favourite > 240 ? 30.0F : 0.0F;
  }

 private:
  std::vector<uint8_t> bytes_;
};

std::unique_ptr<hyper::Session> NewSession(FuzzedDataProvider& input, hyper::Engine& engine) {
  static const std::vector<hyper::MethodInfo> methods = hyper::Methods();
  const std::string& method =
      methods[input.ConsumeIntegralInRange<size_t>(0, methods.size() - 1)].name;
  auto plan = hyper::ResolveRun({method, "short", {}, {}}, {});
  Require(plan.has_value());
  hyper::MethodOptions& options = plan->options;
  options.width = input.ConsumeIntegralInRange(1, 8);
  options.warmup = input.ConsumeIntegralInRange(1, 5);
  options.interval = input.ConsumeIntegralInRange(1, 12);
  options.window = input.ConsumeIntegralInRange(1, 12);
  options.max_tokens = input.ConsumeIntegralInRange(1, 40);
  hyper::SessionSpec spec;
  const int prompt = input.ConsumeIntegralInRange(1, 20);
  spec.prompt.tokens.assign(static_cast<size_t>(prompt), 'q');
  spec.seed = {input.ConsumeIntegral<uint64_t>(), 0};
  spec.most.cells = int64_t{1} << 20;
  spec.extractor = LastByte;
  spec.limits.budget_tokens = input.ConsumeBool() ? input.ConsumeIntegralInRange(1, 400) : 0;
  auto session = hyper::OpenSession(engine, *plan, std::move(spec));
  return session ? std::move(*session) : nullptr;
}

// What a user of the server may do to a live run.
void Disturb(FuzzedDataProvider& input, hyper::Session& session, int step) {
  if (!session.started() || session.finished()) {
    return;
  }
  hyper::Pool& pool = session.pool();
  const std::vector<hyper::PathId> running = pool.running();
  switch (input.ConsumeIntegralInRange(0, 7)) {
    case 0:
      session.Stop("cancelled");
      return;
    case 1:
      if (!running.empty()) {
        pool.Finish(running.front(), hyper::PathStatus::kPruned, "pruned by request");
      }
      return;
    case 2:
      if (!running.empty() && pool.FreeLanes(pool.path(running.back()).granted) > 0) {
        const int granted = pool.path(running.back()).granted;
        const auto child = pool.Fork(running.back(), 1 << 30, step);
        if (child) {
          (void)pool.Grant(*child, granted).ok();
        }
      }
      return;
    default:
      return;
  }
}

void CheckEnded(const hyper::Session& session) {
  Require(session.finished());
  int64_t tokens = 0;
  for (const hyper::Path& path : session.pool().paths()) {
    Require(!path.running());
    tokens += static_cast<int64_t>(path.tokens.size());
  }
  const hyper::Ledger& ledger = session.pool().ledger();
  Require(ledger.generated >= 0 && ledger.prefilled >= 0);
  Require(tokens == 0 || ledger.generated > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  hyper::FakeOptions options;
  options.capabilities.max_lanes = input.ConsumeIntegralInRange(1, 48);
  options.capabilities.max_rows =
      options.capabilities.max_lanes + input.ConsumeIntegralInRange(0, 64);
  options.capabilities.cells_total = input.ConsumeIntegralInRange(64, 4096);
  options.capabilities.routing = input.ConsumeBool();
  options.capabilities.score = input.ConsumeBool();
  const uint8_t lane_faults = input.ConsumeIntegral<uint8_t>();
  const uint8_t open_faults = input.ConsumeIntegral<uint8_t>();
  const int count = input.ConsumeIntegralInRange(1, 3);
  const Script script(input.ConsumeBytes<uint8_t>(input.remaining_bytes() / 2));
  options.logits = [&script](const hyper::FakeStep& step, std::span<float> logits) {
    script.Logits(step, logits);
  };
  options.lane_fault = [&](const hyper::FakeStep& step) -> std::optional<hyper::Error> {
    const bool fails = lane_faults > 250 && script.At(step.path_key + step.history.size()) == 7;
    return fails ? std::optional(hyper::Error{hyper::ErrorCode::kInternal, "made up"})
                 : std::nullopt;
  };
  options.refuse_open = [&](int64_t open) {
    return open_faults > 200 && script.At(static_cast<uint64_t>(open)) % 8 == 3;
  };
  hyper::FakeEngine engine(options);
  {
    std::vector<std::unique_ptr<hyper::Session>> sessions;
    hyper::Driver driver(engine);
    for (int i = 0; i < count; ++i) {
      if (auto session = NewSession(input, engine)) {
        sessions.push_back(std::move(session));
        driver.Add(sessions.back().get());
      }
    }
    constexpr int kMostSteps = 200'000;
    for (int step = 0; !driver.idle(); ++step) {
      Require(step < kMostSteps);
      if (input.remaining_bytes() > 0 && input.ConsumeIntegralInRange(0, 15) == 0) {
        Disturb(input, *sessions[input.ConsumeIntegralInRange<size_t>(0, sessions.size() - 1)],
                step);
      }
      if (!driver.Step(0)) {
        break;
      }
    }
    for (const auto& session : sessions) {
      CheckEnded(*session);
    }
  }
  Require(engine.open_lanes() == 0);
  return 0;
}
