// The memory of a run as plain text for people.
#pragma once

#include <string>

#include "hyper/llama_engine.h"

namespace hyper::app {

// Weights, KV cache, buffers and what fits; ends with a line break.
//   kv_type      the word of --kv-type, for the hint
//   path_tokens  tokens that a path may have, --max-tokens or less; said where the cells hold fewer
std::string PlanText(const MemoryPlan& plan, const std::string& kv_type, int path_tokens);

// The same numbers as one JSON object, members named after MemoryPlan's; `available_bytes` is null
// where it cannot be told.
std::string PlanJsonText(const MemoryPlan& plan);

}  // namespace hyper::app
