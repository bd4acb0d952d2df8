// A model file of any bytes: an error in words, or tensors that lie within the file. Checks of the
// header take whatever numbers it has.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/require.h"
#include "src/engine/llama/gguf/counts.h"
#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/moe_router.h"

using hyper::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("gguf", 0);
  Require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
  const auto header = hyper::llama::ReadGgufHeader("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (!header) {
    Require(!header.error().message.empty());
    Require(header.error().message.find('\n') == std::string::npos);
    return 0;
  }
  Require(header->file_bytes == static_cast<int64_t>(size));
  for (const hyper::llama::GgufTensor& tensor : header->tensors) {
    Require(tensor.bytes <= size && tensor.offset <= size - tensor.bytes);
  }
  const hyper::Status counts = hyper::llama::CheckCounts(*header, "m");
  Require(counts.ok() || counts.error().message.find('\n') == std::string::npos);
  Require(hyper::llama::DescribeRouter(*header).layers >= 0);
  return 0;
}
