#include "hyper/model_defaults.h"

#include <array>
#include <optional>
#include <sstream>
#include <variant>

#include "src/engine/llama/gguf/header.h"

namespace hyper {
namespace {

struct Recommended {
  const char* key;
  const char* option;
  double least;
  double most;
};

constexpr auto kRecommended = std::to_array<Recommended>({
    {"general.sampling.temp", "temperature", 0, 100},
    {"general.sampling.top_k", "top-k", 0, 1 << 20},
    {"general.sampling.top_p", "top-p", 1e-6, 1},
    {"general.sampling.min_p", "min-p", 0, 0.999999},
});

std::optional<double> NumberOf(const llama::GgufValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

// Files keep 32-bit floats: six digits are all that was meant.
std::string TextOf(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> RecommendedSampling(
    const std::string& model_path) {
  const Result<llama::GgufHeader> header = llama::ReadGgufHeader(model_path);
  if (!header) return header.error();
  std::vector<std::pair<std::string, std::string>> sampling;
  for (const Recommended& one : kRecommended) {
    const auto found = header->values.find(one.key);
    if (found == header->values.end()) continue;
    const std::optional<double> number = NumberOf(found->second);
    // A comparison with NaN is false.
    if (number && *number >= one.least && *number <= one.most) {
      sampling.emplace_back(one.option, TextOf(*number));
    }
  }
  return sampling;
}

}  // namespace hyper
