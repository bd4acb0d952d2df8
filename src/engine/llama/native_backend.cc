#include "src/engine/llama/native_backend.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace hyper::llama {

std::string_view ProcessorFeatures(std::string_view cpuinfo) {
  constexpr std::string_view kKey = "flags";
  constexpr std::string_view kBlanks = " \t";
  while (!cpuinfo.empty()) {
    const size_t end = cpuinfo.find('\n');
    std::string_view line = cpuinfo.substr(0, end);
    cpuinfo.remove_prefix(end == std::string_view::npos ? cpuinfo.size() : end + 1);
    if (line.substr(0, kKey.size()) != kKey) {
      continue;
    }
    line.remove_prefix(kKey.size());
    const size_t colon = line.find_first_not_of(kBlanks);
    if (colon == std::string_view::npos || line[colon] != ':') {
      continue;
    }
    line.remove_prefix(colon + 1);
    const size_t first = line.find_first_not_of(kBlanks);
    return first == std::string_view::npos
               ? std::string_view()
               : line.substr(first, line.find_last_not_of(kBlanks) + 1 - first);
  }
  return {};
}

std::string NativeBackend(const std::string& folder, std::string_view cpuinfo) {
  const std::filesystem::path native = std::filesystem::path(folder) / "native";
  const std::filesystem::path library = native / "libggml-cpu.so";
  std::string compiled_on;
  std::ifstream file(native / "processor");
  const std::string_view features = ProcessorFeatures(cpuinfo);
  std::error_code error;
  const bool fits = std::getline(file, compiled_on) && !features.empty() && compiled_on == features;
  return fits && std::filesystem::is_regular_file(library, error) ? library.string() : "";
}

}  // namespace hyper::llama
