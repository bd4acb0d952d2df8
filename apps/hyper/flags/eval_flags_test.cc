#include "apps/hyper/flags/eval_flags.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

TEST(ParseRowTest, AMethodAlone) {
  const Result<RowRequest> row = ParseRow("sc");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->label, "sc");
  EXPECT_EQ(row->method, "sc");
  EXPECT_TRUE(row->options.empty());
}

TEST(ParseRowTest, LabelAndOptions) {
  const Result<RowRequest> row = ParseRow("no branch=hyper:actions=none+single_token,width=16");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->label, "no branch");
  EXPECT_EQ(row->method, "hyper");
  ASSERT_EQ(row->options.size(), 2U);
  EXPECT_EQ(row->options[0].text, "none,single_token");
  EXPECT_EQ(row->options[1].name, "width");
}

TEST(ParseRowTest, MistakesAreRefused) {
  EXPECT_EQ(ParseRow("x=magic").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseRow("=sc").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseRow("x=").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseRow("x=sc:width").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace hyper::app
