#include "src/decode/methods/ets.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

MethodOptions EtsOptions(int width, double cost, double coverage) {
  MethodOptions options = StepOptions(width);
  options.tree.cost_weight = cost;
  options.tree.coverage_weight = coverage;
  return options;
}

TEST(Ets, KeepsWhatPaysForItsAncestors) {
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  Batches batches;
  // Level 1, B = 4, T_b = 0.2: shares a 2, b 2, c 0, d 0. M = 1, N = 4, so a node costs 1.5 / 5:
  // a and b: 1 - 3 * 0.3 = 0.1, the best. Forks: e of a, f of b.
  // Level 2: values .9 (aa), .9 (ae), .9 (bb), .1 (bf); ceil shares by hand: bb 2, ae 1, aa 1.
  // M = 3, N = 4, a node costs 1.5 / 7 = .214: bb alone .5 - 3 * .214 = -.143; with aa -.321; all
  // three -.286; aa and ae -.357. REBASE would have kept all three; ETS gives all to bb.
  auto session = StepSession(engine, "ets", EtsOptions(4, 1.5, 0),
                             ByText({{"a\n", .9},
                                     {"b\n", .9},
                                     {"c\n", .0},
                                     {"d\n", .0},
                                     {"a\na\n", .9},
                                     {"a\ne\n", .9},
                                     {"b\nb\n", .9},
                                     {"b\nf\n", .1}},
                                    .5),
                             &batches);
  RunSteps(engine, *session);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[1], (std::vector<std::string>{"a\na\n", "a\ne\n", "b\nb\n", "b\nf\n"}));
  EXPECT_EQ(batches[2], (std::vector<std::string>{"b\nb\n=b", "b\nb\n=g", "b\nb\n=h", "b\nb\n=i"}));
  EXPECT_EQ(session->Result().voting_paths, 4);
  EXPECT_EQ(session->pool().path(0).reason, "value 0.900 got none of 4 continuations");
}

TEST(Ets, CoverageKeepsOneOfEachCluster) {
  // Paths a and b write "s", c and d write "t".
  const auto word = [](char letter) { return letter < 'c' ? 's' : letter < 'e' ? 't' : letter; };
  const auto run = [&word](double coverage, Batches& batches) {
    FakeEngine engine(LetterSteps([](char) { return 2; }, [](char) { return '1'; }, word));
    auto session =
        StepSession(engine, "ets", EtsOptions(4, 2.0, coverage), ByText({}, .5), &batches);
    RunSteps(engine, *session);
    int kept = 0;
    for (PathId id = 0; id < 4; ++id) {
      kept += session->pool().path(id).status == PathStatus::kFinished ? 1 : 0;
    }
    return kept;
  };
  // Equal shares of .25; a node costs 2 / 5: none pays for itself.
  Batches without;
  run(0, without);
  ASSERT_GE(without.size(), 2U);
  const std::string only = without[1][0].substr(0, 2);
  for (const std::string& text : without[1]) {
    EXPECT_EQ(text.substr(0, 2), only);  // all four continue one node
  }
  // A cluster is worth 1.5 / 2, so one node of each: .25 - .4 + .75 > 0; a second one is not.
  Batches with;
  run(1.5, with);
  int first = 0;
  for (const std::string& text : with[1]) {
    first += text[0] == 's' ? 1 : 0;
  }
  EXPECT_EQ(with[1].size(), 4U);
  EXPECT_EQ(first, 2);
}

TEST(Ets, StepsThatAreAllAlikeAreNoClusters) {
  FakeEngine engine(
      LetterSteps([](char) { return 1; }, [](char) { return '1'; }, [](char) { return 's'; }));
  Batches batches;
  // With one cluster a coverage of 50 would not matter; without any, one node pays best.
  auto session = StepSession(engine, "ets", EtsOptions(3, 3.0, 50), ByText({}, .5), &batches);
  RunSteps(engine, *session);
  int finished = 0;
  for (PathId id = 0; id < 3; ++id) {
    finished += session->pool().path(id).status == PathStatus::kFinished ? 1 : 0;
  }
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(session->Result().voting_paths, 3);
}

TEST(Ets, TheDefaultTemperatureIsTheCodes) {
  const auto run = [](double temperature) {
    FakeEngine engine(LetterSteps([](char letter) { return 1 + letter % 3; },
                                  [](char letter) { return letter; }));
    MethodOptions options = EtsOptions(6, 0, 0);
    options.tree.balance_temperature = temperature;
    Batches batches;
    auto session = StepSession(engine, "ets", options,
                               ByText({{"b\n", .7}, {"c\n", .6}, {"f\n", .1}}, .4), &batches);
    RunSteps(engine, *session);
    return batches;
  };
  EXPECT_EQ(run(0), run(0.2));
  EXPECT_NE(run(0), run(0.1));
}

TEST(Ets, NodesThatCostNothingAreRebases) {
  const auto run = [](const std::string& method, Batches& batches) {
    FakeEngine engine(LetterSteps([](char letter) { return 1 + letter % 3; },
                                  [](char letter) { return letter; }));
    auto session = StepSession(engine, method, EtsOptions(6, 0, 0),
                               ByText({{"b\n", .7}, {"c\n", .6}, {"f\n", .1}}, .4), &batches);
    RunSteps(engine, *session);
  };
  Batches ets;
  Batches rebase;
  run("ets", ets);
  run("rebase", rebase);
  EXPECT_GE(ets.size(), 2U);
  EXPECT_EQ(ets, rebase);
}

}  // namespace
}  // namespace hyper
