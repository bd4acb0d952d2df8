#include "src/decode/methods/threadweaver.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

const std::string kPlan =
    "Two ways.\n<Parallel>\n<Outlines>\n<Outline>1: add\n<Outline> 2 : multiply\n"
    "<Outline>1: again\n<Outline>3.1: check\n<Outline>x: none\n</Outlines>";

// Writes `plan`, then in each thread the text of its number, then `rest` behind the joined threads;
// '$' ends.
Script Spawning(std::string plan, std::map<std::string, std::string> threads, std::string rest) {
  return [plan = std::move(plan), threads = std::move(threads), rest = std::move(rest)](
             uint64_t, std::string_view written, int) {
    const auto next = [](const std::string& text, size_t at) {
      return ScriptedNext{at < text.size() ? text[at] : '$'};
    };
    const size_t opened = written.rfind("<Thread>\n");
    if (opened == std::string_view::npos) {
      return next(plan, written.size());
    }
    const size_t closed = written.find("</Thread>", opened);
    const size_t colon = written.find(':', opened);
    if (closed == std::string_view::npos) {
      const std::string number(written.substr(opened + 9, colon - opened - 9));
      return next(threads.at(number), written.size() - colon - 1);
    }
    // The tag and what the orchestrator put after it, up to the end of "</Parallel>" or a newline.
    const size_t parallel = written.find("</Parallel>", closed);
    const size_t begin = parallel != std::string_view::npos && rest.find("</Parallel>") != 0
                             ? parallel + 11
                             : closed + 10;
    return next(rest, written.size() - begin);
  };
}

MethodOptions WeaverOptions(int width) {
  MethodOptions options = StepOptions(width);
  options.vote.rule = VoteRule::kMajority;
  options.max_tokens = 400;
  options.lane_factor = 4;
  return options;
}

std::unique_ptr<Session> WeaverSession(Engine& engine, const MethodOptions& options,
                                       int64_t cells = 1 << 20) {
  return ScriptedSession(engine, "threadweaver", options, cells);
}

const ThreadWeaver& WeaverOf(const Session& session) {
  return dynamic_cast<const ThreadWeaver&>(session.method());
}

TEST(OutlineNumbers, AreThoseOfTheLastBlockEachOnce) {
  using Numbers = std::vector<std::string>;
  EXPECT_EQ(OutlineNumbers(kPlan), (Numbers{"1", "2", "3.1"}));
  EXPECT_EQ(OutlineNumbers("<Outlines><Outline>1:</Outlines> <Outlines><Outline>7:"), Numbers{"7"});
  EXPECT_EQ(OutlineNumbers("<Outlines><Outline>\n 12.3.4 \n: a"), Numbers{"12.3.4"});
  EXPECT_EQ(OutlineNumbers("<Outlines><Outline>1. a<Outline>2 b<Outline>: c"), Numbers{});
  EXPECT_EQ(OutlineNumbers("<Outline>1: a"), Numbers{});
  EXPECT_EQ(OutlineNumbers(""), Numbers{});
}

TEST(ThreadWeaver, ThreeThreadsAreDecodedSideBySideAndJoinedByteForByte) {
  FakeEngine engine(ScriptedOptions(Spawning(
      kPlan,
      {{"1", " 20+22</Thread>"}, {"2", " 6*7 = 42, surely\n</Thread>"}, {"3.1", "ok</Thread>"}},
      "\nSo =42")));
  auto session = WeaverSession(engine, WeaverOptions(1));
  RunSteps(engine, *session);
  const Path& trunk = session->pool().path(0);
  EXPECT_EQ(trunk.text, kPlan +
                            "\n<Thread>\n1: 20+22</Thread>"
                            "<Thread>\n2: 6*7 = 42, surely\n</Thread>"
                            "<Thread>\n3.1:ok</Thread>"
                            "\n</Parallel>\nSo =42");
  EXPECT_EQ(trunk.status, PathStatus::kFinished);
  EXPECT_EQ(session->Result().answer, "42");
  EXPECT_EQ(session->Result().voting_paths, 1);
  ASSERT_EQ(session->pool().paths().size(), 4U);
  for (PathId id = 1; id <= 3; ++id) {
    EXPECT_EQ(session->pool().path(id).parent, 0);
    EXPECT_EQ(session->pool().path(id).fork_position, static_cast<int>(kPlan.size()));
    EXPECT_EQ(session->pool().path(id).status, PathStatus::kMerged);
    EXPECT_EQ(session->pool().path(id).kept, 0);
  }
  const Ledger ledger = session->Result().ledger;
  EXPECT_EQ(ledger.lanes_opened, 4);
  EXPECT_EQ(ledger.lanes_peak, 4);
  const int64_t threads[] = {15, 27, 11};
  const auto all =
      static_cast<int64_t>(kPlan.size()) + 15 + 27 + 11 + 8;  // 8: the rest and its end
  EXPECT_EQ(ledger.generated, all);
  EXPECT_EQ(ledger.generated, engine.cost().decode_rows);
  EXPECT_EQ(WeaverOf(*session).activation_ratio(), 1.0);
  EXPECT_DOUBLE_EQ(WeaverOf(*session).acceleration(session->pool()),
                   static_cast<double>(threads[0] + threads[2]) / static_cast<double>(all));
}

TEST(ThreadWeaver, AnUnclosedThreadIsClosedByForceAndEndsTheTrajectory) {
  FakeEngine engine(ScriptedOptions(
      Spawning(kPlan, {{"1", " a =7</Thread>"}, {"2", " b =9"}, {"3.1", " c</Thread>"}}, "never")));
  auto session = WeaverSession(engine, WeaverOptions(1));
  RunSteps(engine, *session);
  const Path& trunk = session->pool().path(0);
  EXPECT_EQ(trunk.text, kPlan +
                            "\n<Thread>\n1: a =7</Thread>"
                            "<Thread>\n2: b =9\n</Thread>"
                            "<Thread>\n3.1: c</Thread>"
                            "\n</Parallel>");
  EXPECT_EQ(trunk.status, PathStatus::kLength);
  EXPECT_EQ(trunk.reason, "a thread ended without </Thread>");
  EXPECT_EQ(session->Result().voting_paths, 1);
}

TEST(ThreadWeaver, TheModelMayCloseTheBlockItself) {
  FakeEngine engine(ScriptedOptions(
      Spawning("<Outlines><Outline>1: a</Outlines>", {{"1", "x</Thread>"}}, "</Parallel>=3")));
  MethodOptions options = WeaverOptions(1);
  options.tree.parallel_close = ParallelClose::kModel;
  auto session = WeaverSession(engine, options);
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().path(0).text,
            "<Outlines><Outline>1: a</Outlines>\n<Thread>\n1:x</Thread>\n</Parallel>=3");
  EXPECT_EQ(session->Result().answer, "3");
}

TEST(ThreadWeaver, WithoutOutlinesItIsOrdinaryDecoding) {
  FakeEngine engine(ScriptedOptions(Spawning("<Outlines>nothing numbered</Outlines> =5", {}, "")));
  auto session = WeaverSession(engine, WeaverOptions(3));
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().paths().size(), 3U);
  EXPECT_EQ(session->Result().answer, "5");
  EXPECT_EQ(session->Result().voting_paths, 3);
  EXPECT_EQ(WeaverOf(*session).activation_ratio(), 0.0);
  EXPECT_EQ(WeaverOf(*session).acceleration(session->pool()), 0.0);
  bool reported = false;
  for (const Record& record : session->TakeRecords()) {
    const auto* notice = std::get_if<NoticeRecord>(&record);
    reported |= notice != nullptr &&
                notice->text.find("activation ratio 0.000 over 3") != std::string::npos;
  }
  EXPECT_TRUE(reported);
}

TEST(ThreadWeaver, SpawnsAgainUntilItsStatesAreUsedUp) {
  // After each block the model outlines another one.
  FakeEngine engine(
      ScriptedOptions(Spawning("<Outlines><Outline>1:</Outlines>", {{"1", "</Thread>"}},
                               "<Outlines><Outline>1:</Outlines>")));
  MethodOptions options = WeaverOptions(1);
  options.max_tokens = 4000;
  options.loop_guard = false;  // the script does nothing but repeat itself
  auto session = WeaverSession(engine, options);
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().path(0).reason, "32 changes between sequential and parallel");
  // States 1, 3, ... are sequential: sixteen blocks fit into 32 states.
  EXPECT_EQ(session->pool().paths().size(), 1U + 16U);
}

TEST(ThreadWeaver, FewLanesDecodeThreadsOneAfterAnother) {
  FakeOptions tight = ScriptedOptions(
      Spawning(kPlan, {{"1", "a</Thread>"}, {"2", "b</Thread>"}, {"3.1", "c</Thread>"}}, "=1"));
  tight.capabilities.max_lanes = 2;
  CrowdedEngine engine(tight);
  auto session = WeaverSession(engine, WeaverOptions(1));
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().path(0).text,
            kPlan +
                "\n<Thread>\n1:a</Thread><Thread>\n2:b</Thread><Thread>\n3.1:c</Thread>"
                "\n</Parallel>=1");
  EXPECT_EQ(session->Result().ledger.lanes_peak, 2);
}

TEST(ThreadWeaver, NoLaneForThreadsIsOrdinaryDecoding) {
  FakeOptions tight = ScriptedOptions(
      Spawning("<Outlines><Outline>1: a</Outlines> so =8", {{"1", "x</Thread>"}}, ""));
  tight.capabilities.max_lanes = 1;
  CrowdedEngine engine(tight);
  auto session = WeaverSession(engine, WeaverOptions(1));
  RunSteps(engine, *session);
  EXPECT_EQ(session->Result().answer, "8");
  EXPECT_EQ(WeaverOf(*session).activation_ratio(), 0.0);
}

TEST(ThreadWeaver, TokenLimitsEndThreadsAndTrajectories) {
  FakeEngine engine(ScriptedOptions(
      Spawning("<Outlines><Outline>1: a</Outlines>", {{"1", std::string(300, 'x')}}, "never")));
  MethodOptions options = WeaverOptions(1);
  options.max_tokens = 60;
  auto session = WeaverSession(engine, options);
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().path(1).status, PathStatus::kLength);
  EXPECT_EQ(session->pool().path(1).length(), 60);
  EXPECT_EQ(session->pool().path(0).reason, "a thread ended without </Thread>");

  // The header alone passes the limit.
  FakeEngine short_engine(
      ScriptedOptions(Spawning("<Outlines><Outline>1: a</Outlines>", {{"1", "x"}}, "never")));
  options.max_tokens = 40;
  auto tiny = WeaverSession(short_engine, options);
  RunSteps(short_engine, *tiny);
  EXPECT_EQ(tiny->pool().path(1).status, PathStatus::kLength);
}

TEST(ThreadWeaver, ShortOfCellsSomethingStillEnds) {
  FakeEngine engine(ScriptedOptions(Spawning(
      kPlan, {{"1", std::string(80, 'a')}, {"2", "b</Thread>"}, {"3.1", "c</Thread>"}}, "=1")));
  auto session = WeaverSession(engine, WeaverOptions(1), static_cast<int64_t>(kPlan.size()) + 70);
  RunSteps(engine, *session);
  EXPECT_EQ(session->pool().path(0).reason, "a thread ended without </Thread>");
}

}  // namespace
}  // namespace hyper
