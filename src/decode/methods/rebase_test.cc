#include "src/decode/methods/rebase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

// Values by the letter of the last step; unknown letters get `other`.
StepValue ByLastLetter(std::map<char, double> values, double other) {
  return [values = std::move(values), other](const std::string& text) {
    const size_t end = text.find_last_not_of('\n');
    const auto at = values.find(text[text.find('=') == std::string::npos ? end : 0]);
    return at == values.end() ? other : at->second;
  };
}

TEST(Rebase, GrowsTheTreeThatTheSharesSay) {
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  Batches batches;
  // Level 1, B = 4, T_b = 0.2, by hand: e = 1, .607, .135, .030; ceil(4 * .564) = 3 for a, then
  // ceil(1 * .785) = 1 for b, none for c and d. Forks of a decode as e and f.
  // Level 2, values e .9, a .5, f .5, b .1: ceil(4 * .778) = 4 for a's fork e.
  auto session = StepSession(
      engine, "rebase", StepOptions(4),
      [](const std::string& text) {
        static const std::map<std::string, double> values = {
            {"a\n", .9},    {"b\n", .8},    {"c\n", .5},    {"d\n", .2},     {"a\na\n", .5},
            {"a\ne\n", .9}, {"a\nf\n", .5}, {"b\nb\n", .1}, {"a\ne\n=e", .7}};
        const auto at = values.find(text);
        return at == values.end() ? 0.25 : at->second;
      },
      &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches, (Batches{{"a\n", "b\n", "c\n", "d\n"},
                              {"a\na\n", "a\ne\n", "a\nf\n", "b\nb\n"},
                              {"a\ne\n=e", "a\ne\n=g", "a\ne\n=h", "a\ne\n=i"}}));
  const std::vector<Path>& paths = session->pool().paths();
  ASSERT_EQ(paths.size(), 9U);  // 4 on the prompt, 2 forks of a, 3 forks of its fork e
  EXPECT_EQ(paths[4].parent, 0);
  EXPECT_EQ(paths[4].fork_position, 2);
  EXPECT_EQ(paths[6].parent, 4);
  EXPECT_EQ(paths[6].fork_position, 4);
  EXPECT_EQ(paths[2].status, PathStatus::kPruned);
  EXPECT_EQ(paths[2].reason, "value 0.500 got none of 4 continuations");
  const SessionResult result = session->Result();
  EXPECT_EQ(result.vote_rule, "weighted");
  EXPECT_EQ(result.voting_paths, 4);
  EXPECT_EQ(result.answer, "e");
  EXPECT_DOUBLE_EQ(result.votes.at("weighted").scores[0].score, 0.7);
  EXPECT_DOUBLE_EQ(result.votes.at("weighted").scores[1].score, 0.25);
  EXPECT_EQ(result.ledger.lanes_opened, 9);
  EXPECT_EQ(result.ledger.lanes_peak, 4);
  EXPECT_EQ(result.ledger.generated, 4 * 2 + 4 * 2 + 4 * 3);
  EXPECT_EQ(result.ledger.generated, engine.cost().decode_rows);
  EXPECT_EQ(result.ledger.effective(), result.ledger.generated);
}

TEST(Rebase, AFinishedPathTakesItsPlaceOutOfTheWidth) {
  // a ends within its first step; of the three others only b and c are worth anything.
  FakeEngine engine(
      LetterSteps([](char letter) { return letter == 'a' ? 0 : 2; }, [](char) { return '1'; }));
  Batches batches;
  auto session =
      StepSession(engine, "rebase", StepOptions(4),
                  ByLastLetter({{'a', .9}, {'b', .6}, {'c', .6}, {'d', 0}}, .6), &batches);
  RunSteps(engine, *session);
  // B = 3 over .6, .6, 0: the later of the equals first: ceil(3 * .488) = 2 for c, 1 for b.
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[1], (std::vector<std::string>{"b\nb\n", "c\nc\n", "c\ne\n"}));
  EXPECT_EQ(batches[2].size(), 3U);
  EXPECT_EQ(session->Result().voting_paths, 4);
}

TEST(Rebase, RoundingIsTheDefaultAndMayPassTheWidth) {
  MethodOptions options = StepOptions(3);
  options.tree.allocation = MethodOptions().tree.allocation;
  EXPECT_EQ(options.tree.allocation, Allocation::kRound);
  FakeEngine engine(
      LetterSteps([](char letter) { return letter == 'a' ? 0 : 3; }, [](char) { return '1'; }));
  Batches batches;
  // B = 2 over equal b and c: one each. The default T_b is 0.1.
  options.tree.balance_temperature = 0;
  auto session =
      StepSession(engine, "rebase", options, ByLastLetter({{'b', .5}, {'c', .4}}, .5), &batches);
  RunSteps(engine, *session);
  // e = 1 and exp(-1) = .368: 2 * .731 = 1.46 and 0.54 round to 1 and 1.
  EXPECT_EQ(batches[1], (std::vector<std::string>{"b\nb\n", "c\nc\n"}));
}

TEST(Rebase, TheDefaultTemperatureIsTheCodes) {
  MethodOptions options = StepOptions(2);
  options.tree.balance_temperature = 0;
  FakeEngine engine(LetterSteps([](char) { return 2; }, [](char letter) { return letter; }));
  Batches batches;
  // At 0.1: e = 1 and exp(-2) = .135, ceil(2 * .881) = 2 for a. At 0.2 b would get one.
  options.tree.allocation = Allocation::kRound;
  auto session =
      StepSession(engine, "rebase", options, ByLastLetter({{'a', .5}, {'b', .3}}, .5), &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(batches[1], (std::vector<std::string>{"a\na\n", "a\nc\n"}));
}

TEST(Rebase, StepsAreCutAtTheirTokenLimitAndPathsAtTheDepthLimit) {
  FakeEngine engine(
      ScriptedOptions([](uint64_t, std::string_view, int) { return ScriptedNext{'x'}; }));
  MethodOptions options = StepOptions(2);
  options.tree.step_tokens = 5;
  options.tree.steps = 3;
  Batches batches;
  auto session = StepSession(
      engine, "rebase", options, [](const std::string&) { return 0.5; }, &batches);
  RunSteps(engine, *session);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0][0], "xxxxx");
  EXPECT_EQ(batches[2][0].size(), 15U);
  EXPECT_EQ(session->pool().paths()[0].status, PathStatus::kPruned);
  EXPECT_EQ(session->pool().paths()[0].reason, "3 steps without an end");
  EXPECT_FALSE(session->Result().answer.has_value());
}

TEST(Rebase, PathsAtTheTokenLimitAreLeaves) {
  FakeEngine engine(ScriptedOptions([](uint64_t, std::string_view written, int) {
    return ScriptedNext{written.size() % 4 == 3 ? '\n' : written.size() % 4 == 2 ? '7' : '='};
  }));
  MethodOptions options = StepOptions(2);
  options.max_tokens = 11;  // "==7\n==7\n==7"
  auto session = StepSession(engine, "rebase", options, [](const std::string&) { return 0.5; });
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().paths()[0].status, PathStatus::kLength);
  EXPECT_EQ(session->Result().voting_paths, 2);
  EXPECT_EQ(session->Result().answer, "7");
}

TEST(Rebase, StepsWithoutAValueAreDroppedAndTheBudgetStays) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  Batches batches;
  auto session = StepSession(
      engine, "rebase", StepOptions(3),
      ByLastLetter({{'a', std::numeric_limits<double>::quiet_NaN()}, {'b', .5}, {'c', .5}}, .5),
      &batches);
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().paths()[0].status, PathStatus::kPruned);
  EXPECT_EQ(session->pool().paths()[0].reason, "its step got no value");
  EXPECT_EQ(batches[1].size(), 3U);  // all of B = 3 went to b and c
  EXPECT_EQ(session->Result().voting_paths, 3);
}

TEST(Rebase, NoValueAnywhereEndsTheSearch) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  auto session = StepSession(engine, "rebase", StepOptions(3), [](const std::string&) {
    return std::numeric_limits<double>::quiet_NaN();
  });
  RunSteps(engine, *session);
  EXPECT_FALSE(session->Result().answer.has_value());
}

TEST(Rebase, FailedLanesAreNoLeaves) {
  FakeOptions faulty = LetterSteps([](char) { return 2; }, [](char letter) { return letter; });
  faulty.lane_fault = [](const FakeStep& step) -> std::optional<Error> {
    if (step.history.size() == 4 && step.history[1] == 'b') {
      return Error{ErrorCode::kUnavailable, "lost"};
    }
    return std::nullopt;
  };
  FakeEngine engine(faulty);
  auto session =
      StepSession(engine, "rebase", StepOptions(2), [](const std::string&) { return .5; });
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().paths()[1].status, PathStatus::kFailed);
  EXPECT_EQ(session->Result().voting_paths, 2);  // a and its fork
}

TEST(Rebase, FewerLanesThanTheWidthIsANoticeAndANarrowerSearch) {
  FakeOptions tight = LetterSteps([](char) { return 1; }, [](char) { return '5'; });
  tight.capabilities.max_lanes = 3;
  CrowdedEngine engine(tight);
  auto session =
      StepSession(engine, "rebase", StepOptions(8), [](const std::string&) { return .5; });
  RunSteps(engine, *session);
  EXPECT_EQ(session->Result().answer, "5");
  EXPECT_EQ(session->Result().ledger.lanes_peak, 3);
  EXPECT_FALSE(NoticesOf(*session).empty());
}

TEST(Rebase, NoLaneAtAllIsAnError) {
  FakeOptions none = LetterSteps([](char) { return 1; }, [](char) { return '5'; });
  none.refuse_open = [](int64_t) { return true; };
  FakeEngine engine(none);
  auto session =
      StepSession(engine, "rebase", StepOptions(2), [](const std::string&) { return .5; });
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(session->status().error().code, ErrorCode::kResourceExhausted);
}

TEST(Rebase, ShortOfCellsTheLeastSureStepGoes) {
  FakeOptions options = LetterSteps([](char) { return 6; }, [](char) { return '5'; });
  // c is less sure of all that it writes.
  options.logits = [inner = options.logits](const FakeStep& step, std::span<float> logits) {
    inner(step, logits);
    if (step.history.size() > 1 && step.history[1] == 'c') {
      *std::max_element(logits.begin(), logits.end()) = 3.0F;
    }
  };
  FakeEngine engine(options);
  auto session = StepSession(
      engine, "rebase", StepOptions(4), [](const std::string&) { return .5; }, nullptr,
      /*cells=*/30);
  Driver driver(engine);
  driver.Add(session.get());
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_LE(engine.cost().cells_used, 30);
  }
  EXPECT_EQ(session->Result().answer, "5");
  std::string first;
  for (const Record& record : session->TakeRecords()) {
    const auto* finish = std::get_if<FinishRecord>(&record);
    if (first.empty() && finish != nullptr &&
        finish->reason.find("KV cells ran short") != std::string::npos) {
      first = session->pool().path(finish->path).text;
    }
  }
  EXPECT_EQ(first.substr(0, 1), "c");
}

TEST(Rebase, EqualSeedsGiveEqualTrees) {
  for (const double other : {0.1, 0.5}) {
    Batches first;
    Batches second;
    for (Batches* batches : {&first, &second}) {
      FakeEngine engine(LetterSteps([](char letter) { return 2 + letter % 3; },
                                    [](char letter) { return letter; }));
      auto session = StepSession(engine, "rebase", StepOptions(6),
                                 ByLastLetter({{'b', .6}, {'d', .7}}, other), batches);
      RunSteps(engine, *session);
    }
    EXPECT_GE(first.size(), 3U);
    EXPECT_EQ(first, second);
  }
}

}  // namespace
}  // namespace hyper
