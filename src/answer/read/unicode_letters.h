// Code points that stand for other characters by their place or their shape, and those that
// cannot be read at all.
#pragma once

#include <string_view>

namespace hyper::answer {

// The ASCII character that a code point writes as an exponent or an index ("n" for U+207F); empty
// for any other code point.
std::string_view SuperscriptOf(char32_t code);
std::string_view SubscriptOf(char32_t code);

// The Latin or Greek letter or the digit that a mathematical alphanumeric symbol (U+1D400 to
// U+1D7FF) is a shape of; 0 for any other code point. `style` gets the LaTeX command that keeps
// shapes apart that mean something else ("\\mathbb"), empty for italic, bold and the like.
char32_t PlainShapeOf(char32_t code, std::string_view& style);

// Whether a code point that is mapped to nothing else changes the meaning of what it stands at: a
// combining mark, or a sign of mathematics. Taking it for a letter would make it a word.
bool IsUnreadable(char32_t code);

}  // namespace hyper::answer
