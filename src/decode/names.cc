#include "src/decode/names.h"

#include <fmt/format.h>

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

}  // namespace hyper
