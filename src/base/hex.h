// Bytes as hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace hyper::base {

// Two lower-case digits for each byte. Pure.
inline std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

}  // namespace hyper::base
