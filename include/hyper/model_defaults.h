// What a model file says about itself and how to use it.
#pragma once

#include <string>

#include "hyper/engine.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// The model of a GGUF file, from its header alone: all of ModelInfo except hash, vocabulary size
// and CPU backend. `sampling` is what the file recommends (general.sampling.*: temperature, top-k,
// top-p, min-p); values outside an option's range are left out. `preset` is the one that the file
// names (hyper.preset) and `short` for the bundled model.
// Errors: kNotFound, kInvalidArgument (not a GGUF file), kDataLoss (a broken one).
Result<ModelInfo> ReadModelInfo(const std::string& model_path);

}  // namespace hyper
#pragma GCC visibility pop
