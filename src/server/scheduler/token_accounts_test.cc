#include "src/server/scheduler/token_accounts.h"

#include <gtest/gtest.h>

namespace hyper::server {
namespace {

Client Limited(int64_t tokens_per_minute) { return {"ann", false, 0, tokens_per_minute}; }

TEST(TokenAccounts, ASpentMinuteComesBackEvenly) {
  TokenAccounts accounts;
  const Client ann = Limited(600);  // ten a second
  EXPECT_EQ(accounts.WaitSeconds(ann, 0), 0);
  accounts.Pledge(ann, 600, 0);
  EXPECT_EQ(accounts.WaitSeconds(ann, 0), 1);  // the tenth of a second that one token takes
  EXPECT_EQ(accounts.WaitSeconds(ann, 0.2), 0);
  accounts.Pledge(ann, 102, 0.2);
  EXPECT_EQ(accounts.WaitSeconds(ann, 0.2), 11);  // 100 below nothing, and one
  EXPECT_EQ(accounts.WaitSeconds(ann, 10.31), 0);
}

TEST(TokenAccounts, NoMoreIsSavedUpThanAMinutesTokens) {
  TokenAccounts accounts;
  const Client ann = Limited(600);
  EXPECT_EQ(accounts.WaitSeconds(ann, 0), 0);
  accounts.Pledge(ann, 600, 7200);
  EXPECT_EQ(accounts.WaitSeconds(ann, 7200), 1);
}

TEST(TokenAccounts, ARunThatEndsGivesBackWhatItDidNotTake) {
  TokenAccounts accounts;
  const Client ann = Limited(600);
  accounts.Pledge(ann, 600, 0);
  accounts.Settle(ann, 600, 30, 0);
  EXPECT_EQ(accounts.WaitSeconds(ann, 0), 0);
  accounts.Pledge(ann, 570, 0);
  EXPECT_EQ(accounts.WaitSeconds(ann, 0), 1);
}

TEST(TokenAccounts, ClientsHaveAccountsOfTheirOwn) {
  TokenAccounts accounts;
  const Client ann = Limited(600);
  const Client bob = {"bob", false, 0, 60};
  accounts.Pledge(ann, 700, 0);
  EXPECT_GT(accounts.WaitSeconds(ann, 0), 0);
  EXPECT_EQ(accounts.WaitSeconds(bob, 0), 0);
  accounts.Pledge(Client{}, 1 << 30, 0);
  EXPECT_EQ(accounts.WaitSeconds(Client{}, 0), 0);
}

TEST(PledgeOf, IsWhatTheRunMayTakeAndAMinutesTokensAtMost) {
  ServedRun run;
  run.client = Limited(1000);
  run.choices = 3;
  run.plan.options.max_tokens = 100;
  EXPECT_EQ(PledgeOf(run), 300);
  run.method = "sc";
  run.plan.options.width = 4;
  EXPECT_EQ(PledgeOf(run), 400);
  run.plan.options.width = 11;
  EXPECT_EQ(PledgeOf(run), 1000);
  run.client.tokens_per_minute = 0;
  EXPECT_EQ(PledgeOf(run), 0);
}

}  // namespace
}  // namespace hyper::server
