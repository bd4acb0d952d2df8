// Options of an engine out of JSON, as C callers give them.
#pragma once

#include <string>

#include "hyper/llama_engine.h"
#include "hyper/result.h"

namespace hyper {

// Reads the options of a llama.cpp engine on `model_path`, an object such as {"threads": 2}; an
// empty text is an empty object. Members: docs/c-api.md.
// Errors: kInvalidArgument (not JSON, an unknown member, a value of another type). Pure.
Result<LlamaOptions> ParseEngineOptions(const std::string& text, const std::string& model_path);

}  // namespace hyper
