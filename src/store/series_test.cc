#include "src/store/series.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace hyper {
namespace {

StoredSeries Floats(PathId path, int first, std::vector<float> values) {
  return {path, "confidence", first, std::move(values)};
}

TEST(PackSeriesTest, BytesAreLittleEndianWhateverTheMachine) {
  // 1.0f is 0x3F800000, -2.5f is 0xC0200000 (IEEE 754, worked out by hand).
  EXPECT_EQ(PackSeries(Floats(0, 0, {1.0F, -2.5F})),
            std::string("\x00\x00\x80\x3F\x00\x00\x20\xC0", 8));
  EXPECT_EQ(PackSeries({0, "tokens", 0, std::vector<int32_t>{-2, 258}}),
            std::string("\xFE\xFF\xFF\xFF\x02\x01\x00\x00", 8));
  EXPECT_EQ(PackSeries({0, "routes", 0, std::vector<uint8_t>{1, 255}}), "\x01\xFF");
}

TEST(PackSeriesTest, EveryValueComesBackBitForBit) {
  const std::vector<float> values = {0.0F,
                                     -0.0F,
                                     std::numeric_limits<float>::denorm_min(),
                                     std::numeric_limits<float>::max(),
                                     -std::numeric_limits<float>::infinity(),
                                     std::bit_cast<float>(0x7FC12345U),
                                     3.14159F};
  const StoredSeries series = Floats(0, 0, values);
  StoredSeries back;
  ASSERT_TRUE(UnpackSeries(SeriesTypeName(series), PackSeries(series), back).ok());
  const auto& read = std::get<std::vector<float>>(back.values);
  ASSERT_EQ(read.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(read[i]), std::bit_cast<uint32_t>(values[i])) << i;
  }
}

TEST(PackSeriesTest, EmptySeriesAreSeries) {
  StoredSeries back;
  ASSERT_TRUE(UnpackSeries("u8", "", back).ok());
  EXPECT_TRUE(std::get<std::vector<uint8_t>>(back.values).empty());
}

TEST(UnpackSeriesTest, BrokenBytesAreDataLoss) {
  StoredSeries back;
  EXPECT_EQ(UnpackSeries("f32", "abc", back).error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(UnpackSeries("i32", "abcde", back).error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(UnpackSeries("f64", "12345678", back).error().code, ErrorCode::kDataLoss);
}

// Path 0: tokens 0..4. Path 1 forked from it at 3, path 2 from path 1 at 3 (nothing of its own
// before), path 3 from path 1 at 5.
StoredItem Family() {
  StoredItem item;
  const std::pair<PathId, int> parents[] = {{kNoPath, 0}, {0, 3}, {1, 3}, {1, 5}};
  for (PathId path = 0; path < 4; ++path) {
    StoredPath stored;
    stored.path = path;
    stored.parent = parents[path].first;
    stored.fork_position = parents[path].second;
    item.paths.push_back(stored);
  }
  item.series = {Floats(0, 0, {0, 1, 2, 3, 4}), Floats(1, 3, {13, 14, 15}), Floats(2, 3, {23}),
                 Floats(3, 5, {35, 36})};
  return item;
}

TEST(ExpandSeriesTest, InheritedTokensComeFromTheAncestors) {
  const StoredItem item = Family();
  using Values = std::vector<float>;
  EXPECT_EQ(*ExpandSeries(item, 0, "confidence"), (Values{0, 1, 2, 3, 4}));
  EXPECT_EQ(*ExpandSeries(item, 1, "confidence"), (Values{0, 1, 2, 13, 14, 15}));
  EXPECT_EQ(*ExpandSeries(item, 2, "confidence"), (Values{0, 1, 2, 23}));
  EXPECT_EQ(*ExpandSeries(item, 3, "confidence"), (Values{0, 1, 2, 13, 14, 35, 36}));
}

TEST(ExpandSeriesTest, MissingPartsAreErrorsNotGaps) {
  StoredItem item = Family();
  EXPECT_EQ(ExpandSeries(item, 9, "confidence").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ExpandSeries(item, 0, "entropy").error().code, ErrorCode::kNotFound);
  item.series[1] = Floats(1, 3, {13});  // path 3 inherited two tokens of it
  EXPECT_EQ(ExpandSeries(item, 3, "confidence").error().code, ErrorCode::kDataLoss);
  item = Family();
  item.series.erase(item.series.begin());
  EXPECT_EQ(ExpandSeries(item, 3, "confidence").error().code, ErrorCode::kNotFound);
  item = Family();
  item.series[0] = Floats(0, 1, {1, 2, 3, 4});  // a root that does not begin at 0
  EXPECT_EQ(ExpandSeries(item, 1, "confidence").error().code, ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace hyper
