#include "src/extract/choices.h"

#include <gtest/gtest.h>

namespace hyper::extract {
namespace {

TEST(ReadChoice, EveryLabelIsReadInEveryDress) {
  const std::string_view options = "ABCDEFGHIJ";
  for (const char label : options) {
    const std::string c(1, label);
    for (const std::string& text :
         {c, c + ".", "(" + c + ")", c + ")", "**" + c + "**", "\\text{" + c + "}", "$" + c + "$",
          "[" + c + "]", c + ": 42", "(" + c + ") a word", c + ", because of that", "it is " + c,
          "definitely option " + c + "."}) {
      const Choice choice = ReadChoice(text, options);
      EXPECT_EQ(choice.label, label) << text;
      EXPECT_EQ(choice.raw, c) << text;
    }
  }
}

TEST(ReadChoice, WordsAreNoLabels) {
  for (const char* text :
       {"I think so", "A photon", "Don't", "Because", "B-spline", "D.C. is a city", "A_1", "f(A)",
        "x^A", "C++", "U.S.", "A's", "AÉ", "", "..."}) {
    EXPECT_EQ(ReadChoice(text, "ABCDEFGHIJ").label, '\0') << text;
  }
}

TEST(ReadChoice, SeveralLabelsNameNone) {
  for (const char* text : {"A or B", "A and B", "A/B", "A, C", "(A) or (B)", "A & B"}) {
    EXPECT_EQ(ReadChoice(text, "ABCD").label, '\0') << text;
  }
  EXPECT_EQ(ReadChoice("A, B is wrong", "ABCD").label, 'A');
}

TEST(ReadChoice, LettersStandForDigitsByPlace) {
  EXPECT_EQ(ReadChoice("C", "1234").label, '3');
  EXPECT_EQ(ReadChoice("3", "1234").label, '3');
  EXPECT_EQ(ReadChoice("E", "1234").label, '\0');
  EXPECT_EQ(ReadChoice("13", "1234").label, '\0');
  EXPECT_EQ(ReadChoice("3", "ABCD").label, '\0');
}

TEST(LastMarkedChoice, TakesOnlyMarkedLetters) {
  EXPECT_EQ(LastMarkedChoice("First (A), then option B", "ABCD").label, 'B');
  EXPECT_EQ(LastMarkedChoice("A plan. B follows. P(C) is small", "ABCD").label, '\0');
  EXPECT_EQ(LastMarkedChoice("so D is the best answer", "ABCD").label, 'D');
}

}  // namespace
}  // namespace hyper::extract
