// What chooses HyPER's actions beside the scores: a forced decision, and measured values.
#include <gtest/gtest.h>

#include "src/core/random.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Half of the pool is unsure and pruned early, so that there is room to expand; the others write
// on.
FakeOptions RoomyEngine() {
  return ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
    if (written.size() >= 30) {
      return {written.size() == 30 ? '=' : written.size() == 31 ? '7' : '$', 5.0F};
    }
    const bool weak = key % 2 == 1 && written.size() > 2;
    return {static_cast<char>('a' + (key / 3 + written.size()) % 7), weak ? 1.0F : 5.0F};
  });
}

std::vector<DecisionRecord> DecisionsWith(const OptionValues& values) {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = 4;
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 60;
  for (const OptionValue& value : values) {
    EXPECT_TRUE(SetOption(options, value.name, value.text).ok()) << value.name;
  }
  EXPECT_TRUE(Validate(options).ok());
  FakeEngine engine(RoomyEngine());
  auto session = ScriptedSession(engine, "hyper", options);
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  std::vector<DecisionRecord> decisions;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      decisions.push_back(*decision);
    }
  }
  return decisions;
}

TEST(ForcedDecision, TheControllerDecidesBeforeItAndNobodyAfter) {
  const std::vector<DecisionRecord> free = DecisionsWith({});
  ASSERT_GE(free.size(), 4U);
  for (const Action action : {Action::kNone, Action::kMultiToken, Action::kBranch}) {
    const auto forced = DecisionsWith({{"force-decision", 2}, {"force-action", NameOf(action)}});
    ASSERT_GE(forced.size(), 4U);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(forced[i].action, free[i].action) << i;
      EXPECT_EQ(forced[i].raw.confidence, free[i].raw.confidence) << i;
    }
    EXPECT_EQ(forced[2].action, action);
    EXPECT_EQ(forced[2].raw.confidence, free[2].raw.confidence) << "the same state";
    for (size_t i = 3; i < forced.size(); ++i) {
      EXPECT_EQ(forced[i].action, Action::kNone) << i;
    }
  }
  const auto refused = DecisionsWith(
      {{"force-decision", 2}, {"force-action", "branch"}, {"actions", "none,multi_token"}});
  EXPECT_EQ(refused[2].action, Action::kNone) << "an action that is not allowed";
}

TEST(ValueController, TakesWhatGainsMostAndNoneWhereNothingDoes) {
  const OptionValue by_value = {"controller", "value"};
  for (const DecisionRecord& decision :
       DecisionsWith({by_value, {"action-values", "branch=10,0.1,0,0,0,0,0,0,0"}})) {
    EXPECT_EQ(decision.action, Action::kBranch);
  }
  for (const DecisionRecord& decision :
       DecisionsWith({by_value, {"action-values", "branch=10,-0.1,0,0,0,0,0,0,0"}})) {
    EXPECT_EQ(decision.action, Action::kNone);
  }
  // The gain is by normalised statistics: the consensus decides here.
  for (const DecisionRecord& decision :
       DecisionsWith({by_value, {"action-values", "multi_token=10,0.5,0,0,-1,0,0,0,0"}})) {
    EXPECT_EQ(decision.action,
              decision.normalised.consensus < 0.5 ? Action::kMultiToken : Action::kNone);
  }
}

TEST(ValueController, ItsTableIsChecked) {
  MethodOptions options = *Preset("short");
  EXPECT_TRUE(SetOption(options, "controller", "value").ok());
  EXPECT_NE(Validate(options).error().message.find("--action-values"), std::string::npos);
  EXPECT_TRUE(SetOption(options, "action-values", "branch=10,0,0,0,0,0,0,0,0").ok());
  EXPECT_TRUE(Validate(options).ok());
  EXPECT_TRUE(SetOption(options, "action-values", "branch=10").ok());
  EXPECT_NE(Validate(options).error().message.find("branch=10"), std::string::npos);
}

}  // namespace
}  // namespace hyper
