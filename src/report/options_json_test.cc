#include "src/report/options_json.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hyper {
namespace {

// The options that a request comes to on a model of preset `short`.
MethodOptions Resolved(const AskRequest& request) {
  ModelInfo model;
  model.preset = "short";
  const Result<RunPlan> plan = ResolveRun(request.options, model);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return plan ? plan->options : MethodOptions();
}

TEST(ParseAskOptions, NothingGivenIsPresetAuto) {
  ModelInfo model;
  model.preset = "short";
  MethodOptions expected = *Preset("short");
  for (const OptionValue& value : ChooseAuto(model, {}).options) {
    ASSERT_TRUE(SetOption(expected, value.name, value.text).ok());
  }
  for (const std::string text : {"", "{}", " {} "}) {
    const Result<AskRequest> request = ParseAskOptions(text);
    ASSERT_TRUE(request.has_value()) << text;
    EXPECT_EQ(DumpJson(OptionsJson(Resolved(*request))), DumpJson(OptionsJson(expected)));
    EXPECT_EQ(request->options.method, "hyper");
  }
}

TEST(ParseAskOptions, ReadsEveryOptionThatTheReportPrints) {
  // What one run printed under "options" is taken back as it is.
  MethodOptions odd = *Preset("paper");
  odd.width = 24;
  odd.route.tau = 0.25;
  odd.route.two_pass = false;
  odd.route.penalty = RoutePenalty::kSoftmax;
  EXPECT_TRUE(SetOption(odd, "threshold", "percentile:30").ok());
  odd.sampler.top_p = 0.5;
  Json printed = OptionsJson(odd);
  printed["preset"] = "paper";
  const Result<AskRequest> request = ParseAskOptions(printed);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(DumpJson(OptionsJson(Resolved(*request))), DumpJson(OptionsJson(odd)));
}

TEST(ParseAskOptions, ReadsWhatConcernsTheQuestion) {
  const Result<AskRequest> request = ParseAskOptions(std::string(
      R"({"method": "sc", "preset": "paper", "seed": 18446744073709551615, "system": "s",
          "instruction": "i", "answer-kind": "choice", "choices": "A-E", "budget-tokens": 5000,
          "time": 2.5, "token-records": true, "timing": true, "temperature": 1})"));
  ASSERT_TRUE(request.has_value()) << request.error().message;
  const AskOptions& options = request->options;
  EXPECT_EQ(options.method, "sc");
  EXPECT_EQ(Resolved(*request).width, Preset("paper")->width);
  EXPECT_EQ(Resolved(*request).sampler.temperature, 1.0) << "an integer is a number";
  EXPECT_EQ(options.seed, 18446744073709551615U);
  EXPECT_EQ(options.system, "s");
  EXPECT_EQ(options.instruction, "i");
  EXPECT_EQ(options.extract.kind, AnswerKind::kChoice);
  EXPECT_EQ(options.extract.options, "ABCDE");
  EXPECT_EQ(options.limits.budget_tokens, 5000);
  EXPECT_EQ(options.limits.time_s, 2.5);
  EXPECT_TRUE(options.token_records);
  EXPECT_TRUE(request->timing);
}

TEST(ParseAskOptions, NamesTheFirstTrouble) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"[]", "not a JSON object"},
      {"{\"width\": 16", "not a JSON object"},
      {R"({"widht": 16})", "'widht' is not known"},
      {R"({"width": "16"})", "'width' is \"16\"; it takes an integer"},
      {R"({"width": 16.5})", "'width' is 16.5"},
      {R"({"width": 5000000000})", "width is 5000000000"},
      {R"({"width": -3})", "width is -3"},
      {R"({"seed": -1})", "'seed' is -1; it takes an integer from 0"},
      {R"({"two-pass": 1})", "'two-pass' is 1; it takes true or false"},
      {R"({"tau": null})", "'tau' is null; it takes a number"},
      {R"({"tau": 1e999})", "not a JSON object"},
      {R"({"method": 3})", "'method' is 3; it takes a string"},
      {R"({"answer-kind": "poem"})", "it takes integer, math, choice, text"},
      {R"({"choices": "!!"})", "'choices' is '!!'"},
      {R"({"time": -1})", "'time'"},
      {R"({"preset": "long"})", "long"},
  };
  for (const auto& [text, part] : cases) {
    const Result<AskRequest> request = ParseAskOptions(std::string(text));
    ASSERT_FALSE(request.has_value()) << text;
    EXPECT_NE(request.error().message.find(part), std::string::npos)
        << text << ": " << request.error().message;
    EXPECT_EQ(request.error().message.find('\n'), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hyper
