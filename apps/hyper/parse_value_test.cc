#include "apps/hyper/parse_value.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyper::app {
namespace {

TEST(ParseValue, ReadsWholeValuesOnly) {
  int number = 7;
  EXPECT_TRUE(ParseValue("width", "-3", "1..9", number).ok());
  EXPECT_EQ(number, -3);
  for (const char* text : {"", "3x", "x", "3.5", " 3", "+3", "99999999999"}) {
    const Status status = ParseValue("width", text, "1..9", number);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_NE(status.error().message.find("--width"), std::string::npos);
    EXPECT_NE(status.error().message.find(text), std::string::npos);
    EXPECT_NE(status.error().message.find("1..9"), std::string::npos);
    EXPECT_EQ(number, -3) << text;
  }
}

TEST(ParseValue, ReadsTheWholeRangeOfSeeds) {
  uint64_t seed = 0;
  EXPECT_TRUE(ParseValue("seed", "18446744073709551615", "", seed).ok());
  EXPECT_EQ(seed, UINT64_MAX);
  EXPECT_FALSE(ParseValue("seed", "18446744073709551616", "", seed).ok());
  EXPECT_FALSE(ParseValue("seed", "-1", "", seed).ok());
}

TEST(ParseValue, ReadsNumbersWordsAndBooleans) {
  double number = 0;
  EXPECT_TRUE(ParseValue("tau", "2.5e-1", "", number).ok());
  EXPECT_EQ(number, 0.25);
  EXPECT_TRUE(ParseValue("tau", "nan", "", number).ok());
  EXPECT_TRUE(std::isnan(number));
  EXPECT_FALSE(ParseValue("tau", "1e999", "", number).ok());
  bool flag = false;
  EXPECT_TRUE(ParseValue("two-pass", "true", "", flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_FALSE(ParseValue("two-pass", "1", "true|false", flag).ok());
  std::string word;
  EXPECT_TRUE(ParseValue("vote", "majority", "", word).ok());
  EXPECT_EQ(word, "majority");
}

TEST(ParseDuration, KnowsUnits) {
  EXPECT_DOUBLE_EQ(*ParseDuration("time", "30s"), 30);
  EXPECT_DOUBLE_EQ(*ParseDuration("time", "30"), 30);
  EXPECT_DOUBLE_EQ(*ParseDuration("time", "1.5m"), 90);
  EXPECT_DOUBLE_EQ(*ParseDuration("time", "2h"), 7200);
  EXPECT_DOUBLE_EQ(*ParseDuration("time", "250ms"), 0.25);
  for (const char* text : {"", "s", "0s", "-1s", "nan", "inf", "3 s", "1d", "1e999h"}) {
    EXPECT_FALSE(ParseDuration("time", text).has_value()) << text;
  }
}

}  // namespace
}  // namespace hyper::app
