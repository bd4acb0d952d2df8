// Fuzzes the reader of mathematics: it returns a tree or a reason, within its budget.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/answer/evaluate.h"
#include "src/answer/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hyper::Budget budget(100'000, std::size_t{32} << 20);
  hyper::ReaderOptions options;
  const hyper::Reading reading = hyper::ReadAnswer(text, options, budget);
  if (reading.tree.root == hyper::kNoNode) {
    if (reading.error.empty()) std::abort();
    return 0;
  }
  if (reading.normalised.empty()) std::abort();
  (void)hyper::StructuralKey(reading.tree, reading.tree.root, budget);
  return 0;
}
