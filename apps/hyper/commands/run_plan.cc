#include "apps/hyper/commands/run_plan.h"

#include <optional>
#include <utility>

#include "apps/hyper/command.h"

namespace hyper::app {
namespace {

constexpr const char* kInstruction =
    "Please reason step by step, and put your final answer within \\boxed{}.";

}  // namespace

int64_t MostPromptTokens(const RunFlags& flags, const std::string& question) {
  constexpr int64_t kTemplateTokens = 512;
  return static_cast<int64_t>(question.size() + flags.system.size() + flags.instruction.size()) +
         kTemplateTokens;
}

Result<Prompt> RenderPrompt(const RunFlags& flags, const std::string& question, Engine& engine) {
  const Result<RunPlan> plan = ResolveRun(flags.request, engine.model());
  if (!plan) {
    return plan.error();
  }
  // Models made for preset "short" need no word on how to answer.
  const bool brief =
      plan->preset == "short" || (plan->preset == "auto" && engine.model().preset == "short");
  const std::string fallback = brief ? "" : kInstruction;
  return RenderQuestion(engine, question, flags.system,
                        flags.has_instruction ? flags.instruction : fallback);
}

Result<RunPlan> SettlePlan(const RunFlags& flags, Engine& engine, const Prompt& prompt) {
  Result<RunPlan> plan = ResolveRun(flags.request, engine.model());
  if (!plan || plan->preset != "auto" || flags.engine.engine != "llama") {
    return plan;
  }
  const Result<double> pace = MeasurePace(engine, prompt.tokens, PoolWidth(plan->options));
  if (!pace) {  // such as too few cells: the run will tell
    return plan;
  }
  RunRequest request = flags.request;
  request.automatic.machine = {*pace, engine.capabilities().cells_total};
  plan = ResolveRun(request, engine.model());
  if (!plan) {
    return plan;
  }
  std::optional<RunEstimate> low;
  if (std::exchange(request.automatic.effort, Effort::kLow) != Effort::kLow) {
    if (const Result<RunPlan> less = ResolveRun(request, engine.model())) {
      low = EstimateOf(*less, *pace);
    }
  }
  Tell(EstimateText(EstimateOf(*plan, *pace), low ? &*low : nullptr) + "\n");
  return plan;
}

}  // namespace hyper::app
