#include "hyper/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace hyper {
namespace {

Result<std::vector<std::string>> LongWords() {
  return std::vector<std::string>{std::string(100, 'a'), std::string(100, 'b')};
}

// A loop once walked through a list that was gone with its Result.
TEST(ResultTest, ATemporaryGivesItsValueItself) {
  static_assert(!std::is_reference_v<decltype(*LongWords())>);
  static_assert(!std::is_reference_v<decltype(LongWords().value())>);
  std::string joined;
  for (const std::string& word : *LongWords()) {
    joined += word;
  }
  EXPECT_EQ(joined, std::string(100, 'a') + std::string(100, 'b'));
}

TEST(ResultTest, AVariableGivesReferencesAndKeepsItsValue) {
  Result<std::vector<std::string>> words = LongWords();
  static_assert(std::is_same_v<decltype(*words), std::vector<std::string>&>);
  words->push_back("c");
  (*words)[0] = "x";
  const Result<std::vector<std::string>>& same = words;
  static_assert(std::is_same_v<decltype(*same), const std::vector<std::string>&>);
  EXPECT_EQ(same->size(), 3U);
  EXPECT_EQ((*same)[0], "x");
}

TEST(ResultTest, GivesAValueThatOnlyMoves) {
  const auto make = [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(7)); };
  EXPECT_EQ(**make(), 7);
  const std::unique_ptr<int> taken = *make();
  EXPECT_EQ(*taken, 7);
}

TEST(ResultTest, HoldsAValueOrAnError) {
  const Result<int> value(3);
  const Result<int> error(Error{ErrorCode::kNotFound, "no such file"});
  EXPECT_TRUE(value.has_value());
  EXPECT_FALSE(error.has_value());
  EXPECT_EQ(value.value_or(5), 3);
  EXPECT_EQ(error.value_or(5), 5);
  EXPECT_EQ(error.error().code, ErrorCode::kNotFound);
  EXPECT_STREQ(ErrorCodeName(error.error().code), "not_found");
}

}  // namespace
}  // namespace hyper
