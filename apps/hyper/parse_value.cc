#include "apps/hyper/parse_value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

namespace hyper::app {
namespace {

template <class T>
Status ParseNumber(const std::string& name, const std::string& text, const std::string& range,
                   T& value) {
  T read{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, read);
  if (code == std::errc::result_out_of_range && stop == end) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--{} is {}, too large or small a number; it takes {}", name, text, range)};
  }
  if (code != std::errc() || stop != end) {
    const char* kind = std::is_integral_v<T> ? "whole number" : "number";
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--{} is '{}', which is not a {}; it takes {}", name, text, kind, range)};
  }
  value = read;
  return {};
}

}  // namespace

Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  int& value) {
  return ParseNumber(name, text, range, value);
}

Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  int64_t& value) {
  return ParseNumber(name, text, range, value);
}

Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  uint64_t& value) {
  return ParseNumber(name, text, range, value);
}

Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  double& value) {
  return ParseNumber(name, text, range, value);
}

Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  bool& value) {
  if (text != "true" && text != "false") {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--{} is '{}'; it takes {}", name, text, range)};
  }
  value = text == "true";
  return {};
}

Status ParseValue(const std::string& /*name*/, const std::string& text,
                  const std::string& /*range*/, std::string& value) {
  value = text;
  return {};
}

Result<double> ParseDuration(const std::string& name, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}}};
  const char* range = "a time above zero such as 30s, 2m, 1h or 500ms";
  std::string_view number = text;
  double scale = 1.0;
  for (const auto& [unit, seconds] : kUnits) {
    if (number.ends_with(unit)) {
      number.remove_suffix(unit.size());
      scale = seconds;
      break;
    }
  }
  double value = 0;
  Status status = ParseNumber(name, std::string(number), range, value);
  if (!status || !std::isfinite(value * scale) || value * scale <= 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--{} is '{}'; it takes {}", name, text, range)};
  }
  return value * scale;
}

}  // namespace hyper::app
