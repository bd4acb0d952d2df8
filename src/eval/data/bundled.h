// Files that travel inside the library: the suites of suites/, the questions of tinymath and the
// paper's numbers.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace hyper::eval {

struct BundledFile {
  std::string_view name;   // such as "suites/gsm8k.json"
  std::string_view bytes;  // valid for the life of the program
};

// All of them, in the order of the build's list (generated source).
std::span<const BundledFile> BundledFiles();

// The bytes of the file of that name, or nothing. Pure.
inline std::optional<std::string_view> FindBundledFile(std::string_view name) {
  for (const BundledFile& file : BundledFiles()) {
    if (file.name == name) {
      return file.bytes;
    }
  }
  return std::nullopt;
}

}  // namespace hyper::eval
