// Finds the phrases that announce an answer: "the answer is", "Answer:", <answer>, in many
// languages.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "hyper/extract.h"

namespace hyper::extract {

// A phrase and the text that it announces.
struct Label {
  std::string_view value;      // to the end of its line, or of the formula that starts on it; never
                               // past the next phrase; may be empty
  std::string_view passage;    // the same, up to the next phrase or the end of the text
  bool delimited = false;      // <answer>...</answer>: `passage` is all of the answer
  size_t begin = 0;            // where the phrase starts in the text
  bool explicit_mark = false;  // with a colon or tag: what follows is the answer, not prose
};

// The phrases of `text`, in order. For kChoice also "option", "choice" and the like.
std::vector<Label> FindLabels(std::string_view text, AnswerKind kind);

}  // namespace hyper::extract
