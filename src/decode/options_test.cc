#include "hyper/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace hyper {
namespace {

TEST(Options, PresetsAreValidAndUnknownOnesAreNamed) {
  EXPECT_TRUE(Validate(*Preset("paper")).ok());
  EXPECT_TRUE(Validate(*Preset("short")).ok());
  const Result<MethodOptions> none = Preset("long");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("long"), std::string::npos);
}

TEST(Options, PaperPresetHasThePapersNumbers) {
  const MethodOptions options = *Preset("paper");
  EXPECT_EQ(options.width, 80);
  EXPECT_EQ(WarmupCount(options), 16);
  EXPECT_EQ(PoolWidth(options), 80);
  EXPECT_EQ(LaneLimit(options), 132);
  EXPECT_EQ(options.interval, 64);
  EXPECT_EQ(SuffixTokens(options), 64);
  EXPECT_EQ(HorizonTokens(options), 64);
  EXPECT_EQ(options.eta, 0.4);
  EXPECT_EQ(options.route.tau, 0.5);
  EXPECT_EQ(options.route.lambda, 0.1);
  EXPECT_EQ(options.vote.candidates, 3);
  EXPECT_EQ(options.vote.lambda_length, 0.6);
  EXPECT_EQ(options.vote.lambda_confidence, 0.4);
}

// The paper keeps 10 of 16 warm-up paths (App. D); a shorter pool keeps the same share.
TEST(Options, ShortPresetKeepsThePapersShareOfTheWarmup) {
  const MethodOptions brief = *Preset("short");
  EXPECT_EQ(brief.threshold.kind, ThresholdRule::Kind::kTop);
  EXPECT_EQ(brief.threshold.top * 16, brief.warmup * 10);
}

TEST(Options, TheConfidenceSetHoldsForRoutesToo) {
  MethodOptions options;
  EXPECT_EQ(RouteSpecOf(options, 4).confidence_set, ConfidenceSet::kAlternatives);
  options.confidence = ConfidenceSignal::kTopK;
  EXPECT_EQ(RouteSpecOf(options, 4).confidence_set, ConfidenceSet::kTopK);
  options.confidence = ConfidenceSignal::kLogprob;
  EXPECT_EQ(RouteSpecOf(options, 4).confidence_set, ConfidenceSet::kAlternatives);
}

TEST(Options, NarrowPoolsWarmUpWithHalf) {
  MethodOptions options;
  for (const auto& [width, warmup] : {std::pair(32, 16), {31, 15}, {16, 8}, {3, 2}, {1, 2}}) {
    options.width = width;
    EXPECT_EQ(WarmupCount(options), warmup) << width;
  }
}

TEST(Options, WarmupCountsIntoTheWidthOnRequest) {
  MethodOptions options;
  options.includes_warmup = true;
  EXPECT_EQ(PoolWidth(options), 64);
  options.width = 2;
  EXPECT_FALSE(Validate(options).ok());
}

TEST(Options, LatePathsOfTheWarmupHaveLanesBesideThePool) {
  MethodOptions options;
  options.lane_factor = 1;
  EXPECT_EQ(LaneLimit(options), 80);
  options.warmup_barrier = false;
  EXPECT_EQ(LaneLimit(options), 86) << "16 warm-up paths, of which the pool waits for 10";
  options.lane_factor = 1.65;
  EXPECT_EQ(LaneLimit(options), 132);
}

TEST(Options, EachBadValueIsNamedWithItsRange) {
  const auto message = [](auto change) {
    MethodOptions options;
    change(options);
    const Status status = Validate(options);
    return status ? std::string() : status.error().message;
  };
  EXPECT_NE(message([](auto& o) { o.width = 0; }).find("--width is 0"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.width = -3; }).find("-3"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.sampler.temperature = NAN; }).find("--temperature is nan"),
            std::string::npos);
  EXPECT_NE(message([](auto& o) { o.sampler.temperature = INFINITY; }), "");
  EXPECT_NE(message([](auto& o) { o.sampler.top_p = 0; }), "");
  EXPECT_NE(message([](auto& o) { o.sampler.min_p = 1; }), "");
  EXPECT_EQ(message([](auto& o) { o.horizon = 64; }), "");
  EXPECT_NE(message([](auto& o) { o.horizon = 65; }), "");
  EXPECT_EQ(message([](auto& o) { o.suffix = 64; }), "");
  EXPECT_NE(message([](auto& o) { o.suffix = 65; }).find("0 to 64"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.eta = 1.5; }), "");
  EXPECT_NE(message([](auto& o) { o.threshold.top = 0; }).find("top:0"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.threshold.percentile = 101; }), "");
  const auto refusal = [](const char* name, const char* text) {
    MethodOptions options;
    const Status status = SetOption(options, name, text);
    return status ? std::string() : status.error().message;
  };
  EXPECT_NE(refusal("threshold", "top:0").find("top:0"), std::string::npos);
  EXPECT_NE(refusal("threshold", "percentile:101"), "");
  EXPECT_NE(refusal("actions", "none,jump").find("jump"), std::string::npos);
  EXPECT_NE(refusal("actions", ""), "");
  EXPECT_NE(refusal("vote", "loudest").find("loudest"), std::string::npos);
  EXPECT_NE(refusal("volume", "11").find("volume"), std::string::npos);
  EXPECT_EQ(refusal("threshold", "off"), "");
}

TEST(Options, EveryOptionIsDeclaredOnceAndSaysWhatItTakes) {
  MethodOptions options;
  std::set<std::string> names;
  for (const Option& option : OptionsOf(options)) {
    EXPECT_TRUE(names.insert(option.info().name).second) << option.info().name;
    EXPECT_NE(std::string(option.info().help), "");
    EXPECT_NE(std::string(option.info().group), "");
    EXPECT_NE(option.Takes(), "") << option.info().name;
    EXPECT_TRUE(option.Check().ok()) << option.info().name;
  }
  EXPECT_EQ(names.size(), 81U);
}

// Text that an option prints is text that it reads, for every option and preset.
TEST(Options, TextsReadBack) {
  for (const char* preset : {"paper", "short"}) {
    MethodOptions options = *Preset(preset);
    MethodOptions copy;
    for (const Option& option : OptionsOf(options)) {
      EXPECT_TRUE(SetOption(copy, option.info().name, option.Text()).ok()) << option.info().name;
    }
    const std::vector<Option> now = OptionsOf(copy);
    const std::vector<Option> was = OptionsOf(options);
    for (size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(now[i].Text(), was[i].Text()) << now[i].info().name;
      EXPECT_EQ(now[i].value(), was[i].value()) << now[i].info().name;
    }
  }
}

TEST(Options, NoneIsAlwaysAmongTheActions) {
  MethodOptions options;
  ASSERT_TRUE(SetOption(options, "actions", "branch,single_token").ok());
  std::vector<Option> table = OptionsOf(options);
  EXPECT_EQ(FindOption(table, "actions")->Text(), "none,single_token,branch");
}

}  // namespace
}  // namespace hyper
