// Prompt and plan of a run, as far as they depend on each other and on the engine.
#pragma once

#include <cstdint>
#include <string>

#include "apps/hyper/flags/run_flags.h"
#include "hyper/ask.h"

namespace hyper::app {

// Tokens that the prompt has at most: fewer than its texts have bytes, and what the template and
// the instruction add.
int64_t MostPromptTokens(const RunFlags& flags, const std::string& question);

// The prompt. Errors: those of ResolveRun and RenderQuestion.
Result<Prompt> RenderPrompt(const RunFlags& flags, const std::string& question, Engine& engine);

// The plan on the engine. Preset "auto" goes by the pace of the machine: it is measured, and a line
// on stderr tells what was chosen and how long it will take. Errors: those of ResolveRun.
Result<RunPlan> SettlePlan(const RunFlags& flags, Engine& engine, const Prompt& prompt);

}  // namespace hyper::app
