#include "src/base/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace hyper::base {
namespace {

using std::string_literals::operator""s;

// Sequences that no writer of UTF-8 makes.
const std::vector<std::string> kBroken = {
    "\x80",              // nothing begins it
    "\xC0\x80",          // overlong, two bytes
    "\xC1\xBF",          // overlong: U+007F
    "\xE0\x80\x80",      // overlong, three bytes
    "\xE0\x9F\xBF",      // overlong: U+07FF
    "\xED\xA0\x80",      // surrogate: U+D800
    "\xED\xBF\xBF",      // surrogate: U+DFFF
    "\xF0\x8F\xBF\xBF",  // overlong: U+FFFF
    "\xF4\x90\x80\x80",  // U+110000
    "\xF5\x80\x80\x80",  // a lead byte of nothing
    "\xFF",
};

// The code point of each form, encoded by the bits of the definition.
std::string Encoded(char32_t code) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80U | ((code >> static_cast<unsigned>(shift)) & 0x3FU));
  };
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  if (code < 0x800) {
    return {static_cast<char>(0xC0U | (code >> 6U)), tail(0)};
  }
  if (code < 0x10000) {
    return {static_cast<char>(0xE0U | (code >> 12U)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0U | (code >> 18U)), tail(12), tail(6), tail(0)};
}

TEST(CharacterAt, ReadsCodePointsAndNoSurrogates) {
  // All of the first plane and a little more, then some.
  for (char32_t code = 0; code <= 0x110100; code += code < 0x10800 ? 1 : 0x55) {
    const std::string text = Encoded(code);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    const bool well_formed = !surrogate && code <= 0x10FFFF;
    const Character read = CharacterAt(text + "\x80", 0);
    ASSERT_EQ(read.length, well_formed ? text.size() : 0) << std::hex << static_cast<int>(code);
    ASSERT_EQ(read.code, well_formed ? code : 0) << std::hex << static_cast<int>(code);
    if (well_formed && text.size() > 1) {
      ASSERT_EQ(CharacterAt(text.substr(0, text.size() - 1), 0).length, 0U) << "cut off";
      ASSERT_EQ(IncompleteTail("a" + text.substr(0, text.size() - 1)), text.size() - 1);
      ASSERT_EQ(IncompleteTail(text), 0U);
    }
  }
}

TEST(CharacterAt, RefusesBrokenBytesAndTheEnd) {
  for (const std::string& bytes : kBroken) {
    EXPECT_EQ(CharacterAt(bytes + "x", 0).length, 0U) << OneLine(bytes);
  }
  EXPECT_EQ(CharacterAt("", 0).length, 0U);
  EXPECT_EQ(CharacterAt("ab", 2).length, 0U);
  EXPECT_EQ(CharacterAt("ab", 7).length, 0U);
  EXPECT_EQ(CharacterAt("\0"s, 0).length, 1U);
}

TEST(IncompleteTail, CountsOnlyWhatMayBecomeACharacter) {
  EXPECT_EQ(IncompleteTail(""), 0U);
  EXPECT_EQ(IncompleteTail("abc"), 0U);
  EXPECT_EQ(IncompleteTail("a\xF0"), 1U);
  EXPECT_EQ(IncompleteTail("a\xF0\x9F"), 2U);
  EXPECT_EQ(IncompleteTail("a\xF0\x9F\x8C"), 3U);
  EXPECT_EQ(IncompleteTail("a\xF0\x9F\x8C\x8D"), 0U);
  EXPECT_EQ(IncompleteTail("a\xE4\xBD"), 2U);
  EXPECT_EQ(IncompleteTail("a\xE4\xBD\xA0"), 0U);
  EXPECT_EQ(IncompleteTail("\x80\x80\x80\x80"), 0U) << "broken already, not incomplete";
  for (const std::string& bytes : kBroken) {
    EXPECT_EQ(IncompleteTail(bytes), 0U) << OneLine(bytes);
  }
  EXPECT_EQ(IncompleteTail("\xE0\x80"), 0U) << "an overlong form, whatever follows";
  EXPECT_EQ(IncompleteTail("\xED\xA0"), 0U) << "a surrogate, whatever follows";
  EXPECT_EQ(IncompleteTail("\xF4\x90"), 0U) << "too high, whatever follows";
}

TEST(ValidUtf8, ReplacesEachByteThatIsNoCharacter) {
  const std::string replacement = "\xEF\xBF\xBD";
  for (const std::string& bytes : kBroken) {
    std::string expected = "\xC3\xA8";
    for (size_t i = 0; i < bytes.size(); ++i) {
      expected += replacement;
    }
    EXPECT_EQ(ValidUtf8("\xC3\xA8" + bytes + "x"), expected + "x") << OneLine(bytes);
  }
  EXPECT_EQ(ValidUtf8("a\xE2\x82"), "a" + replacement + replacement);
}

TEST(OneLine, EscapesBrokenBytesAndControls) {
  EXPECT_EQ(OneLine("\xE0\x80\x80x"), "\\xE0\\x80\\x80x");
  EXPECT_EQ(OneLine("\xED\xA0\x80x"), "\\xED\\xA0\\x80x");
  EXPECT_EQ(OneLine("\xC0\x80x"), "\\xC0\\x80x");
  EXPECT_EQ(OneLine("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1B[31m\\x7F");
  EXPECT_EQ(OneLine("\0"s), "\\x00");
  EXPECT_EQ(OneLine("\xC3\xA8 \xF0\x9F\x99\x82"), "\xC3\xA8 \xF0\x9F\x99\x82");
}

TEST(CountCharacters, CountsNoByteThatGoesOn) {
  EXPECT_EQ(CountCharacters(""), 0U);
  EXPECT_EQ(CountCharacters("a\u00e9\u20ac\U0001f600"), 4U);
}

}  // namespace
}  // namespace hyper::base
