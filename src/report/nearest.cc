#include "src/report/nearest.h"

#include <algorithm>

#include "hyper/method.h"
#include "src/core/pool_stats.h"

namespace hyper {
namespace {

// Whether `word` is `candidate` with two neighbouring letters swapped.
bool IsSwapped(std::string_view word, std::string_view candidate) {
  const auto [at, other] =
      std::mismatch(word.begin(), word.end(), candidate.begin(), candidate.end());
  return word.size() == candidate.size() && word.end() - at >= 2 && at[0] == other[1] &&
         at[1] == other[0] && std::equal(at + 2, word.end(), other + 2);
}

// Edits between the two; a swap is one, as is all that a beginning of four letters lacks.
size_t Edits(std::string_view word, std::string_view candidate) {
  constexpr size_t kBeginning = 4;
  if (IsSwapped(word, candidate) || (word.size() >= kBeginning && candidate.starts_with(word))) {
    return 1;
  }
  const auto letters = [](std::string_view text) {
    return std::vector<Token>(text.begin(), text.end());
  };
  return word == candidate ? 0 : Levenshtein(letters(word), letters(candidate));
}

}  // namespace

std::string Nearest(std::string_view word, std::span<const std::string> candidates) {
  size_t least = (word.size() + 2) / 3 + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = Edits(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const MethodInfo& method : Methods()) {
    names.push_back(method.name);
  }
  return names;
}

}  // namespace hyper
