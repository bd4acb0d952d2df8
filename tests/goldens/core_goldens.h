// The committed values of core_goldens.py, for the tests of src/core.
#pragma once

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hyper/types.h"

namespace hyper {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

// A section of core_goldens.json; empty when the file cannot be read, which tests must refuse.
inline nlohmann::json CoreGoldens(const std::string& section) {
  std::ifstream file(HYPER_SOURCE_DIR "/tests/goldens/core_goldens.json");
  if (!file) {
    return {};
  }
  return nlohmann::json::parse(file).value(section, nlohmann::json());
}

// A number; non-finite ones are stored as strings.
inline double GoldenNumber(const nlohmann::json& value) {
  if (!value.is_string()) {
    return value.get<double>();
  }
  if (value == "inf") {
    return kInfinity;
  }
  if (value == "-inf") {
    return -kInfinity;
  }
  return kNan;
}

inline std::vector<float> GoldenFloats(const nlohmann::json& values) {
  std::vector<float> floats;
  for (const auto& value : values) {
    floats.push_back(static_cast<float>(GoldenNumber(value)));
  }
  return floats;
}

// A top list, stored as [[token, log-probability], ...].
inline std::vector<TokenLogprob> GoldenTop(const nlohmann::json& values) {
  std::vector<TokenLogprob> top;
  for (const auto& value : values) {
    top.push_back({value[0].get<Token>(), static_cast<float>(GoldenNumber(value[1]))});
  }
  return top;
}

}  // namespace hyper
