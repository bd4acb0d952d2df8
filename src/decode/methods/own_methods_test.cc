#include "src/decode/methods/own_methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "hyper/ask.h"
#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Three paths, side by side.
class ThreePaths : public Method {
 public:
  Status Start(Pool& pool) override {
    Status status = OpenPaths(pool, 0, 3, /*warmup=*/false);
    return status ? pool.GrantAll(100) : status;
  }
  Status OnSettled(Pool& pool) override { return pool.GrantAll(100); }
  bool Done(const Pool& pool) const override { return pool.running().empty(); }
};

MethodSpec Spec(std::string name) {
  MethodSpec spec;
  spec.name = std::move(name);
  spec.description = "three paths";
  spec.make = [](const MethodOptions&) { return std::make_unique<ThreePaths>(); };
  return spec;
}

std::string Refusal(MethodSpec spec) {
  const Status status = RegisterMethod(std::move(spec));
  return status ? "" : status.error().message;
}

AskOptions Asked(std::string method) {
  AskOptions options;
  options.method = std::move(method);
  options.preset = "short";
  return options;
}

// Other tests of the program go through all methods.
class OwnMethodsTest : public ::testing::Test {
 protected:
  ~OwnMethodsTest() override { ForgetOwnMethods(); }
};

TEST_F(OwnMethodsTest, AnswerByTheirName) {
  ASSERT_TRUE(RegisterMethod(Spec("three-paths")));
  FakeEngine engine(ScriptedOptions([](uint64_t, std::string_view written, int) {
    constexpr std::string_view kText = "#### 42";
    return ScriptedNext{written.size() < kText.size() ? kText[written.size()] : '$', 5.0F};
  }));
  const Result<SessionResult> result = Ask(engine, "What is 6 x 7?", Asked("three-paths"));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->answer, "42");
  EXPECT_EQ(result->voting_paths, 3);
  EXPECT_EQ(result->vote_rule, "majority");
}

TEST_F(OwnMethodsTest, AreListedOnceAfterTheBuiltInOnes) {
  ASSERT_TRUE(RegisterMethod(Spec("listed")));
  MethodSpec again = Spec("listed");
  again.description = "three other paths";
  ASSERT_TRUE(RegisterMethod(again));
  const std::vector<MethodInfo> methods = Methods();
  EXPECT_EQ(std::count_if(methods.begin(), methods.end(),
                          [](const MethodInfo& info) { return info.name == "listed"; }),
            1);
  const auto at = std::find_if(methods.begin(), methods.end(),
                               [](const MethodInfo& info) { return info.name == "listed"; });
  EXPECT_EQ(at->description, "three other paths");
  EXPECT_EQ(methods.front().name, "hyper");
  ForgetOwnMethods();
  EXPECT_FALSE(FindMethod("listed"));
}

TEST_F(OwnMethodsTest, TakeOptionsDefaultsAndNeedsFromTheirBase) {
  MethodSpec spec = Spec("pruned");
  spec.base = "deepconf-high";
  spec.defaults = "window=77 vote=majority";
  spec.traits.prunes = true;
  spec.traits.granularity = "step";
  ASSERT_TRUE(RegisterMethod(spec));
  Result<RunPlan> plan = ResolveRun({"pruned", "paper", {{"consensus", 0.8}}, {}}, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->method, "pruned");
  EXPECT_EQ(plan->options.window, 77);
  EXPECT_EQ(plan->options.vote.rule, VoteRule::kMajority);
  EXPECT_EQ(plan->options.confidence_count, 20);  // of deepconf
  std::vector<Option> options = OptionsOf(plan->options);
  EXPECT_EQ(FindOption(options, "threshold")->Text(), "percentile:10");  // of deepconf-high
  EXPECT_EQ(plan->options.consensus, 0.8);
  EXPECT_EQ(PhasesOf(*plan).size(), 2U);
  EXPECT_FALSE(ResolveRun({"pruned", "paper", {{"esc-window", 3}}, {}}, {}));
  Capabilities blind;
  blind.max_lanes = 200;
  EXPECT_EQ(CheckAbilities(*plan, blind).error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(TraitsOf("pruned", plan->options)->prunes);
  EXPECT_STREQ(TraitsOf("pruned", plan->options)->granularity, "step");
  EXPECT_NE(std::string(FindOwnMethod("pruned")->base), "sc");
}

TEST_F(OwnMethodsTest, WhatCannotBeAddedIsRefusedByName) {
  EXPECT_NE(Refusal(Spec("sc")).find("'sc' is built in"), std::string::npos);
  EXPECT_NE(Refusal(Spec("rebase-ptrue")).find("built in"), std::string::npos);
  for (const char* name : {"", "Mine", "my method", "9lives", "-x", "a_b"}) {
    EXPECT_NE(Refusal(Spec(name)).find("no name of a method"), std::string::npos) << name;
  }
  MethodSpec spec = Spec("refused");
  spec.base = "magic";
  EXPECT_NE(Refusal(spec).find("'magic'"), std::string::npos);
  ASSERT_TRUE(RegisterMethod(Spec("a-base")));
  spec.base = "a-base";
  EXPECT_NE(Refusal(spec).find("not built in"), std::string::npos);
  spec = Spec("refused");
  spec.defaults = "width=0";
  EXPECT_NE(Refusal(spec).find("width"), std::string::npos);
  spec.defaults = "colour";
  EXPECT_NE(Refusal(spec).find("colour"), std::string::npos);
  spec = Spec("refused");
  spec.make = nullptr;
  EXPECT_NE(Refusal(spec).find("nothing to make it with"), std::string::npos);
  EXPECT_EQ(FindOwnMethod("refused"), nullptr);
}

TEST_F(OwnMethodsTest, OneThatMakesNothingIsAnError) {
  MethodSpec spec = Spec("empty");
  spec.make = [](const MethodOptions&) { return nullptr; };
  ASSERT_TRUE(RegisterMethod(spec));
  FakeEngine engine(
      ScriptedOptions([](uint64_t, std::string_view, int) { return ScriptedNext{}; }));
  const Result<SessionResult> result = Ask(engine, "Why?", Asked("empty"));
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("'empty'"), std::string::npos);
}

}  // namespace
}  // namespace hyper
