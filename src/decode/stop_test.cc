// Runs that end because their vote is decided, and paths that start in an order.
#include "src/decode/stop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "hyper/ask.h"
#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Path i writes texts[i] and ends; each token comes with `top_count` candidates at most.
FakeOptions EngineOptions(std::vector<std::string> texts, int top_count) {
  FakeOptions options = ScriptedOptions(
      [texts = std::move(texts)](uint64_t key, std::string_view written, int) -> ScriptedNext {
        const auto path = static_cast<size_t>(PathIndexOf(key));  // of a fork past all of them
        const bool more = path < texts.size() && written.size() < texts[path].size();
        return {more ? texts[path][written.size()] : '$', 5.0F};
      });
  options.capabilities.max_top_count = std::min(options.capabilities.max_top_count, top_count);
  return options;
}

// A text of `length` characters whose answer is `answer`; the answer stands at its end.
std::string Text(int length, char answer) {
  return std::string(static_cast<size_t>(length) - 2, 'a') + "=" + answer;
}

// `few` short paths that answer `first`, then long ones up to `width` that answer `rest`.
std::vector<std::string> ShortThenLong(int few, int width, char first, char rest) {
  std::vector<std::string> texts(static_cast<size_t>(few), Text(6, first));
  texts.resize(static_cast<size_t>(width), Text(30, rest));
  return texts;
}

MethodOptions StopOptions(const std::string& method, int width, const OptionValues& values = {}) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.warmup = 8;
  options.interval = 4;
  options.max_tokens = 40;
  EXPECT_TRUE(ApplyMethodDefaults(method, options).ok());
  for (const OptionValue& value : values) {
    EXPECT_TRUE(SetOption(options, value.name, value.text).ok()) << value.name;
  }
  EXPECT_TRUE(Validate(options).ok());
  return options;
}

// A session that has run to its end.
struct Ran {
  Ran(const std::string& method, const MethodOptions& options, std::vector<std::string> texts,
      int top_count = 1000)
      : engine(EngineOptions(std::move(texts), top_count)),
        session(ScriptedSession(engine, method, options)) {
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    EXPECT_TRUE(session->status().ok());
    EXPECT_EQ(engine.open_lanes(), 0);
    records = session->TakeRecords();
    result = session->Result();
  }

  const std::vector<Path>& paths() const { return session->pool().paths(); }
  const StopRecord* stop() const {
    for (const Record& record : records) {
      if (const auto* stop = std::get_if<StopRecord>(&record)) {
        return stop;
      }
    }
    return nullptr;
  }
  int Count(PathStatus status) const {
    return static_cast<int>(std::count_if(paths().begin(), paths().end(),
                                          [status](const Path& p) { return p.status == status; }));
  }

  FakeEngine engine;
  std::unique_ptr<Session> session;
  std::vector<Record> records;
  SessionResult result;
};

TEST(Stop, NeverIsTheDefault) {
  for (const char* preset : {"paper", "short"}) {
    EXPECT_EQ(Preset(preset)->stop.kind, StopRule::Kind::kNever);
  }
  const Ran ran("sc", StopOptions("sc", 8), ShortThenLong(7, 8, '1', '2'));
  EXPECT_EQ(ran.stop(), nullptr);
  EXPECT_EQ(ran.Count(PathStatus::kFinished), 8);
  EXPECT_EQ(ran.result.ledger.saved, 0);
}

TEST(Stop, AnUrnThatAlwaysDrawsTheWinnerIsNotSure) {
  StopRecord stop;
  stop.posterior = 1;
  stop.basis = "urn";
  stop.paths = 40;
  stop.cancelled = 3;
  stop.unopened = 32;
  EXPECT_EQ(StopText(stop), "decided in every draw; 35 of 40 paths cancelled or not opened");
  stop.posterior = 0.9999;
  EXPECT_EQ(StopText(stop), "decided at 0.999; 35 of 40 paths cancelled or not opened");
}

TEST(Stop, ASureMajorityEndsTheRunWhole) {
  // Five of eight agree: the other three cannot win any more.
  const Ran ran("sc", StopOptions("sc", 8, {{"stop", "sure"}}), ShortThenLong(5, 8, '1', '2'));
  const StopRecord* stop = ran.stop();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->answer, "1");
  EXPECT_EQ(stop->posterior, 1);
  EXPECT_EQ(stop->basis, "sure");
  EXPECT_EQ(stop->voters, 5);
  EXPECT_EQ(stop->paths, 8);
  EXPECT_EQ(stop->cancelled, 3);
  EXPECT_EQ(stop->unopened, 0);
  // All had 7 tokens, so that the mean length is 56 / 5 and three paths lack 4.2 each.
  EXPECT_EQ(stop->saved, 13);
  EXPECT_EQ(ran.result.ledger.saved, 13);
  EXPECT_EQ(ran.result.ledger.generated, 8 * 7);
  EXPECT_EQ(StopText(*stop), "decided for sure; 3 of 8 paths cancelled");
  EXPECT_EQ(ran.result.answer, "1");
  EXPECT_FALSE(ran.result.partial);
  EXPECT_EQ(ran.Count(PathStatus::kCancelled), 3);
  for (const Path& path : ran.paths()) {
    EXPECT_TRUE(path.status == PathStatus::kFinished || path.reason == "decided") << path.id;
  }
  const Ran open("sc", StopOptions("sc", 8, {{"stop", "sure"}}), ShortThenLong(4, 8, '1', '2'));
  EXPECT_EQ(open.stop(), nullptr) << "four of eight may end in a tie";
  EXPECT_EQ(open.Count(PathStatus::kFinished), 8);
}

TEST(Stop, WhatCancelledPathsHaveWrittenDoesNotVote) {
  // The long paths have "=2" on paper when they are cancelled.
  std::vector<std::string> texts = ShortThenLong(5, 8, '1', '2');
  std::fill(texts.begin() + 5, texts.end(), "=2" + std::string(30, 'a'));
  const Ran ran("sc", StopOptions("sc", 8, {{"stop", "sure"}}), texts);
  ASSERT_NE(ran.stop(), nullptr);
  EXPECT_EQ(ran.result.voting_paths, 5);
  EXPECT_EQ(ran.result.votes.at("majority").scores.size(), 1U);
}

TEST(Stop, ASureMajorityNeedsNoConfidences) {
  const Ran ran("sc", StopOptions("sc", 8, {{"stop", "sure"}}), ShortThenLong(5, 8, '1', '2'),
                /*top_count=*/0);
  EXPECT_TRUE(std::isnan(ran.paths()[0].mean_confidence));
  ASSERT_NE(ran.stop(), nullptr);
  EXPECT_EQ(ran.stop()->basis, "sure");
  EXPECT_EQ(ran.stop()->cancelled, 3);
}

TEST(Stop, FourAlikeAreLikelyEnoughForPoint95) {
  const OptionValues values = {{"stop", "0.95"}};
  const Ran three("sc", StopOptions("sc", 16, values), ShortThenLong(3, 16, '1', '2'));
  EXPECT_EQ(three.stop() != nullptr && three.stop()->voters == 3, false);
  const Ran four("sc", StopOptions("sc", 16, values), ShortThenLong(4, 16, '1', '2'));
  ASSERT_NE(four.stop(), nullptr);
  EXPECT_EQ(four.stop()->basis, "beta");
  EXPECT_EQ(four.stop()->posterior, 1 - 1.0 / 32);
  EXPECT_EQ(four.stop()->voters, 4);
  EXPECT_EQ(four.stop()->cancelled, 12);
  EXPECT_EQ(StopText(*four.stop()), "decided at 0.968; 12 of 16 paths cancelled");
}

TEST(Stop, OneByOneIsAdaptiveConsistency) {
  // 1 2 1 1 1 1 1: 6 to 1 is the first state at 0.95 (Beta(7, 2): 0.9648).
  std::vector<std::string> texts(16, Text(6, '1'));
  texts[1] = Text(9, '2');
  const Ran ran("sc-adaptive", StopOptions("sc-adaptive", 16), texts);
  ASSERT_NE(ran.stop(), nullptr);
  EXPECT_EQ(ran.paths().size(), 7U);
  EXPECT_NEAR(ran.stop()->posterior, 1 - (1 + 8) / 256.0, 1e-12);
  EXPECT_EQ(ran.stop()->unopened, 9);
  EXPECT_EQ(ran.stop()->cancelled, 0);
  EXPECT_EQ(ran.stop()->paths, 16);
  EXPECT_EQ(ran.Count(PathStatus::kCancelled), 0);
  EXPECT_EQ(ran.result.ledger.generated, 6 * 7 + 10);
  EXPECT_EQ(ran.result.ledger.positions, ran.result.ledger.generated) << "one after another";
  EXPECT_EQ(ran.result.ledger.lanes_peak, 1);
  EXPECT_EQ(ran.stop()->saved, std::llround(9 * 52 / 7.0));
}

TEST(Stop, WavesOpenOnlyWhileTheVoteIsOpen) {
  // The first wave is split, the second settles it.
  std::vector<std::string> texts(40, Text(6, '1'));
  for (size_t i = 0; i < 4; ++i) {
    texts[i] = Text(6, '2');
  }
  const OptionValues waves = {{"stop", "0.9"}, {"launch", "waves"}};
  const Ran ran("sc", StopOptions("sc", 40, waves), texts);
  ASSERT_NE(ran.stop(), nullptr);
  EXPECT_EQ(ran.paths().size(), 16U);
  EXPECT_EQ(ran.result.ledger.positions, 7 + 7);
  EXPECT_EQ(ran.result.ledger.lanes_peak, 8);
  EXPECT_EQ(ran.stop()->voters, 16) << "all of a wave end at the same token";
  const Ran all("sc", StopOptions("sc", 40, {{"launch", "waves"}}), texts);
  EXPECT_EQ(all.paths().size(), 40U);
  EXPECT_EQ(all.result.ledger.positions, 4 * 7);
  // A path's random numbers are those of its number, whatever the launch.
  const Ran parallel("sc", StopOptions("sc", 40), texts);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(all.paths()[i].key, parallel.paths()[i].key);
    EXPECT_EQ(all.paths()[i].text, parallel.paths()[i].text);
  }
  EXPECT_EQ(all.result.answer, parallel.result.answer);
}

TEST(Stop, ADecidedWarmupEndsTheRun) {
  std::vector<std::string> texts(24, Text(6, '1'));
  const Ran ran("hyper", StopOptions("hyper", 16, {{"stop", "0.95"}}), texts);
  ASSERT_NE(ran.stop(), nullptr);
  EXPECT_EQ(ran.stop()->basis, "urn");
  EXPECT_EQ(ran.stop()->voters, 8);
  EXPECT_EQ(ran.stop()->unopened, 16);
  EXPECT_EQ(ran.paths().size(), 8U);
  EXPECT_FALSE(ran.result.partial);
  EXPECT_EQ(ran.result.answer, "1");
  const Ran again("hyper", StopOptions("hyper", 16, {{"stop", "0.95"}}), texts);
  EXPECT_EQ(again.stop()->posterior, ran.stop()->posterior);
  // Where the warm-up does not vote, it decides nothing.
  const OptionValues apart = {{"stop", "0.95"}, {"vote-warmup", "false"}};
  const Ran later("hyper", StopOptions("hyper", 16, apart), texts);
  EXPECT_GT(later.paths().size(), 8U);
}

TEST(Stop, ALeadThatBranchesMayCatchIsNotSure) {
  // Two warm-up paths and three of the pool agree; one is left.
  const std::vector<std::string> texts = ShortThenLong(5, 6, '1', '2');
  const auto ran = [&](const char* actions) {
    const OptionValues values = {
        {"stop", "sure"}, {"vote", "majority"}, {"threshold", "off"}, {"actions", actions}};
    return Ran("hyper", StopOptions("hyper", 4, values), texts);
  };
  const Ran plain = ran("none");
  ASSERT_NE(plain.stop(), nullptr);
  EXPECT_EQ(plain.stop()->voters, 5);
  EXPECT_EQ(plain.stop()->cancelled, 1);
  EXPECT_EQ(ran("none,branch").stop(), nullptr);
}

TEST(Stop, EveryMethodMayBeStopped) {
  for (const MethodInfo& info : Methods()) {
    MethodOptions options = StopOptions(info.name, 16, {{"stop", "0.9"}, {"vote", "majority"}});
    std::vector<std::string> texts(64, Text(6, '1'));
    for (size_t i = 0; i < texts.size(); i += 4) {
      texts[i] = Text(20, '2');
    }
    if (info.name == "cot") {
      options.width = 1;
    }
    const Ran ran(info.name, options, texts);
    EXPECT_FALSE(ran.result.partial) << info.name;
    if (const StopRecord* stop = ran.stop()) {
      EXPECT_EQ(ran.result.answer, stop->answer) << info.name;
      EXPECT_GE(stop->posterior, 0.9) << info.name;
      EXPECT_GT(stop->cancelled + stop->unopened, 0) << info.name;
      EXPECT_EQ(ran.Count(PathStatus::kCancelled), stop->cancelled) << info.name;
    }
    const bool plain = info.name == "sc" || info.name == "hyper" || info.name == "roe-late" ||
                       info.name == "bon" || info.name == "deepconf-top10";
    EXPECT_TRUE(!plain || ran.stop() != nullptr) << info.name;
  }
}

TEST(Stop, VotesThatAreNotSettledDecideNothing) {
  const std::vector<std::string> texts(32, Text(6, '1'));
  const OptionValues stop = {{"stop", "0.9"}};
  // DeepConf's threshold, the best tenth and the probes all come after the paths they judge.
  EXPECT_EQ(
      Ran("bon-ptrue", StopOptions("bon-ptrue", 8, {{"stop", "0.9"}, {"vote", "weighted"}}), texts)
          .stop(),
      nullptr);
  EXPECT_EQ(
      Ran("deepconf-offline-tail", StopOptions("deepconf-offline-tail", 8, stop), texts).stop(),
      nullptr);
  const Ran warm("deepconf", StopOptions("deepconf", 16, stop), texts);
  EXPECT_TRUE(warm.stop() == nullptr || warm.paths().size() > 8U);
  // One better path wins: nothing is decided under `best`.
  EXPECT_EQ(Ran("bon-mean", StopOptions("bon-mean", 8, stop), texts).stop(), nullptr);
}

TEST(Stop, RulesThatCannotBeMetAreRefused) {
  const auto refusal = [](const char* method, OptionValues values) {
    const Result<RunPlan> plan = ResolveRun({method, "short", std::move(values), {}}, {});
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_EQ(refusal("hyper", {{"stop", "0.95"}}), "");
  EXPECT_EQ(refusal("sc", {{"stop", "sure"}}), "");
  EXPECT_NE(refusal("hyper", {{"stop", "sure"}}).find("length_confidence"), std::string::npos);
  EXPECT_NE(refusal("bon", {{"stop", "0.95"}}).find("--vote best"), std::string::npos);
  EXPECT_NE(refusal("sc", {{"stop", "0.5"}}).find("--stop"), std::string::npos);
  EXPECT_NE(refusal("deepconf", {{"launch", "one"}}).find("hyper"), std::string::npos);
}

// Paths of one length that give these answers.
std::vector<std::string> Answering(const std::string& answers) {
  std::vector<std::string> texts;
  for (const char answer : answers) {
    texts.push_back(Text(6, answer));
  }
  return texts;
}

TEST(EqualWindows, TheWindowThatAgreesHasTheAnswer) {
  std::vector<std::string> texts = Answering("112112333333");
  const OptionValues window = {{"esc-window", "3"}};
  const Ran ran("esc", StopOptions("esc", 12, window), texts);
  EXPECT_EQ(ran.paths().size(), 9U);
  EXPECT_EQ(ran.result.answer, "3");
  EXPECT_EQ(ran.result.voting_paths, 3);
  EXPECT_FALSE(ran.result.partial);
  // None agrees within two whole windows of five: the majority of them.
  const Ran split("esc", StopOptions("esc", 12), Answering("112112331111"));
  EXPECT_EQ(split.paths().size(), 10U);
  EXPECT_EQ(split.result.answer, "1");
  // A path without an answer agrees with nobody.
  texts[7] = "aaaa";
  const Ran lacking("esc", StopOptions("esc", 12, window), texts);
  EXPECT_EQ(lacking.paths().size(), 12U);
  EXPECT_EQ(lacking.result.answer, "3");
}

TEST(CappedPaths, OnlyFinishedPathsVote) {
  std::vector<std::string> texts = {Text(6, '1'), "=2" + std::string(30, 'a'),
                                    "=2" + std::string(30, 'a'), Text(30, '2')};
  const Ran ran("sc-cap", StopOptions("sc-cap", 4, {{"length-cap", "10"}}), texts);
  EXPECT_EQ(ran.result.answer, "1");
  EXPECT_EQ(ran.result.voting_paths, 1);
  EXPECT_EQ(ran.result.ledger.generated, 7 + 3 * 10);
  EXPECT_EQ(ran.result.ledger.positions, 10);
  EXPECT_EQ(ran.Count(PathStatus::kLength), 3);
  EXPECT_EQ(ran.paths()[3].reason, "length-cap 10");
}

}  // namespace
}  // namespace hyper
