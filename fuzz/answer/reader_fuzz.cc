// Fuzzes the reader of mathematics: it returns a tree or a reason, within its budget.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/answer/read/reader.h"
#include "src/answer/values/evaluate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hyper::answer::Budget budget(100'000, std::size_t{32} << 20);
  hyper::answer::ReaderOptions options;
  const hyper::answer::Reading reading = hyper::answer::ReadAnswer(text, options, budget);
  if (reading.tree.root == hyper::answer::kNoNode) {
    if (reading.error.empty()) {
      std::abort();
    }
    return 0;
  }
  if (reading.normalised.empty()) {
    std::abort();
  }
  (void)hyper::answer::StructuralKey(reading.tree, reading.tree.root, budget);
  return 0;
}
