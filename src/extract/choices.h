// Reads the label of an option out of words: "(C)", "option C", "I think it is C".
#pragma once

#include <string_view>

namespace hyper::extract {

// What a text says about the options.
struct Choice {
  char label = '\0';     // one of the options, NUL if none is named
  std::string_view raw;  // the letter or digit as written
  bool refused = false;  // the text says that it names none: "none of the above", "don't know"
};

// The option that `text`, announced as an answer, names: its first word if that is a label, or the
// first label after "is", "option" and the like. A letter is no label where it is a word ("I
// think", "A photon"), part of a formula or denied ("not B"); two labels together ("A or B") name
// none. Small letters count only where nothing else stands beside them.
//   options  labels in order, letters or digits; with digits, the letter A means the first label
Choice ReadChoice(std::string_view text, std::string_view options);

// Whether `text` starts with a letter that belongs to a formula: "I = V/R", "A \\cup B", "B(x)".
bool StartsFormula(std::string_view text, std::string_view options);

// The last label in `text` that is marked as one without being announced: "(B)", "**B**",
// "option B", "B is correct", or as what is left or settled on: "leaving B", "so it's B". No label
// if there is none.
//   judged_only  only labels that the text calls the answer: "B is correct"
Choice LastMarkedChoice(std::string_view text, std::string_view options, bool judged_only = false);

// The label of a line that starts with one and only then goes on: "C", "(C) 42", "C. Paris". A
// small letter needs brackets if more follows.
Choice LeadingChoice(std::string_view line, std::string_view options);

}  // namespace hyper::extract
