#include "src/answer/read/units.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace hyper::answer {
namespace {

Rational SizeOf(std::string_view words) {
  Budget budget(1'000'000, 1'000'000);
  const auto scale = ScaleOfUnit(UnitName(words), budget);
  EXPECT_TRUE(scale) << words;
  return scale ? scale->size : Rational(0);
}

TEST(UnitsTest, CaseTellsPrefixesApart) {
  EXPECT_EQ(UnitName("MW"), "megawatt");
  EXPECT_EQ(UnitName("mW"), "milliwatt");
  EXPECT_EQ(UnitName("um"), "micrometer");
  EXPECT_EQ(UnitName("kilometres"), "kilometer");
  EXPECT_EQ(UnitOfCapitals("H"), "henry");
  EXPECT_EQ(UnitOfCapitals("h"), "");
  EXPECT_EQ(UnitOfCapitals("BC"), "");
}

TEST(UnitsTest, HalvesOfTheDayAreNoLength) {
  EXPECT_EQ(UnitName("pm"), "pm");
  EXPECT_EQ(UnitName("am"), "am");
}

// The sizes by the definitions of the units.
TEST(UnitsTest, SizesAreThoseOfTheDefinitions) {
  EXPECT_EQ(SizeOf("km"), Rational(1000));
  EXPECT_EQ(SizeOf("mg"), Rational(1, 1'000'000));
  EXPECT_EQ(SizeOf("kHz"), Rational(1000));
  EXPECT_EQ(SizeOf("sq ft"), Rational(9290304, 100'000'000));  // 0.3048 m squared
  EXPECT_EQ(SizeOf("cu. in"), Rational(16387064, 1'000'000'000'000));
  EXPECT_EQ(SizeOf("fl oz"), Rational(1, 128));  // of a gallon
  EXPECT_EQ(SizeOf("weeks"), Rational(604800));
  EXPECT_EQ(SizeOf("km/h"), Rational(1000, 3600));
}

TEST(UnitsTest, ShapesBelongToLengths) {
  EXPECT_EQ(UnitName("square feet"), UnitName("sq. ft"));
  EXPECT_EQ(UnitName("square feet"), UnitName("ft^2"));
  EXPECT_NE(UnitName("square feet"), UnitName("cu ft"));
  EXPECT_EQ(UnitName("sq"), "sq");  // nothing that is square
}

TEST(UnitsTest, SomeDimensionsConvertByConventionOnly) {
  EXPECT_TRUE(ConvertsByConvention("month", "time"));
  EXPECT_TRUE(ConvertsByConvention("length^3", "gallon"));
  EXPECT_TRUE(ConvertsByConvention("celsius", "temperature"));
  EXPECT_FALSE(ConvertsByConvention("month", "gallon"));
  EXPECT_FALSE(ConvertsByConvention("length", "time"));
}

}  // namespace
}  // namespace hyper::answer
