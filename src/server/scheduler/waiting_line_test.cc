#include "src/server/scheduler/waiting_line.h"

#include <gtest/gtest.h>

namespace hyper::server {
namespace {

TEST(WaitingLine, ARunCountsWithItsTextAndItsTokens) {
  ServedRun request;
  const size_t empty = WaitingBytes(request);
  EXPECT_GT(empty, 1000U);
  request.messages = {{"user", std::string(1000, 'x')}};
  const size_t chat = WaitingBytes(request);
  EXPECT_EQ(chat - empty, 7000U);  // three texts, and a token of four bytes for each byte
  request.start = AssistantStart{std::string(10, 'x'), std::string(5, 'x')};
  EXPECT_EQ(WaitingBytes(request) - chat, 15U * 7);
  ServedRun tokens;
  tokens.prompt_tokens.assign(100, 1);
  EXPECT_EQ(WaitingBytes(tokens) - empty, 800U);
}

TEST(WaitingLine, TheRateIsThatOfTheLastRuns) {
  DrainRate rate;
  EXPECT_EQ(rate.PerSecond(5), 0);
  rate.Note(4, 10);
  EXPECT_DOUBLE_EQ(rate.PerSecond(10), 4);
  EXPECT_DOUBLE_EQ(rate.PerSecond(14), 1);
  rate.Note(4, 14);
  EXPECT_DOUBLE_EQ(rate.PerSecond(14), 2);
  rate.Note(0, 18);
  EXPECT_DOUBLE_EQ(rate.PerSecond(18), 1) << "nothing left: it slows down";
  rate.Note(64, 20);  // the others are long ago
  EXPECT_DOUBLE_EQ(rate.PerSecond(28), 8);
}

TEST(WaitingLine, RetryAfterIsTheTimeThatTheLineNeeds) {
  EXPECT_EQ(RetryAfterSeconds(100, 10), 10);
  EXPECT_EQ(RetryAfterSeconds(101, 10), 11);
  EXPECT_EQ(RetryAfterSeconds(1, 50), 1);
  EXPECT_EQ(RetryAfterSeconds(100000, 10), 60);
  EXPECT_EQ(RetryAfterSeconds(3, 0), 60);
}

}  // namespace
}  // namespace hyper::server
