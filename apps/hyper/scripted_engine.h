// An engine without a model, for dry runs: the texts are made up, all else is real.
#pragma once

#include <memory>

#include "hyper/engine.h"

namespace hyper::app {

// Paths write 20 to 150 characters of filler and end in \boxed{A}, A being 42 for most of them;
// the wrong ones are less sure. All of it depends on the path's random key only.
//   cells           KV cells in all; 0: without bound
//   context_tokens  longest history of a path
std::unique_ptr<Engine> MakeScriptedEngine(int64_t cells, int context_tokens);

}  // namespace hyper::app
