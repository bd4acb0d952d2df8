// Fuzzes the equivalence: two answers split at the first line break, policies from the first byte.
// Beyond not crashing: the verdict is symmetric, an answer equals itself, equal keys are equal
// answers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hyper/equal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  hyper::EqualOptions options;
  const unsigned policies = data[0];
  options.rounded = (policies & 1U) != 0;
  options.allow_renamed_constants = (policies & 2U) != 0;
  options.ignore_units = (policies & 4U) == 0;
  options.base = (policies & 8U) != 0 ? 7 : 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = text.find('\n');
  const std::string_view gold = text.substr(0, split);
  const std::string_view answer =
      split == std::string_view::npos ? std::string_view() : text.substr(split + 1);
  const hyper::Verdict verdict = hyper::AnswersEqual(gold, answer, options).verdict;
  if (hyper::AnswersEqual(answer, gold, options).verdict != verdict) {
    std::abort();
  }
  if (hyper::AnswersEqual(gold, gold, options).verdict == hyper::Verdict::kNotEqual) {
    std::abort();
  }
  const std::string key = hyper::CanonicalKey(gold, options);
  const bool same_key = !key.empty() && key == hyper::CanonicalKey(answer, options);
  if (same_key && verdict == hyper::Verdict::kNotEqual) {
    std::abort();
  }
  return 0;
}
