// Turns a GGUF model into one whose weights are all F32: the values are those of the given file,
// widened without rounding, so an oracle that reads the given file computes with the same weights.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::test {

// Writes `source` (weights F32, F16, BF16 or a quantised type) to `target` as F32; metadata and
// tensor order are kept, general.file_type becomes "all F32".
// Errors: kNotFound (no readable GGUF), kUnsupported (a weight type without conversion),
// kResourceExhausted (the target cannot be written; no partial file stays).
Status GgufToF32(const std::string& source, const std::string& target);

}  // namespace hyper::test
