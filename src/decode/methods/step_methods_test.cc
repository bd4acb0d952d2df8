#include <gtest/gtest.h>

#include <algorithm>

#include "hyper/step_reward.h"
#include "src/decode/methods/registry.h"
#include "src/decode/names.h"
#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

TEST(StepMethods, EveryRowCanBeMadeByItsName) {
  for (const MethodInfo& method : Methods()) {
    if (!method.name.ends_with("-conf")) {
      continue;
    }
    MethodOptions options = StepOptions(4);
    ASSERT_TRUE(ApplyMethodDefaults(method.name, options).ok()) << method.name;
    EXPECT_EQ(options.tree.reward, RewardKind::kConfidence);
    EXPECT_TRUE(MakeMethod(method.name, options)) << method.name;
  }
}

TEST(StepMethods, TheNameSaysTheScorerOrLeavesItToTheOptions) {
  for (const char* method : {"tot", "mcts", "rebase", "ets"}) {
    MethodOptions options;
    options.tree.reward = RewardKind::kJudge;
    ASSERT_TRUE(ApplyMethodDefaults(method, options).ok());
    EXPECT_EQ(options.tree.reward, RewardKind::kJudge);
    ASSERT_TRUE(ApplyMethodDefaults(std::string(method) + "-ptrue", options).ok());
    EXPECT_EQ(options.tree.reward, RewardKind::kPTrue);
    EXPECT_TRUE(MakeMethod(std::string(method) + "-judge", options));
    EXPECT_EQ(MakeMethod(std::string(method) + "-prm", options).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(MakeMethod(std::string(method) + "-oracle", options).error().code,
              ErrorCode::kNotFound);
  }
  MethodOptions options;
  EXPECT_FALSE(ApplyMethodDefaults("rebase-", options).ok());
  const auto no_tree = MakeStepMethod(ScriptedPlan("sc", options), nullptr);
  ASSERT_FALSE(no_tree);
  EXPECT_EQ(no_tree.error().code, ErrorCode::kNotFound);
  EXPECT_NE(no_tree.error().message.find("'sc'"), std::string::npos);
}

TEST(StepMethods, VoteRulesAreTheSystems) {
  for (const auto& [name, vote] : {std::pair("rebase-conf", "weighted"),
                                   {"ets-conf", "weighted"},
                                   {"mcts-conf", "best"},
                                   {"tot-conf", "majority"}}) {
    MethodOptions options;
    ASSERT_TRUE(ApplyMethodDefaults(name, options).ok());
    EXPECT_STREQ(NameOf(options.vote.rule), vote) << name;
  }
}

TEST(StepMethods, AreListedAmongAllMethods) {
  const std::vector<MethodInfo> methods = Methods();
  for (const char* name :
       {"tot-conf", "mcts-conf", "rebase-conf", "ets-conf", "threadweaver", "hyper"}) {
    EXPECT_EQ(std::count_if(methods.begin(), methods.end(),
                            [name](const MethodInfo& method) { return method.name == name; }),
              1)
        << name;
  }
  MethodOptions options;
  const Status unknown = ApplyMethodDefaults("beam", options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("rebase-conf"), std::string::npos);
}

TEST(StepMethods, DelimitersAreUnescaped) {
  EXPECT_EQ(UnescapeDelimiter("\\n\\n"), "\n\n");
  EXPECT_EQ(UnescapeDelimiter("a\\tb\\\\n"), "a\tb\\n");
  EXPECT_EQ(UnescapeDelimiter(""), std::nullopt);
  EXPECT_EQ(UnescapeDelimiter("\\"), std::nullopt);
  EXPECT_EQ(UnescapeDelimiter("\\x"), std::nullopt);
  MethodOptions options;
  options.tree.delimiter = "\\q";
  EXPECT_NE(Validate(options).error().message.find("step-delimiter"), std::string::npos);
}

// All of them end on the same script and leave nothing behind, on the step confidence.
TEST(StepMethods, AllRunByTheirNames) {
  for (const char* name : {"tot-conf", "mcts-conf", "rebase-conf", "ets-conf"}) {
    FakeEngine engine(LetterSteps([](char) { return 2; }, [](char) { return '7'; }));
    MethodOptions options = StepOptions(6);
    ASSERT_TRUE(ApplyMethodDefaults(name, options).ok());
    options.tree.iterations = 5;
    auto session = ScriptedSession(engine, name, options);
    RunSteps(engine, *session);
    EXPECT_EQ(session->Result().answer, "7") << name;
    EXPECT_EQ(session->Result().ledger.generated, engine.cost().decode_rows) << name;
    EXPECT_LE(session->Result().ledger.lanes_peak, LaneLimit(options)) << name;
  }
}

}  // namespace
}  // namespace hyper
