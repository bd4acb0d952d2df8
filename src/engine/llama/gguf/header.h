// Reads and checks the header of a GGUF file, before llama.cpp sees it: llama.cpp aborts on some
// broken headers and maps cut files into memory, where the missing part is a SIGBUS.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "hyper/result.h"

namespace hyper::llama {

// A scalar or text of the metadata; arrays only with their numbers (texts of arrays are skipped).
using GgufValue = std::variant<uint64_t, int64_t, double, bool, std::string, std::vector<int64_t>>;

struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape;
  int type = 0;         // a ggml_type
  uint64_t offset = 0;  // from the start of the data section
  uint64_t bytes = 0;
};

struct GgufHeader {
  std::map<std::string, GgufValue> values;
  std::vector<GgufTensor> tensors;
  int64_t file_bytes = 0;

  // The value of `key`, or the given one where it is missing or of another kind. Arrays of numbers
  // answer Integer with their largest element.
  int64_t Integer(const std::string& key, int64_t missing) const;
  std::string Text(const std::string& key, const std::string& missing) const;
  bool IsList(const std::string& key) const;
};

// The header of `path`, after checks that every key, type, size and offset is sound and that the
// file is as long as its tensors need.
// Errors: kNotFound, kInvalidArgument (folder, permission), kDataLoss (empty, not GGUF, broken).
Result<GgufHeader> ReadGgufHeader(const std::string& path);

// `text` in quotes on one line; see base::OneLine.
std::string Quoted(const std::string& text);

}  // namespace hyper::llama
