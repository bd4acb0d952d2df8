// UTF-8: reading characters, and what to do with bytes that are none. Well-formed is what Unicode
// calls so: no overlong form, no surrogate, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyper::base {

struct Character {
  char32_t code = 0;
  size_t length = 0;  // in bytes, 1 to 4; 0: no well-formed character begins there
};

// The character that begins at `text[at]`; of length 0 at the end of the text. Pure, as all here.
Character CharacterAt(std::string_view text, size_t at);

// Whether a byte goes on with a character that began before it.
constexpr bool GoesOn(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Characters of a well-formed text.
size_t CountCharacters(std::string_view text);

// Bytes at the end of `text`, 0 to 3, that begin a character but do not complete it.
size_t IncompleteTail(std::string_view text);

// `text` with U+FFFD for each byte that belongs to no character.
std::string ValidUtf8(std::string_view text);

// `text` on one line: a line feed as \n, a tab as \t, other control characters and each byte that
// belongs to no character as \xE9.
std::string OneLine(std::string_view text);

}  // namespace hyper::base
