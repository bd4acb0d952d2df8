// Normal forms of raw answers, one per kind; they take wrappers off and never change the meaning.
#pragma once

#include <string>
#include <string_view>

namespace hyper::extract {

// `raw` without what only wraps it: blanks, `$` and other math delimiters, bold, quotes, \boxed,
// \text and its like around the whole, a trailing full stop. A plain number gets its canonical
// form; of a chain "a = b = c" the last member stays. May be empty.
std::string NormalMath(std::string_view raw);

// The number that `raw` gives, canonical: of "m+n = 256+37 = 293" it is "293", of "35 cm" and
// "\$35" it is "35". What is no single plain number keeps its form of NormalMath.
std::string NormalInteger(std::string_view raw);

// `raw` without markdown, quotes and \text around it and without the full stop; runs of white
// space become one blank. Upper and lower case stay. May be empty.
std::string NormalText(std::string_view raw);

// Whether `text` ends in a command without what belongs to it, as where a text was cut off:
// "\\boxed",
// "\\frac{1}".
bool LacksArgument(std::string_view text);

// Whether `normal` says nothing: empty, an ellipsis, or an echo of the instruction such as
// "your answer", a command without its argument.
bool IsPlaceholder(std::string_view normal);

}  // namespace hyper::extract
