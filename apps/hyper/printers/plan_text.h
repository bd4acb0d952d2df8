// The memory of a run as plain text for people.
#pragma once

#include <string>

#include "hyper/llama_engine.h"

namespace hyper::app {

// Tokens of a path.
struct PathLength {
  int expected = 0;  // 0: not known
  int most = 0;      // --max-tokens
};

// Weights, KV cache, buffers and what fits; ends with a line break.
//   kv_type  the word of --kv-type, for the hint
//   length   said where the cells hold less than the longest path for each lane
std::string PlanText(const MemoryPlan& plan, const std::string& kv_type, const PathLength& length);

// The same numbers as one JSON object, members named after MemoryPlan's and PathLength's;
// `available_bytes` and `path_tokens` are null where they are not known.
std::string PlanJsonText(const MemoryPlan& plan, const PathLength& length);

}  // namespace hyper::app
