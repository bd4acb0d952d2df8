#include "src/decode/methods/mcts.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

MethodOptions MctsOptions(int branches, int iterations) {
  MethodOptions options = StepOptions(8);
  options.vote.rule = VoteRule::kBest;
  options.tree.branches = branches;
  options.tree.iterations = iterations;
  options.tree.rollout_steps = 1;
  return options;
}

const Mcts& SearchOf(const Session& session) { return dynamic_cast<const Mcts&>(session.method()); }

TEST(Mcts, TwoRoundsByHand) {
  FakeEngine engine(LetterSteps([](char) { return 4; }, [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(engine, "mcts", MctsOptions(2, 2),
                             ByText({{"a\n", .6},
                                     {"b\n", .4},
                                     {"a\nc\n", .8},
                                     {"b\nb\n", .5},
                                     {"b\nd\n", .3},
                                     {"b\nb\ne\n", .1}},
                                    .2),
                             &batches);
  RunSteps(engine, *session);
  // Round 1: the root gets a and b; the rollout from a, by path c, finds .8: V(a) = (.6 + .8) / 2.
  // Round 2: a has .7 + .7 sqrt(2 ln 1) = .7, b was never visited: .4 + 1. Its rollout finds .1.
  // No path ended: the best node, a, is continued.
  EXPECT_EQ(batches, (Batches{{"a\n", "b\n"},
                              {"a\nc\n"},
                              {"b\nb\n", "b\nd\n"},
                              {"b\nb\ne\n"},
                              {"a\na\n"},
                              {"a\na\na\n"},
                              {"a\na\na\na\n"},
                              {"a\na\na\na\n=a"}}));
  const std::vector<SearchNode>& tree = SearchOf(*session).tree();
  ASSERT_EQ(tree.size(), 5U);
  EXPECT_EQ(tree[0].children, (std::vector<int>{1, 2}));
  EXPECT_EQ(tree[0].visits, 2);
  EXPECT_DOUBLE_EQ(tree[0].value, .5);
  EXPECT_EQ(tree[1].visits, 1);
  EXPECT_DOUBLE_EQ(tree[1].value, .7);
  EXPECT_EQ(tree[2].children, (std::vector<int>{3, 4}));
  EXPECT_EQ(tree[2].visits, 1);
  EXPECT_DOUBLE_EQ(tree[2].value, .3);
  EXPECT_EQ(tree[3].visits, 1);
  EXPECT_DOUBLE_EQ(tree[3].value, .3);
  EXPECT_EQ(tree[4].visits, 0);
  EXPECT_DOUBLE_EQ(tree[4].value, .3);
  EXPECT_EQ(session->Result().answer, "a");
  EXPECT_EQ(session->Result().voting_paths, 1);
  EXPECT_EQ(session->Result().ledger.lanes_opened, 5);
  EXPECT_EQ(session->Result().ledger.generated, engine.cost().decode_rows);
}

TEST(Mcts, ExpandsIntoThreeAndContinuesTheLaterOfEquals) {
  FakeEngine engine(LetterSteps([](char) { return 4; }, [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(engine, "mcts", MctsOptions(0, 1), ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[0], (std::vector<std::string>{"a\n", "b\n", "c\n"}));
  EXPECT_EQ(batches.back()[0].substr(0, 2), "c\n");
}

TEST(Mcts, AnEndedPathOfEnoughValueEndsTheSearch) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  Batches batches;
  auto session =
      StepSession(engine, "mcts", MctsOptions(1, 50), ByText({{"a\n=a", .95}}, .2), &batches);
  RunSteps(engine, *session);
  // Round 1 also rolls out from a, by b. Round 2 finds the end, round 3 selects it.
  EXPECT_EQ(batches, (Batches{{"a\n"}, {"a\n=b"}, {"a\n=a"}}));
  EXPECT_EQ(SearchOf(*session).tree()[0].visits, 2);
  EXPECT_EQ(session->Result().answer, "a");
  EXPECT_EQ(session->Result().voting_paths, 1);  // the rollout that answered b does not vote
}

TEST(Mcts, EndedPathsOfLittleValueAreVisitedAgainUntilTheRoundsAreOver) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(engine, "mcts", MctsOptions(1, 6), ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches.size(), 3U);
  const std::vector<SearchNode>& tree = SearchOf(*session).tree();
  EXPECT_EQ(tree[0].visits, 6);
  // The leaf: one visit by its (empty) rollout, four by rounds 3 to 6.
  EXPECT_EQ(tree[2].visits, 5);
  EXPECT_DOUBLE_EQ(tree[2].value, .5);
  EXPECT_EQ(session->Result().answer, "a");
}

TEST(Mcts, EqualStepsAreOneChild) {
  FakeEngine engine(
      LetterSteps([](char) { return 1; }, [](char) { return '1'; }, [](char) { return 's'; }));
  Batches batches;
  auto session = StepSession(engine, "mcts", MctsOptions(3, 2), ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[0].size(), 3U);
  const std::vector<SearchNode>& tree = SearchOf(*session).tree();
  EXPECT_EQ(tree[0].children.size(), 1U);
  EXPECT_EQ(tree[1].children.size(), 1U);  // three equal answers
  EXPECT_EQ(session->pool().path(1).reason, "a sibling wrote the same step");
  EXPECT_EQ(session->Result().voting_paths, 1);
}

TEST(Mcts, RolloutsGoOnForTheirLengthOrToTheEnd) {
  FakeEngine engine(LetterSteps([](char) { return 3; }, [](char letter) { return letter; }));
  MethodOptions options = MctsOptions(1, 1);
  options.tree.rollout_steps = 2;
  Batches batches;
  auto session = StepSession(engine, "mcts", options,
                             ByText({{"a\nb\n", .9}, {"a\nb\nb\n", .3}}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[1], std::vector<std::string>{"a\nb\n"});
  EXPECT_EQ(batches[2], std::vector<std::string>{"a\nb\nb\n"});
  EXPECT_EQ(batches[3], std::vector<std::string>{"a\na\n"});  // the conclusion
  EXPECT_DOUBLE_EQ(SearchOf(*session).tree()[1].value, (.5 + .9) / 2);
  EXPECT_EQ(session->pool().path(1).reason, "its rollout is over");
}

TEST(Mcts, WithoutRolloutsAValueIsHalvedByTheEmptyOne) {
  FakeEngine engine(LetterSteps([](char) { return 3; }, [](char letter) { return letter; }));
  MethodOptions options = MctsOptions(2, 1);
  options.tree.rollout_steps = 0;
  auto session = StepSession(engine, "mcts", options, ByText({{"b\n", .6}}, .5));
  RunSteps(engine, *session);
  EXPECT_DOUBLE_EQ(SearchOf(*session).tree()[2].value, .3);
  EXPECT_EQ(session->Result().answer, "a");  // .5 is left unhalved, and so the best
}

TEST(Mcts, ChildrenWithoutAValueLeaveABarrenNode) {
  FakeEngine engine(LetterSteps([](char) { return 3; }, [](char letter) { return letter; }));
  auto session =
      StepSession(engine, "mcts", MctsOptions(2, 4),
                  ByText({{"b\n", .5}, {"a\n", .4}}, std::numeric_limits<double>::quiet_NaN()));
  RunSteps(engine, *session);
  const std::vector<SearchNode>& tree = SearchOf(*session).tree();
  EXPECT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree[0].visits, 4);
  EXPECT_FALSE(session->Result().answer.has_value());
}

TEST(Mcts, FewLanesAreReusedAndNodesReadAgain) {
  FakeEngine engine(LetterSteps([](char) { return 4; }, [](char letter) { return letter; }));
  MethodOptions options = MctsOptions(3, 12);
  options.width = 2;  // four lanes
  auto session = StepSession(engine, "mcts", options, ByText({}, .5));
  RunSteps(engine, *session);
  EXPECT_LE(session->Result().ledger.lanes_peak, 4);
  int set_aside = 0;
  for (const Path& path : session->pool().paths()) {
    set_aside += path.reason.rfind("set aside", 0) == 0 ? 1 : 0;
  }
  EXPECT_GE(set_aside, 1);
  EXPECT_GT(session->Result().ledger.prefilled, 1);
  EXPECT_TRUE(session->Result().answer.has_value());
  // Each child's text continues its parent's, whichever lane wrote it.
  const Mcts& search = SearchOf(*session);
  for (size_t i = 1; i < search.tree().size(); ++i) {
    const StepNode& child =
        search.nodes()[static_cast<size_t>(search.node_of(static_cast<int>(i)))];
    if (child.parent > 0) {
      const StepNode& parent = search.nodes()[static_cast<size_t>(child.parent)];
      EXPECT_EQ(parent.end, child.begin);
      const auto& of_child = session->pool().path(child.path).tokens;
      const auto& of_parent = session->pool().path(parent.path).tokens;
      EXPECT_TRUE(std::equal(of_child.begin(), of_child.begin() + child.begin, of_parent.begin()));
    }
  }
}

TEST(Mcts, DepthLimitEndsExpansionRolloutAndConclusion) {
  FakeEngine engine(LetterSteps([](char) { return 9; }, [](char letter) { return letter; }));
  MethodOptions options = MctsOptions(1, 4);
  options.tree.steps = 2;
  options.tree.rollout_steps = 5;
  Batches batches;
  auto session = StepSession(engine, "mcts", options, ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches, (Batches{{"a\n"}, {"a\nb\n"}, {"a\na\n"}}));
  EXPECT_FALSE(session->Result().answer.has_value());
}

TEST(Mcts, EqualSeedsSearchAlike) {
  Batches first;
  Batches second;
  for (Batches* batches : {&first, &second}) {
    FakeEngine engine(LetterSteps([](char) { return 3; }, [](char letter) { return letter; }));
    auto session = StepSession(engine, "mcts", MctsOptions(3, 9), ByText({}, .5), batches);
    RunSteps(engine, *session);
  }
  EXPECT_GE(first.size(), 9U);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace hyper
