// Unicode mathematics as ASCII or LaTeX.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "src/answer/read/lexer.h"
#include "src/answer/read/unicode_letters.h"

namespace hyper::answer {
namespace {

struct Mapping {
  char32_t code;
  std::string_view ascii;
};

// Sorted by code point.
constexpr Mapping kMappings[] = {
    {0x00A0, " "},
    {0x00A3, "\\pounds "},
    {0x00AC, "\\neg "},
    {0x00B0, "^\\circ "},
    {0x00B1, "\\pm "},
    {0x00B7, "\\cdot "},
    {0x00BC, "\\frac{1}{4}"},
    {0x00BD, "\\frac{1}{2}"},
    {0x00BE, "\\frac{3}{4}"},
    {0x00D7, "\\times "},
    {0x00F7, "\\div "},
    {0x0391, "A"},
    {0x0392, "B"},
    {0x0393, "\\Gamma "},
    {0x0394, "\\Delta "},
    {0x0395, "E"},
    {0x0396, "Z"},
    {0x0397, "H"},
    {0x0398, "\\Theta "},
    {0x0399, "I"},
    {0x039A, "K"},
    {0x039B, "\\Lambda "},
    {0x039C, "M"},
    {0x039D, "N"},
    {0x039E, "\\Xi "},
    {0x039F, "O"},
    {0x03A0, "\\Pi "},
    {0x03A1, "P"},
    {0x03A3, "\\Sigma "},
    {0x03A4, "T"},
    {0x03A5, "Y"},
    {0x03A6, "\\Phi "},
    {0x03A7, "X"},
    {0x03A8, "\\Psi "},
    {0x03A9, "\\Omega "},
    {0x03B1, "\\alpha "},
    {0x03B2, "\\beta "},
    {0x03B3, "\\gamma "},
    {0x03B4, "\\delta "},
    {0x03B5, "\\epsilon "},
    {0x03B6, "\\zeta "},
    {0x03B7, "\\eta "},
    {0x03B8, "\\theta "},
    {0x03B9, "\\iota "},
    {0x03BA, "\\kappa "},
    {0x03BB, "\\lambda "},
    {0x03BC, "\\mu "},
    {0x03BD, "\\nu "},
    {0x03BE, "\\xi "},
    {0x03BF, "o"},
    {0x03C0, "\\pi "},
    {0x03C1, "\\rho "},
    {0x03C2, "\\sigma "},
    {0x03C3, "\\sigma "},
    {0x03C4, "\\tau "},
    {0x03C5, "\\upsilon "},
    {0x03C6, "\\phi "},
    {0x03C7, "\\chi "},
    {0x03C8, "\\psi "},
    {0x03C9, "\\omega "},
    {0x03D1, "\\theta "},
    {0x03D5, "\\phi "},
    {0x03F5, "\\epsilon "},
    {0x2000, " "},
    {0x2001, " "},
    {0x2002, " "},
    {0x2003, " "},
    {0x2004, " "},
    {0x2005, " "},
    {0x2006, " "},
    {0x2007, " "},
    {0x2008, " "},
    {0x2009, " "},
    {0x200A, " "},
    {0x200B, ""},
    {0x200E, ""},
    {0x200F, ""},
    {0x2010, "-"},
    {0x2011, "-"},
    {0x2012, "-"},
    {0x2013, "-"},
    {0x2014, "-"},
    {0x2018, "'"},
    {0x2019, "'"},
    {0x201C, "\""},
    {0x201D, "\""},
    {0x2026, "\\ldots "},
    {0x202F, " "},
    {0x2032, "'"},
    {0x2044, "/"},
    {0x205F, " "},
    {0x2060, ""},
    {0x2061, ""},
    {0x2062, ""},
    {0x2063, ""},
    {0x2064, ""},
    {0x20AC, "\\euro "},
    {0x2102, "\\mathbb{C}"},
    {0x210E, "h"},
    {0x210F, "\\hbar "},
    {0x2113, "\\ell "},
    {0x2115, "\\mathbb{N}"},
    {0x211A, "\\mathbb{Q}"},
    {0x211D, "\\mathbb{R}"},
    {0x2124, "\\mathbb{Z}"},
    {0x2147, "e"},
    {0x2148, "i"},
    {0x2150, "\\frac{1}{7}"},
    {0x2151, "\\frac{1}{9}"},
    {0x2152, "\\frac{1}{10}"},
    {0x2153, "\\frac{1}{3}"},
    {0x2154, "\\frac{2}{3}"},
    {0x2155, "\\frac{1}{5}"},
    {0x2156, "\\frac{2}{5}"},
    {0x2157, "\\frac{3}{5}"},
    {0x2158, "\\frac{4}{5}"},
    {0x2159, "\\frac{1}{6}"},
    {0x215A, "\\frac{5}{6}"},
    {0x215B, "\\frac{1}{8}"},
    {0x215C, "\\frac{3}{8}"},
    {0x215D, "\\frac{5}{8}"},
    {0x215E, "\\frac{7}{8}"},
    {0x2192, "\\to "},
    {0x21D2, "\\Rightarrow "},
    {0x2200, "\\forall "},
    {0x2203, "\\exists "},
    {0x2205, "\\emptyset "},
    {0x2206, "\\Delta "},
    {0x2208, "\\in "},
    {0x2211, "\\sum "},
    {0x2212, "-"},
    {0x2213, "\\mp "},
    {0x2215, "/"},
    {0x2216, "\\setminus "},
    {0x2217, "*"},
    {0x2218, "\\circ "},
    {0x2219, "\\cdot "},
    {0x221E, "\\infty "},
    {0x2220, "\\angle "},
    {0x2223, "\\mid "},
    {0x2227, "\\land "},
    {0x2228, "\\lor "},
    {0x2229, "\\cap "},
    {0x222A, "\\cup "},
    {0x222B, "\\int "},
    {0x2236, ":"},
    {0x2248, "\\approx "},
    {0x2260, "\\neq "},
    {0x2261, "\\equiv "},
    {0x2264, "\\leq "},
    {0x2265, "\\geq "},
    {0x2266, "\\leq "},
    {0x2267, "\\geq "},
    {0x22C5, "\\cdot "},
    {0x22EF, "\\ldots "},
    {0x2308, "\\lceil "},
    {0x2309, "\\rceil "},
    {0x230A, "\\lfloor "},
    {0x230B, "\\rfloor "},
    {0x27E8, "\\langle "},
    {0x27E9, "\\rangle "},
    {0x2A7D, "\\leq "},
    {0x2A7E, "\\geq "},
    {0x3000, " "},
    {0x3001, ","},
    {0x3002, "."},
    {0xFE0E, ""},
    {0xFE0F, ""},
    {0xFEFF, ""},
};

// Length of the UTF-8 sequence at text[at] and its code point; 0 for an invalid one.
size_t Decode(std::string_view text, size_t at, char32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  code = length == 1 ? lead : lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

// A run of raised or lowered characters at `at` as one group: U+00B9 U+2070 is "^{10}".
size_t FoldScripts(std::string_view text, size_t at, std::string& out) {
  char32_t code = 0;
  Decode(text, at, code);
  const bool raised = !SuperscriptOf(code).empty();
  const auto read = raised ? SuperscriptOf : SubscriptOf;
  out += raised ? "^{" : "_{";
  while (at < text.size()) {
    const size_t length = Decode(text, at, code);
    const std::string_view ascii = length == 0 ? std::string_view() : read(code);
    if (ascii.empty()) break;
    out += ascii;
    at += length;
  }
  out += '}';
  return at;
}

// The number under a root sign, which reaches over all its digits: U+221A 17 is "\sqrt{17}". `at`
// is behind the sign; so is the place returned where no number stands there.
size_t FoldRadicand(std::string_view text, size_t at, std::string& out) {
  const auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  size_t end = at;
  while (digit(end)) ++end;
  if (end < text.size() && text[end] == '.' && digit(end + 1)) {
    ++end;
    while (digit(end)) ++end;
  }
  // "1,234" may be one number or two: left to the reader.
  const bool grouped = end - at <= 3 && end < text.size() && text[end] == ',' && digit(end + 1) &&
                       digit(end + 2) && digit(end + 3) && !digit(end + 4);
  if (end == at || grouped) return at;
  out += '{';
  out += text.substr(at, end - at);
  out += '}';
  return end;
}

std::string_view MappingOf(char32_t code) {
  const auto* const found = std::lower_bound(
      std::begin(kMappings), std::end(kMappings), code,
      [](const Mapping& mapping, char32_t wanted) { return mapping.code < wanted; });
  const bool there = found != std::end(kMappings) && found->code == code;
  // Null where there is none: some code points are mapped to nothing.
  return there ? found->ascii : std::string_view();
}

// One code point, `bytes` as written.
void FoldCharacter(char32_t code, std::string_view bytes, std::string& out) {
  if (const std::string_view mapped = MappingOf(code); mapped.data() != nullptr) {
    out += mapped;
  } else if (code >= 0xFF01 && code <= 0xFF5E) {
    out += static_cast<char>(code - 0xFF01 + '!');  // full-width forms
  } else if (std::string_view style; const char32_t plain = PlainShapeOf(code, style)) {
    if (plain >= 0x80) {
      out += MappingOf(plain);
    } else if (style.empty()) {
      out += static_cast<char>(plain);
    } else {
      out += style;
      out += {'{', static_cast<char>(plain), '}'};
    }
  } else if (IsUnreadable(code)) {
    out += kUnreadableCommand;
    out += ' ';
    out += bytes;
  } else {
    out += bytes;
  }
}

}  // namespace

bool FoldUnicode(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    char32_t code = 0;
    const size_t length = Decode(text, at, code);
    const bool control = code < 0x20 && code != '\n' && code != '\t' && code != '\r';
    if (length == 0 || control || code == 0x7F || code == 0xFFFD) return false;
    if (!SuperscriptOf(code).empty() || !SubscriptOf(code).empty()) {
      at = FoldScripts(text, at, out);
    } else if (code >= 0x221A && code <= 0x221C) {
      out += code == 0x221A ? "\\sqrt " : code == 0x221B ? "\\sqrt[3] " : "\\sqrt[4] ";
      at = FoldRadicand(text, at + length, out);
    } else {
      FoldCharacter(code, text.substr(at, length), out);
      at += length;
    }
  }
  return true;
}

}  // namespace hyper::answer
