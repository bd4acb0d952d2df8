#include "apps/hyper/commands/run_plan.h"

#include <optional>
#include <string>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/printers/calibration_text.h"

namespace hyper::app {
namespace {

// The pace of the run. A slow machine gets fewer paths, which then go at another pace: that is
// measured too. With a seed no clock changes their number.
Result<double> SettlePace(const RunFlags& flags, Engine& engine, const Prompt& prompt,
                          const RunPlan& plan) {
  const std::vector<int> phases = PhasesOf(plan);
  Result<double> pace = MeasurePace(engine, prompt.tokens, phases, EstimateOf(plan, 1).path_tokens);
  if (!pace || flags.seed_given) {
    return pace;
  }
  RunRequest request = flags;
  request.automatic.machine = {*pace, engine.capabilities().cells_total};
  const Result<RunPlan> cut = ResolveRun(request, engine.model());
  if (!cut || PhasesOf(*cut) == phases) {
    return pace;
  }
  return MeasurePace(engine, prompt.tokens, PhasesOf(*cut), EstimateOf(*cut, 1).path_tokens);
}

}  // namespace

Result<RunPlan> EarlyPlan(const RunFlags& flags) {
  return ResolveRun(flags, PeekModel(flags.engine));
}

int64_t MostPromptTokens(const RunFlags& flags, std::span<const ChatMessage> messages) {
  constexpr int64_t kTemplateTokens = 512;
  size_t bytes = flags.instruction.size();
  for (const ChatMessage& message : messages) {
    bytes += message.content.size();
  }
  return static_cast<int64_t>(bytes) + kTemplateTokens;
}

Result<Prompt> RenderPrompt(const RunFlags& flags, std::vector<ChatMessage> messages,
                            Engine& engine) {
  const Result<RunPlan> plan = ResolveRun(flags, engine.model());
  if (!plan) {
    return plan.error();
  }
  // Models made for preset "short" need no word on how to answer.
  const bool brief =
      (plan->preset == "auto" ? FixedPreset(engine.model()) : plan->preset) == "short";
  const std::string fallback = brief ? "" : kInstruction;
  const std::string& instruction = flags.has_instruction ? flags.instruction : fallback;
  if (!instruction.empty()) {
    messages.back().content += "\n\n" + instruction;
  }
  return engine.RenderChat(messages, {});
}

Result<RunPlan> SettlePlan(const RunFlags& flags, Engine& engine, const Prompt& prompt,
                           LiveView& view, double& pace) {
  Result<RunPlan> plan = ResolveRun(flags, engine.model());
  if (!plan || plan->preset != "auto" || flags.engine.engine != "llama") {
    return plan;
  }
  if (const Status able = CheckAbilities(*plan, engine.capabilities()); !able) {
    return able.error();  // before a word of how long it takes
  }
  RunRequest request = flags;
  const bool given = request.automatic.machine.tokens_per_s > 0;
  pace = given ? request.automatic.machine.tokens_per_s : pace;
  const bool quiet = flags.detail == Detail::kAnswer && !flags.plan;
  if (pace == 0 && !(quiet && flags.seed_given)) {
    view.Phase("measuring the speed");
    const Result<double> measured = SettlePace(flags, engine, prompt, *plan);
    view.Clear();
    if (!measured) {  // such as too few cells: the run will tell
      return plan;
    }
    pace = *measured;
  }
  if (!given) {
    // Runs of one seed are equal: nothing may depend on the clock.
    request.automatic.machine.tokens_per_s = flags.seed_given ? 0 : pace;
  }
  request.automatic.machine.cells = engine.capabilities().cells_total;
  plan = ResolveRun(request, engine.model());
  if (!plan || quiet) {
    return plan;
  }
  std::optional<RunEstimate> low;
  if (std::exchange(request.automatic.effort, Effort::kLow) != Effort::kLow) {
    if (const Result<RunPlan> less = ResolveRun(request, engine.model())) {
      low = EstimateOf(*less, pace);
    }
  }
  std::string text = EstimateText(EstimateOf(*plan, pace), low ? &*low : nullptr);
  const double limit_s = flags.limits.time_s;
  if (limit_s > 0 && limit_s < EstimateOf(*plan, pace).seconds()) {
    text += "; --time ends it sooner";
  }
  if (!plan->profile.empty()) {
    text += "; by the model's profile: " + OneLine(FlagsText(plan->profile));
  }
  view.Estimate(text);
  return plan;
}

}  // namespace hyper::app
