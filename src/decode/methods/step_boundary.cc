#include "src/decode/methods/step_boundary.h"

#include <algorithm>

namespace hyper {

bool StepBoundary::Push(std::string_view text) {
  // The delimiter may have begun in earlier tokens.
  const size_t before = text_.size();
  const size_t overlap = std::min(before, delimiter_.size() - 1);
  text_ += text;
  ++tokens_;
  const size_t written = text_.find_first_not_of(" \t\r\n");
  const bool found =
      written != std::string::npos &&
      text_.find(delimiter_, std::max(before - overlap, written + 1)) != std::string::npos;
  return found || tokens_ >= limit_;
}

std::vector<StepSpan> SplitSteps(const Engine& engine, const Path& path,
                                 const std::string& delimiter, int limit) {
  std::vector<StepSpan> steps;
  StepBoundary boundary(delimiter, limit);
  int begin = 0;
  for (int i = 0; i < path.length(); ++i) {
    const bool over = boundary.Push(engine.TokenText(path.tokens[static_cast<size_t>(i)]));
    if (over || i + 1 == path.length()) {
      steps.push_back({path.id, begin, i + 1});
      begin = i + 1;
      boundary = StepBoundary(delimiter, limit);
    }
  }
  return steps;
}

}  // namespace hyper
