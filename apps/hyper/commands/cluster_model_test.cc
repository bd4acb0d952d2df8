#include "apps/hyper/commands/cluster_model.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

const std::vector<ForwardTime> kForwards = {{1, 10}, {11, 20}, {31, 60}};

TEST(ForwardMsTest, FollowsTheMeasuredLines) {
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 0.5), 10);
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 1), 10);
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 6), 15);
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 11), 20);
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 21), 40);
  EXPECT_DOUBLE_EQ(ForwardMs(kForwards, 41), 80);
}

TEST(ForwardMsTest, OneMeasuredForwardGoesInProportion) {
  const std::vector<ForwardTime> one = {{4, 8}};
  EXPECT_DOUBLE_EQ(ForwardMs(one, 2), 8);
  EXPECT_DOUBLE_EQ(ForwardMs(one, 12), 24);
}

// 11 paths of 100 tokens, all in one forward: 100 forwards of 20 ms.
TEST(ClusterModelTest, OneQuestionOnOneServer) {
  const std::vector<ClusterQuestion> questions = {{{}, std::vector<int>(11, 100)}};
  const ClusterLoad load = SimulateCluster(kForwards, questions, {});
  EXPECT_NEAR(load.seconds, 2.0, 1e-9);
  EXPECT_NEAR(load.tokens_per_s, 550, 1e-6);
  EXPECT_NEAR(load.questions_per_hour, 1800, 1e-6);
  EXPECT_NEAR(load.rows, 11, 1e-9);
}

TEST(ClusterModelTest, WarmUpPathsEndBeforeTheOthersBegin) {
  const std::vector<ClusterQuestion> questions = {{{50, 30}, std::vector<int>(11, 100)}};
  // 30 forwards of 2 rows, 20 of 1, 100 of 11.
  EXPECT_NEAR(SimulateCluster(kForwards, questions, {}).seconds,
              (30 * 11.0 + 20 * 10.0 + 100 * 20.0) / 1000, 1e-9);
  const std::vector<ClusterQuestion> only_warmup = {{{50}, {}}};
  EXPECT_NEAR(SimulateCluster(kForwards, only_warmup, {}).seconds, 0.5, 1e-9);
}

TEST(ClusterModelTest, RefinedTokensAreMoreRows) {
  const std::vector<ClusterQuestion> questions = {{{}, std::vector<int>(7, 100), 3}};
  const ClusterLoad load = SimulateCluster(kForwards, questions, {});
  EXPECT_NEAR(load.rows, 21, 1e-9);
  EXPECT_NEAR(load.seconds, 4.0, 1e-9);
}

TEST(ClusterModelTest, LanesBeyondTheServersWait) {
  const std::vector<ClusterQuestion> questions = {{{}, std::vector<int>(22, 100)}};
  EXPECT_NEAR(SimulateCluster(kForwards, questions, {1, 11, 1, 0}).seconds, 4.0, 1e-9);
  EXPECT_NEAR(SimulateCluster(kForwards, questions, {2, 11, 1, 0}).seconds, 2.0, 1e-9);
}

TEST(ClusterModelTest, QuestionsComeInTurnAndFillTheServers) {
  const std::vector<ClusterQuestion> questions = {{{}, std::vector<int>(11, 100)},
                                                  {{}, std::vector<int>(11, 50)}};
  const ClusterLoad one = SimulateCluster(kForwards, questions, {1, 64, 1, 0});
  EXPECT_NEAR(one.seconds, 1.5, 1e-9);
  const ClusterLoad many = SimulateCluster(kForwards, questions, {8, 64, 8, 0});
  EXPECT_GT(many.questions_per_hour, 7 * one.questions_per_hour);
  EXPECT_LE(many.tokens_per_s, 8 * 550 + 1e-6);
}

TEST(ClusterModelTest, TheControllerIsAThreadThatCanBeFull) {
  const std::vector<ClusterQuestion> questions = {{{}, std::vector<int>(11, 100)}};
  const ClusterLoad half = SimulateCluster(kForwards, questions, {1, 64, 1, 1e6 / 1100});
  EXPECT_NEAR(half.controller_share, 0.5, 1e-9);
  EXPECT_NEAR(half.seconds, 2.0, 1e-9);
  const ClusterLoad full = SimulateCluster(kForwards, questions, {1, 64, 1, 1e6 / 275});
  EXPECT_NEAR(full.controller_share, 1.0, 1e-9);
  EXPECT_NEAR(full.tokens_per_s, 275, 1e-6);
  EXPECT_NEAR(full.seconds, 4.0, 1e-9);
  EXPECT_NEAR(full.questions_per_hour, 900, 1e-6);
}

}  // namespace
}  // namespace hyper::app
