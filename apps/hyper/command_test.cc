#include "apps/hyper/command.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

TEST(OneLine, EscapesWhatWouldBreakTheLine) {
  EXPECT_EQ(OneLine("plain text"), "plain text");
  EXPECT_EQ(OneLine("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1B[31m\\x7F");
  EXPECT_EQ(OneLine(""), "");
}

TEST(OneLine, KeepsUtf8AndEscapesBrokenBytes) {
  EXPECT_EQ(OneLine("\xC3\xA8 \xE2\x97\x81 \xF0\x9F\x99\x82"),
            "\xC3\xA8 \xE2\x97\x81 \xF0\x9F\x99\x82");
  EXPECT_EQ(OneLine("\xC3"), "\\xC3");
  EXPECT_EQ(OneLine("\xC3(x"), "\\xC3(x");
  EXPECT_EQ(OneLine("\x80\xFF"), "\\x80\\xFF");
  EXPECT_EQ(OneLine("\xE0\x80\x80x \xED\xA0\x80x"), "\\xE0\\x80\\x80x \\xED\\xA0\\x80x");
}

TEST(ExitCodes, EveryErrorHasOneAndNoneIsSuccess) {
  EXPECT_EQ(ExitCodeOf({ErrorCode::kInvalidArgument, ""}), 64);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kNotFound, ""}), 66);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kUnsupported, ""}), 69);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kResourceExhausted, ""}), 71);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kUnavailable, ""}), 69);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kDataLoss, ""}), 65);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kCancelled, ""}), 130);
  EXPECT_EQ(ExitCodeOf({ErrorCode::kInternal, ""}), 70);
}

}  // namespace
}  // namespace hyper::app
