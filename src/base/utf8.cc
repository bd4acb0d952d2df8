#include "src/base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

namespace hyper::base {

Character CharacterAt(std::string_view text, size_t at) {
  constexpr size_t kLongest = 4;
  const std::string_view rest = text.substr(std::min(at, text.size())).substr(0, kLongest);
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                       static_cast<utf8proc_ssize_t>(rest.size()), &code);
  return length > 0 ? Character{static_cast<char32_t>(code), static_cast<size_t>(length)}
                    : Character{};
}

size_t CountCharacters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), GoesOn));
}

size_t IncompleteTail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const std::string tail(text.substr(text.size() - back));
    const auto lead = static_cast<unsigned char>(tail[0]);
    if (GoesOn(tail[0])) {
      continue;  // inside a character
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    // What begins a character is completed by the lowest bytes that may follow, or the highest.
    const auto completed_by = [&](char byte) {
      return CharacterAt(tail + std::string(length - back, byte), 0).length == length;
    };
    return back < length && (completed_by('\x80') || completed_by('\xBF')) ? back : 0;
  }
  return 0;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = CharacterAt(text, at).length;
    valid += length > 0 ? text.substr(at, length) : "\xEF\xBF\xBD";
    at += std::max<size_t>(length, 1);
  }
  return valid;
}

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = CharacterAt(text, at);
    if (code == '\n') {
      line += "\\n";
    } else if (code == '\t') {
      line += "\\t";
    } else if (length == 0 || code < 0x20 || code == 0x7F) {
      line += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
    } else {
      line += text.substr(at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return line;
}

}  // namespace hyper::base
