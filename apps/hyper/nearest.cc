#include "apps/hyper/nearest.h"

#include "hyper/method.h"
#include "src/core/pool_stats.h"

namespace hyper::app {

std::string Nearest(std::string_view word, std::span<const std::string> candidates) {
  const auto letters = [](std::string_view text) {
    return std::vector<Token>(text.begin(), text.end());
  };
  const std::vector<Token> wanted = letters(word);
  size_t least = (word.size() + 2) / 3 + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = Levenshtein(wanted, letters(candidate));
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

}  // namespace hyper::app
