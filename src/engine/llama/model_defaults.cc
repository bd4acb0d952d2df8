#include "hyper/model_defaults.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <variant>

#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/model.h"
#include "src/engine/llama/moe_router.h"

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
  if (const auto* number = std::get_if<double>(&value)) {
    return *number;
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*number);
  }
  return std::nullopt;
}

// Files keep 32-bit floats: six digits are all that was meant.
std::string TextOf(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

OptionValues SamplingOf(const llama::GgufHeader& header) {
  OptionValues sampling;
  for (const Recommended& one : kRecommended) {
    const auto found = header.values.find(one.key);
    if (found == header.values.end()) {
      continue;
    }
    const std::optional<double> number = NumberOf(found->second);
    // A comparison with NaN is false.
    if (number && *number >= one.least && *number <= one.most) {
      sampling.emplace_back(one.option, TextOf(*number));
    }
  }
  return sampling;
}

}  // namespace

namespace llama {

bool TemplateReasons(std::string_view chat_template) {
  constexpr std::array<std::string_view, 4> kMarks = {"<think>", "enable_thinking",
                                                      "reasoning_content", "<|channel|>"};
  return std::any_of(kMarks.begin(), kMarks.end(), [chat_template](std::string_view mark) {
    return chat_template.find(mark) != std::string_view::npos;
  });
}

ModelInfo DescribeModel(const GgufHeader& header, const std::string& path) {
  ModelInfo info;
  info.architecture = header.Text("general.architecture", "");
  info.name = header.Text("general.name", std::filesystem::path(path).stem().string());
  const std::string& prefix = info.architecture;
  info.expert_count = static_cast<int>(header.Integer(prefix + ".expert_count", 0));
  info.expert_used_count = static_cast<int>(header.Integer(prefix + ".expert_used_count", 0));
  info.moe_layer_count = DescribeRouter(header).layers;
  info.context_train_tokens = static_cast<int>(header.Integer(prefix + ".context_length", 4096));
  info.bytes = header.file_bytes;
  const std::string chat_template = header.Text("tokenizer.chat_template", "");
  info.has_chat_template = !chat_template.empty();
  info.reasons = TemplateReasons(chat_template);
  const std::string file = std::filesystem::path(path).filename().string();
  info.preset = header.Text("hyper.preset", file.starts_with(kBundledFamily) ? "short" : "");
  info.sampling = SamplingOf(header);
  return info;
}

}  // namespace llama

Result<ModelInfo> ReadModelInfo(const std::string& model_path) {
  const Result<llama::GgufHeader> header = llama::ReadGgufHeader(model_path);
  if (!header) {
    return header.error();
  }
  return llama::DescribeModel(*header, model_path);
}

}  // namespace hyper
