// Parallel-Probe and Certaindex: paths that end by what their probes answer.
#include "src/decode/methods/probed_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// What path `name` replies after it wrote `length` letters.
using ReplyAt = std::function<char(char name, int length)>;

// Path i writes lengths[i] times its letter, 'a' + i, then answers[i].
FakeOptions LetteredEngine(const std::vector<int>& lengths, const std::string& answers,
                           const ReplyAt& reply) {
  return ScriptedOptions([=](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const size_t asked = written.find("\n\n=");
    if (asked != std::string_view::npos) {
      const bool more = written.size() == asked + 3;
      return {more ? reply(written[0], static_cast<int>(asked)) : '$', 5.0F};
    }
    const auto i = static_cast<size_t>(PathIndexOf(key));
    const std::string text =
        std::string(static_cast<size_t>(lengths[i]), static_cast<char>('a' + i)) + "=" + answers[i];
    return {written.size() < text.size() ? text[written.size()] : '$', 5.0F};
  });
}

struct ControlledRun {
  ControlledRun(const std::string& method, const FakeOptions& engine_options, int width) {
    MethodOptions options = *Preset("short");
    EXPECT_TRUE(ApplyMethodDefaults(method, options).ok());
    EXPECT_TRUE(options.probe);
    options.width = width;
    options.max_tokens = 400;
    options.probe_interval = 2;
    options.probe_text = "=";
    FakeEngine engine(engine_options);
    session = ScriptedSession(engine, method, options);
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    EXPECT_TRUE(session->status().ok());
    result = session->Result();
    for (const Path& path : session->pool().paths()) {
      if (path.kind == PathKind::kReasoning) {
        paths.push_back(path);
      }
    }
    session.reset();
  }
  std::unique_ptr<Session> session;
  SessionResult result;
  std::vector<Path> paths;
};

TEST(ParallelProbeMethod, EndsWhenTheMajorityOfItsProbesIsStable) {
  // From the third probe on two of three reply 4: the winner has stayed 40 probes at the 43rd.
  const auto reply = [](char name, int length) { return name == 'c' || length < 6 ? '1' : '4'; };
  const ControlledRun ran("parallel-probe", LetteredEngine({200, 200, 200}, "777", reply), 3);
  EXPECT_EQ(ran.result.answer, "4");
  EXPECT_EQ(ran.result.voting_paths, 2);
  EXPECT_FALSE(ran.result.partial);
  EXPECT_EQ(ran.paths[0].length(), 2 * 43);
  EXPECT_EQ(ran.paths[0].status, PathStatus::kCancelled);
  EXPECT_TRUE(ran.paths[0].tentative);
  // Path c differs in every probe after the sixteenth; seven of these prune it.
  EXPECT_EQ(ran.paths[2].status, PathStatus::kPruned);
  EXPECT_EQ(ran.paths[2].length(), 2 * (16 + 7));
}

TEST(ParallelProbeMethod, TheFirstProbesCountForNothing) {
  const auto reply = [](char, int) { return '4'; };
  const ControlledRun ran("parallel-probe", LetteredEngine({200, 200, 200}, "777", reply), 3);
  EXPECT_EQ(ran.result.answer, "4");
  // The majority is seen first at the second probe, and has stayed for 40 more.
  EXPECT_EQ(ran.paths[0].length(), 2 * 42);
}

TEST(ParallelProbeMethod, APrunedPathDoesNotVoteWithWhatItHadWritten) {
  const FakeOptions engine =
      ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
        if (const size_t asked = written.find("\n\n="); asked != std::string_view::npos) {
          const char reply = written[0] == 'c' ? '1' : '4';
          return {written.size() == asked + 3 ? reply : '$', 5.0F};
        }
        const bool third = PathIndexOf(key) == 2;
        const std::string text =
            third ? "c=9" + std::string(100, 'c') : std::string(100, 'a') + "=4";
        return {written.size() < text.size() ? text[written.size()] : '$', 5.0F};
      });
  const ControlledRun ran("parallel-probe", engine, 3);
  EXPECT_EQ(ran.paths[2].status, PathStatus::kPruned);
  EXPECT_FALSE(ran.paths[2].answer.empty());
  EXPECT_EQ(ran.result.voting_paths, 2);
}

TEST(ParallelProbeMethod, PathsThatHaveEndedCount) {
  // The answers 1 of the short paths are the majority, whatever the long ones reply.
  const ControlledRun ran(
      "parallel-probe", LetteredEngine({9, 9, 9, 120, 120}, "11122", [](char, int) { return '2'; }),
      5);
  EXPECT_EQ(ran.result.answer, "1");
  EXPECT_EQ(ran.paths[3].status, PathStatus::kPruned);
  EXPECT_EQ(ran.paths[3].length(), 2 * (16 + 7));
}

TEST(Certaindex, APathEndsWhenItsLastEightProbesAgree) {
  // Path a replies 3 from its fourth probe on; b changes its reply at each; c says nothing at one.
  const auto reply = [](char name, int length) {
    switch (name) {
      case 'a':
        return length < 8 ? '1' : '3';
      case 'b':
        return static_cast<char>('0' + length / 2 % 2);
      default:
        return length == 16 ? '$' : '3';
    }
  };
  const ControlledRun ran("certaindex", LetteredEngine({60, 60, 60}, "777", reply), 3);
  EXPECT_EQ(ran.paths[0].length(), 2 * (3 + 8));
  EXPECT_EQ(ran.paths[0].answer, "3");
  EXPECT_EQ(ran.paths[1].status, PathStatus::kFinished);
  EXPECT_EQ(ran.paths[1].answer, "7");
  EXPECT_EQ(ran.paths[2].length(), 16 + 2 * 8);
  EXPECT_EQ(ran.result.answer, "3");
}

}  // namespace
}  // namespace hyper
