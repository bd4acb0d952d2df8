// Prompt and plan of a run, as far as they depend on each other and on the engine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/printers/live_view.h"
#include "hyper/ask.h"

namespace hyper::app {

// Last paragraph of a question where none is given; models made for preset `short` need none.
inline constexpr const char* kInstruction =
    "Please reason step by step, and put your final answer within \\boxed{}.";

// The plan as far as it is known before the model is loaded. Errors: those of ResolveRun.
Result<RunPlan> EarlyPlan(const RunFlags& flags);

// Tokens that the prompt of `messages` has at most: fewer than its texts have bytes, and what the
// template and the instruction add.
int64_t MostPromptTokens(const RunFlags& flags, std::span<const ChatMessage> messages);

// The prompt of the last of `messages`, with the instruction of the flags, else that of the preset.
// Errors: those of ResolveRun and of the template.
Result<Prompt> RenderPrompt(const RunFlags& flags, std::vector<ChatMessage> messages,
                            Engine& engine);

// The plan on the engine. Preset "auto" goes by the pace of the machine: it is measured, and a line
// on stderr tells what was chosen and how long it will take (not with -q). Where a seed is given
// the choice does not go by the measured pace. Errors: those of
// ResolveRun.
//   pace  as measured, in tokens per second; 0: it is measured now and put there
Result<RunPlan> SettlePlan(const RunFlags& flags, Engine& engine, const Prompt& prompt,
                           LiveView& view, double& pace);

}  // namespace hyper::app
