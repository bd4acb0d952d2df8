// What the prose around an answer says about it: notes behind it, and the language that its numbers
// are written in.
#pragma once

#include <string_view>

namespace hyper::extract {

// `text` without the lines at its end that are notes: "Note: ...", "P.S. ...", or a line in
// parentheses. All of it where nothing else is there.
std::string_view WithoutNotes(std::string_view text);

// Whether `text`, what follows a value, goes on to compute with it: an equality sign, "so",
// "total".
bool GoesOnComputing(std::string_view text);

// Whether `text` is in a language that groups digits by dots and has a decimal comma: German,
// Spanish, Italian, Portuguese, Dutch and others, told by their common words.
bool WritesDecimalComma(std::string_view text);

}  // namespace hyper::extract
