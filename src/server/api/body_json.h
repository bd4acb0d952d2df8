// Bodies of requests as JSON, bounded before they are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "src/report/json.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

// More than any request needs. What reads JSON recurses for each level, and looks through the
// members of an object for each of them.
inline constexpr int kMostJsonLevels = 64;
inline constexpr size_t kMostJsonMembers = 1024;

// Why JSON must be refused unread; empty: it need not. Counts what stands outside of strings:
// levels by brackets, members by colons. Pure; linear.
std::string TooMuch(std::string_view body);

// The JSON object that `body` is, or a 400 that says where it is none. Pure; any thread.
std::variant<Json, ApiError> ParseBody(const std::string& body);

}  // namespace hyper::server
