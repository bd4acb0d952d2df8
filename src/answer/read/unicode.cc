// Unicode mathematics as ASCII or LaTeX.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "src/answer/read/lexer.h"
#include "src/base/utf8.h"

namespace hyper::answer {
namespace {

struct Mapping {
  char32_t code;
  std::string_view ascii;
};

// Signs that stand for a command, sorted by code point. Letters, digits, fractions and spaces
// follow from the Unicode tables.
constexpr Mapping kMappings[] = {
    {0x00A3, "\\pounds "},
    {0x00AC, "\\neg "},
    {0x00B0, "^\\circ "},
    {0x00B1, "\\pm "},
    {0x00B7, "\\cdot "},
    {0x00D7, "\\times "},
    {0x00F7, "\\div "},
    {0x2018, "'"},
    {0x2019, "'"},
    {0x201C, "\""},
    {0x201D, "\""},
    {0x2026, "\\ldots "},
    {0x2032, "'"},
    {0x2033, "''"},
    {0x2044, "/"},
    {0x20AC, "\\euro "},
    {0x2102, "\\mathbb{C}"},
    {0x2103, "^\\circ C "},
    {0x2109, "^\\circ F "},
    {0x210E, "h"},
    {0x210F, "\\hbar "},
    {0x2113, "\\ell "},
    {0x2115, "\\mathbb{N}"},
    {0x211A, "\\mathbb{Q}"},
    {0x211D, "\\mathbb{R}"},
    {0x2124, "\\mathbb{Z}"},
    {0x2126, "\\Omega "},
    {0x2147, "e"},
    {0x2148, "i"},
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
    {0x3001, ","},
    {0x3002, "."},
    {0xFE0E, ""},
    {0xFE0F, ""},
};

// U+03B1 on; U+03C2 is the sigma at the end of a word. A capital is its own command or a Latin one.
constexpr std::string_view kGreekNames[] = {
    "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta", "eta",  "theta", "iota",
    "kappa", "lambda", "mu",      "nu",    "xi",      "o",    "pi",   "rho",   "sigma",
    "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",  "omega"};
constexpr std::string_view kCapitals = "AB  EZH IK MN O P  TY X  ";

struct Range {
  char32_t first;
  char32_t last;
};

// Sorted. Units, currencies and quotes among these blocks are left out.
constexpr Range kUnreadable[] = {{0x00A8, 0x00A8}, {0x00AF, 0x00AF},   {0x00B4, 0x00B4},
                                 {0x00B8, 0x00B8}, {0x02B0, 0x02B8},  // raised letters
                                 {0x02C2, 0x02DF},                    // accents
                                 {0x02E0, 0x02E4}, {0x0300, 0x036F},  // combining marks
                                 {0x03D0, 0x03D7}, {0x03F0, 0x03F6},  // Greek symbols
                                 {0x1AB0, 0x1AFF}, {0x1D2C, 0x1D6A},  // raised and lowered letters
                                 {0x1D78, 0x1D78}, {0x1D9B, 0x1DFF},   {0x2016, 0x2017},
                                 {0x2020, 0x2027}, {0x2030, 0x2038},   {0x203B, 0x205E},
                                 {0x2061, 0x209F}, {0x20D0, 0x20FF},  // combining marks for symbols
                                 {0x2100, 0x2102}, {0x2104, 0x2108},   {0x210A, 0x2115},
                                 {0x2118, 0x211F}, {0x2123, 0x2129},   {0x212C, 0x2138},
                                 {0x213C, 0x218B},  // letterlike symbols, fractions, Roman numerals
                                 {0x2190, 0x23FF},  // arrows, operators, technical signs
                                 {0x25A0, 0x25FF},  // geometric shapes
                                 {0x27C0, 0x27FF}, {0x2900, 0x2AFF},   {0x2C7C, 0x2C7D},
                                 {0xFE20, 0xFE2F}, {0x1D400, 0x1D7FF}, {0x1EE00, 0x1EEFF}};

const utf8proc_property_t& PropertyOf(char32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}

// The characters that a code point is a shape of, as Unicode says; empty for more than four.
std::u32string Decomposed(char32_t code) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  std::array<utf8proc_int32_t, 4> parts{};
  int last_class = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                             parts.size(), kOptions, &last_class);
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
    return {};
  }
  return {parts.begin(), parts.begin() + count};
}

std::string GreekLetter(char32_t code) {
  if (code >= 0x03B1 && code < 0x03B1 + std::size(kGreekNames)) {
    const std::string_view name = kGreekNames[code - 0x03B1];
    return name == "o" ? "o" : "\\" + std::string(name) + ' ';
  }
  // U+03A2 is no letter.
  if (code < 0x0391 || code >= 0x0391 + kCapitals.size() || code == 0x03A2) {
    return {};
  }
  const size_t place = code - 0x0391;
  if (kCapitals[place] != ' ') {
    return std::string(1, kCapitals[place]);
  }
  std::string name(kGreekNames[place]);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return "\\" + name + ' ';
}

const Mapping* MappingOf(char32_t code) {
  const auto* const found = std::lower_bound(
      std::begin(kMappings), std::end(kMappings), code,
      [](const Mapping& mapping, char32_t wanted) { return mapping.code < wanted; });
  return found != std::end(kMappings) && found->code == code ? found : nullptr;
}

// The ASCII or LaTeX of what a code point writes raised or lowered ("n" for U+207F); empty for any
// other. `raised` tells which.
std::string ScriptOf(char32_t code, bool& raised) {
  // The ordinal signs are no exponents.
  if (code < 0x00B2 || code == 0x00BA) {
    return {};
  }
  const auto type = PropertyOf(code).decomp_type;
  raised = type == UTF8PROC_DECOMP_TYPE_SUPER;
  if (!raised && type != UTF8PROC_DECOMP_TYPE_SUB) {
    return {};
  }
  const std::u32string plain = Decomposed(code);
  if (plain.size() != 1) {
    return {};
  }
  if (plain[0] == 0x2212) {
    return "-";
  }
  return plain[0] < 0x80 ? std::string(1, static_cast<char>(plain[0])) : GreekLetter(plain[0]);
}

// A mathematical alphanumeric symbol (U+1D400 to U+1D7FF) as the letter or digit it is a shape of;
// empty for one that is none. Script, fraktur and double-struck letters are names of their own.
std::string LetterOf(char32_t code) {
  constexpr char32_t kLatin = 0x1D400;
  constexpr char32_t kDotless = 0x1D6A4;
  constexpr char32_t kGreekShapes = 0x1D6A8;
  constexpr char32_t kDigits = 0x1D7CE;
  constexpr char32_t kShapes = 58;  // of the Greek letters, of which the last is another pi
  const std::u32string plain = Decomposed(code);
  const bool other_pi =
      code >= kGreekShapes && code < kDigits && (code - kGreekShapes) % kShapes == kShapes - 1;
  if (plain.size() != 1 || other_pi || (code >= kDotless && code < kGreekShapes)) {
    return {};
  }
  if (plain[0] >= 0x80) {
    return GreekLetter(plain[0]);
  }
  constexpr std::string_view kStyles[] = {"",          "",           "",         "\\mathcal",
                                          "\\mathcal", "\\mathfrak", "\\mathbb", "\\mathfrak"};
  const char32_t alphabet = (code - kLatin) / 52;
  const std::string letter(1, static_cast<char>(plain[0]));
  const bool styled = alphabet < std::size(kStyles) && !kStyles[alphabet].empty();
  return styled ? std::string(kStyles[alphabet]) + '{' + letter + '}' : letter;
}

// Whether a code point that is mapped to nothing else changes the meaning of what it stands at: a
// combining mark, or a sign of mathematics. Taking it for a letter would make it a word.
bool IsUnreadable(char32_t code) {
  const auto* const after =
      std::upper_bound(std::begin(kUnreadable), std::end(kUnreadable), code,
                       [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != std::begin(kUnreadable) && code <= std::prev(after)->last;
}

// "\frac{1}{4}" for U+00BC; empty for what is no fraction.
std::string FractionOf(char32_t code) {
  if (PropertyOf(code).decomp_type != UTF8PROC_DECOMP_TYPE_FRACTION) {
    return {};
  }
  const std::u32string plain = Decomposed(code);
  const size_t bar = plain.find(U'\u2044');
  if (bar == plain.npos || bar + 1 == plain.size()) {
    return {};
  }
  return "\\frac{" + std::string(plain.begin(), plain.begin() + static_cast<long>(bar)) + "}{" +
         std::string(plain.begin() + static_cast<long>(bar) + 1, plain.end()) + '}';
}

// A run of raised or lowered characters at `at` as one group: U+00B9 U+2070 is "^{10}".
size_t FoldScripts(std::string_view text, size_t at, std::string& out) {
  bool raised = false;
  ScriptOf(base::CharacterAt(text, at).code, raised);
  out += raised ? "^{" : "_{";
  while (at < text.size()) {
    const auto [code, length] = base::CharacterAt(text, at);
    bool next_raised = false;
    const std::string script = ScriptOf(code, next_raised);
    if (script.empty() || next_raised != raised) {
      break;
    }
    out += script;
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
  while (digit(end)) {
    ++end;
  }
  if (end < text.size() && text[end] == '.' && digit(end + 1)) {
    ++end;
    while (digit(end)) {
      ++end;
    }
  }
  // "1,234" may be one number or two: left to the reader.
  const bool grouped = end - at <= 3 && end < text.size() && text[end] == ',' && digit(end + 1) &&
                       digit(end + 2) && digit(end + 3) && !digit(end + 4);
  if (end == at || grouped) {
    return at;
  }
  out += '{';
  out += text.substr(at, end - at);
  out += '}';
  return end;
}

// One code point outside ASCII, `bytes` as written.
void FoldCharacter(char32_t code, std::string_view bytes, std::string& out) {
  const utf8proc_property_t& property = PropertyOf(code);
  if (const Mapping* const mapping = MappingOf(code)) {
    out += mapping->ascii;
  } else if (const std::string greek = GreekLetter(code); !greek.empty()) {
    out += greek;
  } else if (property.category == UTF8PROC_CATEGORY_ZS) {
    out += ' ';
  } else if (property.category == UTF8PROC_CATEGORY_CF && code >= 0x2000 && code < 0x10000) {
    return;  // invisible
  } else if (code >= 0x2010 && code <= 0x2014) {
    out += '-';
  } else if (code >= 0xFF01 && code <= 0xFF5E) {
    out += static_cast<char>(code - 0xFF01 + '!');  // full-width forms
  } else if (code == 0x03D1 || code == 0x03D5 || code == 0x03F5) {
    out += GreekLetter(Decomposed(code)[0]);
  } else if (const std::string fraction = FractionOf(code); !fraction.empty()) {
    out += fraction;
  } else if (const std::string letter = code >= 0x1D400 && code <= 0x1D7FF ? LetterOf(code) : "";
             !letter.empty()) {
    out += letter;
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
    const char byte = text[at];
    if ((byte & 0x80) == 0) {
      if ((byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7F) {
        return false;
      }
      out += byte;
      ++at;
      continue;
    }
    const auto [code, length] = base::CharacterAt(text, at);
    if (length == 0 || code == 0xFFFD) {
      return false;
    }
    bool raised = false;
    if (!ScriptOf(code, raised).empty()) {
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
