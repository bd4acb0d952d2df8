// Superscripts, subscripts, mathematical alphanumeric symbols and what cannot be read.
#include "src/answer/read/unicode_letters.h"

#include <algorithm>
#include <iterator>

namespace hyper::answer {
namespace {

struct Script {
  char32_t code;
  std::string_view ascii;
};

// Sorted by code point.
constexpr Script kSuperscripts[] = {
    {0x00B2, "2"}, {0x00B3, "3"}, {0x00B9, "1"}, {0x02B0, "h"}, {0x02B2, "j"}, {0x02B3, "r"},
    {0x02B7, "w"}, {0x02B8, "y"}, {0x02E1, "l"}, {0x02E2, "s"}, {0x02E3, "x"}, {0x1D40, "T"},
    {0x1D43, "a"}, {0x1D47, "b"}, {0x1D48, "d"}, {0x1D49, "e"}, {0x1D4D, "g"}, {0x1D4F, "k"},
    {0x1D50, "m"}, {0x1D52, "o"}, {0x1D56, "p"}, {0x1D57, "t"}, {0x1D58, "u"}, {0x1D5B, "v"},
    {0x1D9C, "c"}, {0x1DA0, "f"}, {0x1DBB, "z"}, {0x2070, "0"}, {0x2071, "i"}, {0x2074, "4"},
    {0x2075, "5"}, {0x2076, "6"}, {0x2077, "7"}, {0x2078, "8"}, {0x2079, "9"}, {0x207A, "+"},
    {0x207B, "-"}, {0x207C, "="}, {0x207D, "("}, {0x207E, ")"}, {0x207F, "n"}};

constexpr Script kSubscripts[] = {
    {0x1D62, "i"}, {0x1D63, "r"}, {0x1D64, "u"}, {0x1D65, "v"}, {0x2080, "0"}, {0x2081, "1"},
    {0x2082, "2"}, {0x2083, "3"}, {0x2084, "4"}, {0x2085, "5"}, {0x2086, "6"}, {0x2087, "7"},
    {0x2088, "8"}, {0x2089, "9"}, {0x208A, "+"}, {0x208B, "-"}, {0x208C, "="}, {0x208D, "("},
    {0x208E, ")"}, {0x2090, "a"}, {0x2091, "e"}, {0x2092, "o"}, {0x2093, "x"}, {0x2095, "h"},
    {0x2096, "k"}, {0x2097, "l"}, {0x2098, "m"}, {0x2099, "n"}, {0x209A, "p"}, {0x209B, "s"},
    {0x209C, "t"}, {0x2C7C, "j"}};

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

template <class Table>
std::string_view Lookup(const Table& table, char32_t code) {
  const auto* const found =
      std::lower_bound(std::begin(table), std::end(table), code,
                       [](const Script& script, char32_t wanted) { return script.code < wanted; });
  return found != std::end(table) && found->code == code ? found->ascii : std::string_view();
}

// Greek letters come in five shapes of 58: capitals, nabla, small letters, the partial sign, and
// six variants.
char32_t GreekShape(char32_t place) {
  constexpr char32_t kCapitals = 25;
  constexpr char32_t kSmall = 26;
  constexpr char32_t kVariants = 52;
  // U+03A2 is no letter; its place is that of a second theta.
  if (place < kCapitals) return place == 17 ? 0x0398 : 0x0391 + place;
  if (place >= kSmall && place < kSmall + kCapitals) return 0x03B1 + place - kSmall;
  constexpr char32_t kVariantLetters[] = {0x03B5, 0x03B8, 0x03BA, 0x03C6, 0x03C1};
  const bool letter = place >= kVariants && place < kVariants + std::size(kVariantLetters);
  return letter ? kVariantLetters[place - kVariants] : 0;
}

}  // namespace

std::string_view SuperscriptOf(char32_t code) { return Lookup(kSuperscripts, code); }
std::string_view SubscriptOf(char32_t code) { return Lookup(kSubscripts, code); }

char32_t PlainShapeOf(char32_t code, std::string_view& style) {
  constexpr char32_t kLatin = 0x1D400;
  constexpr char32_t kDotless = 0x1D6A4;
  constexpr char32_t kGreek = 0x1D6A8;
  constexpr char32_t kDigits = 0x1D7CE;
  style = {};
  if (code < kLatin || code > 0x1D7FF) return 0;
  if (code >= kDigits) return '0' + (code - kDigits) % 10;
  if (code >= kGreek) return code < kGreek + 5 * 58 ? GreekShape((code - kGreek) % 58) : 0;
  if (code >= kDotless) return 0;
  // Thirteen alphabets of 52; script, fraktur and double-struck letters are names of their own.
  constexpr std::string_view kStyles[] = {"",          "",           "",         "\\mathcal",
                                          "\\mathcal", "\\mathfrak", "\\mathbb", "\\mathfrak"};
  const char32_t alphabet = (code - kLatin) / 52;
  const char32_t letter = (code - kLatin) % 52;
  if (alphabet < std::size(kStyles)) style = kStyles[alphabet];
  return letter < 26 ? 'A' + letter : 'a' + letter - 26;
}

bool IsUnreadable(char32_t code) {
  const auto* const after =
      std::upper_bound(std::begin(kUnreadable), std::end(kUnreadable), code,
                       [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != std::begin(kUnreadable) && code <= std::prev(after)->last;
}

}  // namespace hyper::answer
