// Checks the numbers of a GGUF header that llama.cpp takes on trust: it aborts on some, and divides
// by others.
#pragma once

#include <string>

#include "src/engine/llama/gguf/header.h"

namespace hyper::llama {

// Whether llama.cpp can go by the numbers of a model: layers, heads, experts and their groups, and
// what norms add to a variance.
// Errors: kDataLoss, with the key, its value and what it takes.
Status CheckCounts(const GgufHeader& header, const std::string& path);

}  // namespace hyper::llama
