// What kind of method each is, against the lines of the paper's Table 1 where a method runs as it
// was published, and by hand where it does not.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "hyper/ask.h"
#include "hyper/method_traits.h"

namespace hyper {
namespace {

// "token atprm": granularity, then a letter for each trait that the method has: Adaptive, rigid
// Search, aggreGates, Prunes, Refines tokens, trained poLicy, reward Model.
std::string Letters(const std::string& method, const OptionValues& values = {}) {
  const Result<RunPlan> plan = ResolveRun({method, "paper", values, {}}, {});
  EXPECT_TRUE(plan.has_value()) << method;
  const Result<MethodTraits> traits = TraitsOf(method, plan->options);
  EXPECT_TRUE(traits.has_value()) << method;
  const std::pair<bool, char> marks[] = {
      {traits->adaptive, 'a'},    {traits->rigid_search, 's'},   {traits->aggregates, 'g'},
      {traits->prunes, 'p'},      {traits->refines_tokens, 'r'}, {traits->trained_policy, 'l'},
      {traits->reward_model, 'm'}};
  std::string letters = std::string(traits->granularity) + " ";
  for (const auto& [has, letter] : marks) {
    letters += has ? std::string(1, letter) : "";
  }
  return letters;
}

TEST(Traits, OfEveryKindOfMethod) {
  const std::map<std::string, std::string> expected = {{"hyper", "token agpr"},
                                                       {"hyper-no-single", "token agp"},
                                                       {"hyper-no-multi", "token agpr"},
                                                       {"hyper-no-branch", "token agpr"},
                                                       {"single-token-only", "token gpr"},
                                                       {"multi-token-only", "token gp"},
                                                       {"manual", "token gpr"},
                                                       {"cot", "path "},
                                                       {"sc", "path g"},
                                                       {"sc-adaptive", "path ag"},
                                                       {"esc", "path ag"},
                                                       {"bon", "path g"},
                                                       {"deepconf", "path agp"},
                                                       {"deepconf-top10", "path agp"},
                                                       {"deepconf-offline", "path g"},
                                                       {"deepconf-offline-filtered", "path g"},
                                                       {"rpc", "path g"},
                                                       {"parallel-probe", "path agp"},
                                                       {"certaindex", "path ag"},
                                                       {"cmc", "path agp"},
                                                       {"mars", "path ag"},
                                                       {"roe", "token gr"},
                                                       {"roe-late", "token gr"},
                                                       {"threadweaver", "step ag"},
                                                       {"tot-conf", "step sgp"},
                                                       {"mcts-conf", "step asg"},
                                                       {"rebase-conf", "step asgp"},
                                                       {"ets-conf", "step asgp"}};
  for (const auto& [method, letters] : expected) {
    EXPECT_EQ(Letters(method), letters) << method;
  }
}

TEST(Traits, FollowTheOptions) {
  EXPECT_EQ(Letters("hyper", {{"threshold", "off"}}), "token agr");
  EXPECT_EQ(Letters("hyper", {{"actions", "none,branch"}}), "token agp");
  EXPECT_EQ(Letters("sc", {{"width", "1"}}), "path ");
  EXPECT_EQ(Letters("sc", {{"stop", "sure"}}), "path ag");
  MethodOptions options;
  options.tree.reward = RewardKind::kProcessModel;
  EXPECT_TRUE(TraitsOf("rebase", options)->reward_model);
  EXPECT_EQ(TraitsOf("magic", options).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper
