#include "src/extract/numbers.h"

#include <gtest/gtest.h>

namespace hyper::extract {
namespace {

TEST(CanonicalNumber, DropsGroupingCurrencyAndNeedlessZeros) {
  const std::pair<const char*, const char*> cases[] = {
      {"8,000", "8000"},
      {"9{,}500", "9500"},
      {"1\\,000\\,000", "1000000"},
      {"11,\\! 111", "11111"},
      {"10 000", "10000"},
      {"1\u202F000", "1000"},
      {"$1,200.50", "1200.50"},
      {"\\$29.00", "29"},
      {"004", "4"},
      {"0", "0"},
      {"-0", "0"},
      {"-0.0", "0"},
      {"−15", "-15"},
      {"- 5", "-5"},
      {"+5", "5"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"00.50", "0.50"},
      {"1000000000000000000000000", "1000000000000000000000000"},
  };
  for (const auto& [text, number] : cases) {
    EXPECT_EQ(CanonicalNumber(text), number) << text;
  }
}

TEST(CanonicalNumber, RefusesWhatIsNoPlainNumber) {
  for (const char* text :
       {"", "-", "$", ".", "1,00", "1,0000", "12,34,567", "1,000 000", "1.2.3", "1/2", "x", "5cm",
        "50%", "52_8", "2^3", "1e5", "(3)", "1,000,00", "--5"}) {
    EXPECT_EQ(CanonicalNumber(text), std::nullopt) << text;
  }
  EXPECT_EQ(CanonicalNumber("50\\%", {.drop_percent = true}), "50");
}

std::string Joined(std::string_view text) {
  std::string joined;
  for (std::string_view number : FindNumbers(text)) {
    if (!joined.empty()) {
      joined += " | ";
    }
    joined += number;
  }
  return joined;
}

TEST(CanonicalNumber, ReadsEnglishWords) {
  EXPECT_EQ(CanonicalNumber("seven"), "7");
  EXPECT_EQ(CanonicalNumber("Forty-two"), "42");
  EXPECT_EQ(CanonicalNumber("minus ninety"), "-90");
  EXPECT_EQ(CanonicalNumber("three hundred and five"), "305");
  EXPECT_EQ(CanonicalNumber("twelve thousand seven"), "12007");
  EXPECT_EQ(CanonicalNumber("two million one hundred thousand"), "2100000");
  for (const char* const words : {"seven eleven", "hundred", "twenty thirty", "one hundred hundred",
                                  "seventh", "five thousand two million", "six and"}) {
    EXPECT_EQ(CanonicalNumber(words), std::nullopt) << words;
  }
}

TEST(CanonicalNumber, ReadsChineseNumeralsOrNothing) {
  const std::pair<const char*, const char*> cases[] = {
      {"百二十", "120"},     {"千五百", "1500"},       {"一万千五百", "11500"},
      {"二百十", "210"},     {"三点五", "3.5"},        {"三點一四", "3.14"},
      {"三分之二", "2/3"},   {"负三分之二", "-2/3"},   {"一又三分之二", "1\\frac{2}{3}"},
      {"百分之五十", "50%"}, {"百分之零点五", "0.5%"}, {"3分之2", "2/3"},
      {"百分之50", "50%"},   {"百分之12.5", "12.5%"},  {"1又3分之2", "1\\frac{2}{3}"},
  };
  for (const auto& [text, number] : cases) {
    EXPECT_EQ(CanonicalNumber(text), number) << text;
  }
  EXPECT_EQ(CanonicalNumber("百分之五十", {.drop_percent = true}), "50");
  EXPECT_EQ(CanonicalNumber("百分之50", {.drop_percent = true}), "50");
  for (const char* const text :
       {"三点五十", "三点半", "三分之", "五分之三分之一", "十百", "一二十"}) {
    EXPECT_EQ(CanonicalNumber(text), std::nullopt) << text;
  }
}

TEST(FindNumbers, ReadsProse) {
  EXPECT_EQ(Joined("from 1,234 to 5.5, then 7."), "1,234 | 5.5 | 7");
  EXPECT_EQ(Joined("$200,000 - $130,000 = $70,000."), "$200,000 | $130,000 | $70,000");
  EXPECT_EQ(Joined("5-3=2 and x = -4, (-6)"), "5 | 3 | 2 | -4 | -6");
  EXPECT_EQ(Joined("3/4 of \\frac{5}{6}, -\\dfrac12"), "3/4 | \\frac{5}{6} | -\\dfrac12");
  EXPECT_EQ(Joined("a \\cdot5 = \\$7"), "5 | \\$7");
  EXPECT_EQ(Joined("三分之二和四十二"), "三分之二 | 四十二");
  EXPECT_EQ(Joined("答案是3分之2,约百分之66.7。"), "3分之2 | 百分之66.7");
  EXPECT_EQ(Joined("3分钟之后"), "3");
  EXPECT_EQ(Joined("三点五十分"), "");  // a run that is not read gives none of its pieces
  EXPECT_EQ(Joined("千万小心"), "");
}

TEST(LastNumber, IsNotTheTotalOfAShare) {
  for (const char* const text : {"13 out of 20", "13 of the 20", "13 (of 20 possible)",
                                 "13 out of every 20", "13 ways among 20 outcomes"}) {
    EXPECT_EQ(LastNumber(text), "13") << text;
  }
  EXPECT_EQ(LastNumber("13 wins and a sum of 20"), "20");
  EXPECT_EQ(LastNumber("one among 20"), "20");
}

TEST(FindNumbers, LeavesOutExponentsIndicesWordsAndMarkers) {
  EXPECT_EQ(Joined("25 cm^2, 3 m^{2}, a_1, H2O"), "25 | 3");
  EXPECT_EQ(Joined("1. Add 2.\n2) Take 3\n  3: 4"), "2 | 3 | 4");
  EXPECT_EQ(Joined("Step 1: 5, case 2, **Step 3**"), "5");
  EXPECT_EQ(Joined("7.\n"), "7");
}

}  // namespace
}  // namespace hyper::extract
