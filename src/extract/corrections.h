// Finds where a text takes an answer back: "Wait, I made a mistake. It should be 6."
#pragma once

#include <string_view>
#include <vector>

#include "hyper/extract.h"

namespace hyper::extract {

// What `text`, all that follows an answer, announces in its place: views from the announced value
// to the end of its sentence, in order. Only what follows words that take the answer back counts. A
// line "Answer: 7" repeats or replaces an answer as ExtractOptions::box_or_label says, so it needs
// words that call the answer wrong; "wait" or "actually" are enough before prose. A question, a
// condition and a supposition ("one might think") correct nothing. Linear in the text.
std::vector<std::string_view> FindCorrections(std::string_view text, AnswerKind kind);

}  // namespace hyper::extract
