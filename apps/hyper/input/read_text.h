// Texts that commands take as a file or on standard input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hyper/result.h"

namespace hyper::app {

inline constexpr size_t kMostTextBytes = size_t{16} << 20U;

// All bytes of the file `path`, or of standard input where it is "-", without a byte order mark.
// Errors: kNotFound (no such file, a folder, unreadable), kInvalidArgument (over `most_bytes`).
Result<std::string> ReadText(const std::string& path, size_t most_bytes = kMostTextBytes);

// The text without white space at its ends. Pure.
std::string Trimmed(std::string_view text);

}  // namespace hyper::app
