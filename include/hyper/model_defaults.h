// What a model file says about how it is to be used.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hyper/result.h"

namespace hyper {

// The sampling that a GGUF file recommends in its metadata (general.sampling.*), by the names of
// the options of `hyper run` and with their texts: temperature, top-k, top-p, min-p. Empty where it
// says nothing; values outside an option's range are left out. Reads the header alone. Errors:
// kNotFound, kInvalidArgument (not a GGUF file), kDataLoss (a broken one).
Result<std::vector<std::pair<std::string, std::string>>> RecommendedSampling(
    const std::string& model_path);

}  // namespace hyper
