#include "src/decode/names.h"

#include <fmt/format.h>

#include "hyper/records.h"

namespace hyper {

std::optional<std::string> UnescapeDelimiter(const std::string& escaped) {
  std::string text;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      text += escaped[i];
      continue;
    }
    const char code = i + 1 < escaped.size() ? escaped[++i] : '\0';
    if (code != 'n' && code != 't' && code != '\\') {
      return std::nullopt;
    }
    text += code == 'n' ? '\n' : code == 't' ? '\t' : '\\';
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string PruneReason(double window_mean, double threshold) {
  return fmt::format("window mean {:.4f} fell below the threshold {:.4f}", window_mean, threshold);
}

const char* PathStatusName(PathStatus status) {
  switch (status) {
    case PathStatus::kRunning:
      return "running";
    case PathStatus::kFinished:
      return "finished";
    case PathStatus::kPruned:
      return "pruned";
    case PathStatus::kLength:
      return "length";
    case PathStatus::kMerged:
      return "merged";
    case PathStatus::kDegenerate:
      return "degenerate";
    case PathStatus::kCancelled:
      return "cancelled";
    case PathStatus::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace hyper
