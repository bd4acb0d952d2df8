#include "apps/hyper/scripted_engine.h"

#include <cstdint>
#include <span>
#include <string>

#include "hyper/fake_engine.h"

namespace hyper::app {
namespace {

// What a path is going to write, drawn from its key.
struct Plan {
  size_t filler = 0;
  std::string end;
  float sureness = 0;  // logit of the planned character above the rest
};

Plan PlanOf(uint64_t path_key) {
  constexpr uint64_t kShortest = 20;
  constexpr uint64_t kSpread = 131;
  // Keys are random already; the product moves their high bits down.
  const uint64_t bits = (path_key * 0x9E3779B97F4A7C15U) >> 20U;
  const bool right = bits % 4 != 0;
  Plan plan;
  plan.filler = static_cast<size_t>(kShortest + bits / 4 % kSpread);
  plan.end = right ? "\\boxed{42}" : "\\boxed{" + std::to_string(bits / 1024 % 5) + "}";
  plan.sureness = (right ? 9.0F : 7.0F) + static_cast<float>(bits / 8192 % 100) * 0.02F;
  return plan;
}

void WriteLogits(const FakeStep& step, std::span<float> logits) {
  constexpr std::string_view kFiller = "add the next part and check it; ";
  const Plan plan = PlanOf(step.path_key);
  const size_t at = step.history.size() - static_cast<size_t>(step.prompt_tokens);
  char next = static_cast<char>(FakeEngine::kEnd);
  if (at < plan.filler) {
    next = kFiller[at % kFiller.size()];
  } else if (at - plan.filler < plan.end.size()) {
    next = plan.end[at - plan.filler];
  }
  logits[static_cast<size_t>(next)] = plan.sureness;
}

}  // namespace

std::unique_ptr<Engine> MakeScriptedEngine(int64_t cells, int context_tokens) {
  FakeOptions options;
  options.logits = WriteLogits;
  options.capabilities.cells_total = cells;
  options.capabilities.context_tokens = context_tokens;
  return std::make_unique<FakeEngine>(std::move(options));
}

}  // namespace hyper::app
