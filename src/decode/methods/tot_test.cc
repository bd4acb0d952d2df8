#include "src/decode/methods/tot.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

MethodOptions TotOptions(const std::string& search, int branches, int keep) {
  MethodOptions options = StepOptions(8);
  options.vote.rule = VoteRule::kMajority;
  EXPECT_TRUE(SetOption(options, "search", search).ok());
  options.tree.branches = branches;
  options.tree.keep = keep;
  return options;
}

TEST(TreeOfThoughts, KeepsTheBestOfEachLevel) {
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(engine, "tot", TotOptions("bfs", 3, 2),
                             ByText({{"a\n", .3},
                                     {"b\n", .7},
                                     {"c\n", .1},
                                     {"b\nb\n", .6},
                                     {"a\na\n", .6},
                                     {"b\nb\n=b", .9},
                                     {"a\na\n=i", .8}},
                                    .2),
                             &batches);
  RunSteps(engine, *session);
  // Level 1 keeps b, a; level 2 keeps bb and aa (of equals the earlier, both stay); then answers.
  EXPECT_EQ(batches,
            (Batches{{"a\n", "b\n", "c\n"},
                     {"b\nb\n", "b\nd\n", "b\ne\n", "a\na\n", "a\nf\n", "a\ng\n"},
                     {"b\nb\n=b", "b\nb\n=h", "b\nb\n=i", "a\na\n=a", "a\na\n=j", "a\na\n=k"}}));
  EXPECT_EQ(session->pool().path(2).reason, "value 0.100 is not among the best");
  const SessionResult result = session->Result();
  EXPECT_EQ(result.voting_paths, 2);  // the final beam: =b and the earliest of the equal rest
  EXPECT_EQ(result.votes.at("best").answer, "b");
  EXPECT_EQ(result.ledger.lanes_peak, 6);
}

TEST(TreeOfThoughts, AnEndedStateKeepsItsPlaceInTheBeam) {
  // a ends at once; b goes on for two more steps.
  FakeEngine engine(LetterSteps([](char letter) { return letter == 'a' ? 0 : 3; },
                                [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(engine, "tot", TotOptions("bfs", 2, 2),
                             ByText({{"=a", .9}, {"b\n", .5}, {"b\nb\n", .4}}, .1), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[1].size(), 2U);  // only b is expanded
  EXPECT_EQ(session->Result().voting_paths, 2);
  EXPECT_EQ(session->Result().votes.at("best").answer, "a");
}

TEST(TreeOfThoughts, RepeatedCandidatesAreWorthNothing) {
  FakeEngine engine(
      LetterSteps([](char) { return 1; }, [](char) { return '1'; }, [](char) { return 's'; }));
  Batches batches;
  auto session = StepSession(engine, "tot", TotOptions("bfs", 3, 3), ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[0].size(), 3U);
  EXPECT_EQ(batches[1].size(), 3U);  // one state left, three continuations
  EXPECT_EQ(session->Result().voting_paths, 1);
}

TEST(TreeOfThoughts, DefaultsAreThePapers) {
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  MethodOptions options = TotOptions("bfs", 0, 0);
  options.width = 32;
  Batches batches;
  auto session = StepSession(engine, "tot", options, ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[0].size(), 5U);
  EXPECT_EQ(batches[1].size(), 25U);
  EXPECT_EQ(batches[2].size(), 25U);
  EXPECT_EQ(session->Result().voting_paths, 5);
}

TEST(TreeOfThoughts, InDepthGoesBackFromWhatIsWorthTooLittle) {
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  MethodOptions options = TotOptions("dfs", 2, 0);
  options.tree.prune_value = 0.2;
  Batches batches;
  auto session = StepSession(engine, "tot", options,
                             ByText({{"a\n", .4},
                                     {"b\n", .6},
                                     {"b\nb\n", .1},
                                     {"b\nc\n", .2},
                                     {"a\na\n", .3},
                                     {"a\nd\n", .5},
                                     {"a\nd\n=d", .4},
                                     {"a\nd\n=e", .95},
                                     {"a\na\n=a", .9}},
                                    0),
                             &batches);
  RunSteps(engine, *session);
  // b first; both of its states are worth too little; back to a; there d, whose answer ends it.
  EXPECT_EQ(
      batches,
      (Batches{
          {"a\n", "b\n"}, {"b\nb\n", "b\nc\n"}, {"a\na\n", "a\nd\n"}, {"a\nd\n=d", "a\nd\n=e"}}));
  const SessionResult result = session->Result();
  EXPECT_EQ(result.vote_rule, "best");
  EXPECT_EQ(result.answer, "e");
  EXPECT_EQ(result.voting_paths, 1);  // =d was never entered
}

TEST(TreeOfThoughts, InDepthTriesAllWithinItsExpansions) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  MethodOptions options = TotOptions("dfs", 2, 0);
  Batches batches;
  auto all =
      StepSession(engine, "tot", options, ByText({{"b\n", .6}, {"b\n=c", .7}}, .5), &batches);
  RunSteps(engine, *all);
  EXPECT_EQ(batches.size(), 3U);
  EXPECT_EQ(all->Result().voting_paths, 4);
  EXPECT_EQ(all->Result().answer, "c");

  FakeEngine again(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  options.tree.iterations = 2;  // the root, and b
  auto few = StepSession(again, "tot", options, ByText({{"b\n", .6}}, .5));
  RunSteps(again, *few);
  EXPECT_EQ(few->Result().voting_paths, 2);
}

TEST(TreeOfThoughts, InDepthStopsAtTheDepthLimit) {
  FakeEngine engine(LetterSteps([](char) { return 9; }, [](char letter) { return letter; }));
  MethodOptions options = TotOptions("dfs", 2, 0);
  options.tree.steps = 2;
  Batches batches;
  auto session = StepSession(engine, "tot", options, ByText({}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches.size(), 3U);
  EXPECT_FALSE(session->Result().answer.has_value());
}

}  // namespace
}  // namespace hyper
