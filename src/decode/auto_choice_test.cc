#include "hyper/auto_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hyper/ask.h"
#include "src/decode/pace.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

ModelInfo Instructed() {
  ModelInfo model;
  model.name = "instructed";
  model.context_train_tokens = 8192;
  model.has_chat_template = true;
  return model;
}

ModelInfo Base() {
  ModelInfo model = Instructed();
  model.has_chat_template = false;
  return model;
}

ModelInfo Reasoning() {
  ModelInfo model = Instructed();
  model.context_train_tokens = 40960;
  model.reasons = true;
  return model;
}

ModelInfo Short() {
  ModelInfo model = Instructed();
  model.context_train_tokens = 2048;
  model.preset = "short";
  return model;
}

MethodOptions Chosen(const ModelInfo& model, const AutoRequest& request) {
  const Result<RunPlan> plan = ResolveRun(
      {.method = "hyper", .preset = "auto", .options = {}, .defaults = {}, .automatic = request},
      model);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan->options;
}

struct Row {
  const char* what;
  ModelInfo model;
  AutoRequest request;
  // width, warmup, top, interval, window, max-tokens, expected length
  std::vector<int> expected;
};

// Worked out by hand from the tables of docs/auto.md.
TEST(Auto, ChoosesAsTheTablesSay) {
  const Effort low = Effort::kLow;
  const Effort medium = Effort::kMedium;
  const Effort high = Effort::kHigh;
  const std::vector<Row> rows = {
      {"nothing measured", Instructed(), {medium, 0, {}}, {16, 8, 5, 16, 32, 1500, 500}},
      {"low", Instructed(), {low, 0, {}}, {6, 3, 2, 16, 32, 800, 400}},
      {"high", Instructed(), {high, 0, {}}, {80, 16, 10, 32, 64, 3000, 800}},
      // 240 s at 48 tokens/s: 11,520 tokens, 23 paths of 500; one may have 1.5 * 11,520 / 23.
      {"48 tokens/s", Instructed(), {medium, 0, {48, 0}}, {16, 7, 4, 16, 32, 751, 500}},
      // 40 s: 1,920 tokens, four paths of 400 but six of 320.
      {"low, 48 tokens/s", Instructed(), {low, 0, {48, 0}}, {4, 2, 1, 16, 32, 480, 320}},
      // 400 tokens: six of the half length would be 1,200; three paths of 133.
      {"low, 10 tokens/s", Instructed(), {low, 0, {10, 0}}, {2, 1, 1, 8, 16, 200, 133}},
      // 40 tokens: the shortest there are.
      {"low, 1 token/s", Instructed(), {low, 0, {1, 0}}, {2, 1, 1, 8, 8, 96, 96}},
      // Four fifths of 50 s are 40 s.
      {"a time", Instructed(), {high, 50, {96, 0}}, {4, 2, 1, 32, 64, 960, 640}},
      {"base", Base(), {low, 0, {48, 0}}, {5, 2, 1, 16, 32, 256, 256}},
      {"base, medium", Base(), {medium, 0, {}}, {16, 8, 5, 16, 32, 384, 384}},
      {"reasoning", Reasoning(), {medium, 0, {}}, {16, 8, 5, 64, 256, 16384, 4000}},
      {"reasoning, high", Reasoning(), {high, 0, {}}, {80, 16, 10, 64, 512, 20480, 8000}},
      // 4,800 tokens: three paths, as six would have less than half the length.
      {"reasoning, 20 tokens/s", Reasoning(), {medium, 0, {20, 0}}, {2, 1, 1, 64, 128, 2400, 1600}},
      {"reasoning, 2 tokens/s", Reasoning(), {low, 0, {2, 0}}, {2, 1, 1, 32, 64, 512, 512}},
      {"cells", Instructed(), {medium, 0, {0, 6000}}, {8, 4, 3, 16, 32, 750, 500}},
      {"time and cells", Instructed(), {medium, 0, {48, 6000}}, {8, 4, 3, 16, 32, 750, 500}},
      {"a model made for short", Short(), {medium, 0, {}}, {32, 8, 5, 8, 16, 800, 350}},
      {"the same, low", Short(), {low, 0, {}}, {16, 8, 5, 8, 16, 800, 350}},
      {"the same, high", Short(), {high, 0, {}}, {72, 8, 5, 8, 16, 800, 350}},
      {"the same, slow", Short(), {low, 0, {30, 0}}, {4, 2, 1, 8, 16, 300, 200}},
  };
  for (const Row& row : rows) {
    const MethodOptions options = Chosen(row.model, row.request);
    const std::vector<int> chosen = {options.width,
                                     options.warmup,
                                     options.threshold.top,
                                     options.interval,
                                     options.window,
                                     options.max_tokens,
                                     ChooseAuto(row.model, row.request).path_tokens};
    EXPECT_EQ(chosen, row.expected) << row.what;
    const bool fits_short = row.model.preset == "short";
    EXPECT_TRUE(options.loop_guard) << row.what;
    EXPECT_EQ(options.warmup_barrier, fits_short) << row.what;
    EXPECT_EQ(options.stop.posterior, fits_short ? 0.95 : 0.99) << row.what;
    EXPECT_TRUE(Validate(options).ok()) << row.what;
    EXPECT_EQ(WarmupCount(options), options.warmup) << row.what;
  }
}

TEST(Auto, ShortModelsKeepTheSamplerOfTheirPreset) {
  EXPECT_EQ(Chosen(Short(), {}).sampler.temperature, 0.8);
  EXPECT_EQ(Chosen(Instructed(), {}).sampler.temperature, 0.6);
  ModelInfo model = Instructed();
  model.sampling = {{"temperature", "0.2"}};
  EXPECT_EQ(Chosen(model, {}).sampler.temperature, 0.2) << "what the model's file recommends";
}

TEST(Auto, ShortModelsGetTheSignalAndTheVoteThatFitThem) {
  const MethodOptions fitted = Chosen(Short(), {});
  EXPECT_EQ(fitted.confidence, ConfidenceSignal::kLogprob);
  EXPECT_EQ(fitted.vote.rule, VoteRule::kMajority);
  const MethodOptions others = Chosen(Instructed(), {});
  EXPECT_EQ(others.confidence, MethodOptions{}.confidence);
  EXPECT_EQ(others.vote.rule, MethodOptions{}.vote.rule);
}

TEST(Auto, FasterMachinesGetNoLess) {
  for (const ModelInfo& model : {Instructed(), Base(), Reasoning(), Short()}) {
    double before = 0;
    for (double pace = 1; pace < 1e6; pace *= 1.3) {
      const AutoRequest request{Effort::kMedium, 0, {pace, 0}};
      const MethodOptions options = Chosen(model, request);
      const double tokens = static_cast<double>(options.width + options.warmup) *
                            ChooseAuto(model, request).path_tokens;
      EXPECT_GE(tokens * 1.2, before) << pace;
      if (options.width + options.warmup > 3) {
        EXPECT_LE(tokens, 240 * pace + 1);
        EXPECT_LE(static_cast<double>(options.width + options.warmup) * options.max_tokens,
                  1.5 * 240 * pace + 1);
      }
      before = tokens;
    }
  }
}

TEST(Auto, TheCallersOptionsWinAndARunCanBeRepeated) {
  RunRequest request{.method = "hyper",
                     .preset = "auto",
                     .options = {{"width", 12}},
                     .defaults = {},
                     .automatic = {Effort::kLow, 0, {48, 0}}};
  const Result<RunPlan> plan = ResolveRun(request, Instructed());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->options.width, 12);
  EXPECT_EQ(plan->preset, "auto");
  // Every option given, as a record has them: what was measured no longer matters.
  MethodOptions chosen = plan->options;
  RunRequest again{.method = "hyper",
                   .preset = "auto",
                   .options = {},
                   .defaults = {},
                   .automatic = {Effort::kHigh, 0, {1000, 0}}};
  for (const Option& option : OptionsOf(chosen)) {
    if ((option.info().read_by & (kEvery | kWarmup | kPruning | kController)) != 0) {
      again.options.emplace_back(option.info().name, option.Text());
    }
  }
  Result<RunPlan> repeated = ResolveRun(again, Instructed());
  ASSERT_TRUE(repeated) << repeated.error().message;
  const std::vector<Option> first = OptionsOf(chosen);
  const std::vector<Option> second = OptionsOf(repeated->options);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].Text(), second[i].Text()) << first[i].info().name;
  }
}

TEST(Auto, TakesTheModelsProfile) {
  AutoRequest request{.effort = Effort::kMedium, .time_s = 0, .machine = {}, .profile = {}};
  request.profile = {{"confidence", "logprob"}, {"threshold", "percentile:60"},
                     {"stop", "0.9"},           {"width", "12"},
                     {"warmup", "6"},           {"window", "4"}};
  const MethodOptions medium = Chosen(Short(), request);
  EXPECT_EQ(medium.confidence, ConfidenceSignal::kLogprob);
  EXPECT_EQ(medium.threshold.percentile, 60);
  EXPECT_EQ(medium.stop.posterior, 0.9);
  EXPECT_EQ(medium.window, 4);
  EXPECT_EQ(medium.width, 12);
  EXPECT_EQ(medium.warmup, 6);
  // 24 and 80 paths to 40: 18 become 10.8 and 36.
  request.effort = Effort::kLow;
  EXPECT_EQ(Chosen(Short(), request).width, 6);
  EXPECT_EQ(Chosen(Short(), request).warmup, 5);
  request.effort = Effort::kHigh;
  EXPECT_EQ(Chosen(Short(), request).width, 30);
  EXPECT_EQ(Chosen(Short(), request).warmup, 6);
  AutoRequest wide{.effort = Effort::kHigh, .time_s = 0, .machine = {}, .profile = {}};
  wide.profile = {{"width", "100"}, {"warmup", "8"}};
  EXPECT_EQ(Chosen(Short(), wide).width, 72) << "never more paths than usual";
  // What the machine can do still bounds it, and the caller's own options win.
  request.machine = {1, 0};
  EXPECT_LT(Chosen(Short(), request).width, 12);
  RunRequest own{.method = "hyper",
                 .preset = "auto",
                 .options = {{"stop", "never"}},
                 .defaults = {},
                 .automatic = request};
  const Result<RunPlan> plan = ResolveRun(own, Short());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->options.stop.kind, StopRule::Kind::kNever);
  EXPECT_EQ(plan->options.window, 4);
  EXPECT_EQ(plan->profile.size(), 5U);
  EXPECT_EQ(std::count(plan->profile.begin(), plan->profile.end(), OptionValue("stop", "0.9")), 0);
  // Other presets, and methods that are defined by an option, do without.
  own.preset = "paper";
  EXPECT_EQ(ResolveRun(own, Short())->options.window, 2048);
  EXPECT_TRUE(ResolveRun(own, Short())->profile.empty());
  own.preset = "auto";
  own.method = "sc-adaptive";
  own.options.clear();
  EXPECT_EQ(ResolveRun(own, Short())->options.stop.posterior, 0.95);
}

TEST(Auto, EveryMethodTakesIt) {
  for (const MethodInfo& method : Methods()) {
    const Result<RunPlan> plan = ResolveRun(
        {.method = method.name, .preset = "auto", .options = {}, .defaults = {}}, Instructed());
    ASSERT_TRUE(plan) << method.name << plan.error().message;
    EXPECT_EQ(plan->path_tokens, 500);
  }
}

TEST(Auto, EstimatesSayHowLong) {
  EXPECT_EQ(EstimateText({16, 700, 48}),
            "16 paths of about 700 tokens at 48 tokens/s: about 4 minutes");
  const RunEstimate low{6, 320, 48};
  EXPECT_EQ(
      EstimateText({24, 500, 48}, &low),
      "24 paths of about 500 tokens at 48 tokens/s: about 4 minutes; --effort low: about 40 s");
  const RunEstimate same{24, 500, 50};
  EXPECT_EQ(EstimateText({24, 500, 48}, &same).find("low"), std::string::npos)
      << "no hint where low effort takes as long";
  const RunEstimate fast{6, 320, 10000};
  EXPECT_EQ(EstimateText({24, 500, 10000}, &fast),
            "24 paths of about 500 tokens at 10000 tokens/s: about 1 s")
      << "no hint that says the same";
  EXPECT_EQ(EstimateText(low), "6 paths of about 320 tokens at 48 tokens/s: about 40 s");
  EXPECT_EQ(EstimateText({96, 8000, 20}),
            "96 paths of about 8000 tokens at 20 tokens/s: about 10.7 hours");
  const auto estimate = [](const char* method) {
    const Result<RunPlan> plan = ResolveRun(
        {.method = method, .preset = "auto", .options = {{"max-tokens", 300}}, .defaults = {}},
        Instructed());
    return EstimateOf(*plan, 10);
  };
  EXPECT_EQ(estimate("hyper").paths, 24) << "warm-up and pool";
  EXPECT_EQ(estimate("sc").paths, 16);
  EXPECT_EQ(estimate("deepconf").paths, 16) << "which counts the warm-up into the width";
  EXPECT_EQ(estimate("sc").path_tokens, 300);
}

TEST(Auto, CellsFollowThePathsAndTheirLength) {
  const auto cells = [](const char* preset) {
    const Result<RunPlan> plan = ResolveRun(
        {.method = "hyper", .preset = preset, .options = {}, .defaults = {}}, Instructed());
    return CellsNeeded(*plan, 100);
  };
  EXPECT_EQ(cells("auto"), 100 + 27 * 600) << "27 lanes are 1.65 times the width";
  EXPECT_EQ(cells("short"), 100 + 53 * 800);
  EXPECT_EQ(cells("paper"), 100 + 132 * 8192);
}

ScriptedNext Letters(uint64_t key, std::string_view written, int /*routes*/) {
  return {
      written.size() < 10 + key % 20 ? static_cast<char>('a' + (key + written.size()) % 20) : '$',
      3.0F};
}

TEST(Auto, MeasuringLeavesNoTrace) {
  FakeEngine measured(ScriptedOptions(Letters));
  const std::vector<Token> prompt = {'q'};
  const Result<double> pace = MeasurePace(measured, prompt, std::vector{3, 8}, 100);
  ASSERT_TRUE(pace);
  EXPECT_GT(*pace, 0);
  EXPECT_EQ(measured.open_lanes(), 0);
  FakeEngine fresh(ScriptedOptions(Letters));
  std::vector<std::vector<Token>> texts;
  for (FakeEngine* engine : {&measured, &fresh}) {
    auto session = ScriptedSession(*engine, "hyper", *Preset("short"));
    Driver driver(*engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    for (const Path& path : session->pool().paths()) {
      texts.push_back(path.tokens);
    }
  }
  const auto half = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
  EXPECT_EQ(std::vector(texts.begin(), half), std::vector(half, texts.end()));
}

TEST(Auto, MeasuringKeepsLanesFromOnePhaseToTheNext) {
  const auto opened = [](const std::vector<int>& phases) {
    int count = 0;
    FakeOptions options = ScriptedOptions(Letters);
    options.refuse_open = [&count](int64_t) { return ++count < 0; };
    FakeEngine engine(options);
    EXPECT_TRUE(MeasurePace(engine, std::vector<Token>{'q'}, phases, 8));
    EXPECT_EQ(engine.open_lanes(), 0);
    return count;
  };
  EXPECT_EQ(opened({3, 8}), 8);
  EXPECT_EQ(opened({8, 3}), 8);
  EXPECT_EQ(opened({3, 3, 3}), 3);
}

// A path slows down as it grows: its pace is taken in the middle, where there is room for that.
TEST(Auto, ThePaceIsThatOfHalfAPath) {
  const auto cells = [](int path_tokens, int context_tokens, int64_t cells_total) {
    FakeOptions options = ScriptedOptions(Letters);
    options.capabilities.context_tokens = context_tokens;
    options.capabilities.cells_total = cells_total;
    FakeEngine engine(options);
    EXPECT_TRUE(
        MeasurePace(engine, std::vector<Token>{'q', 'q', 'q'}, std::vector{1}, path_tokens));
    return engine.cost().cells_peak;
  };
  constexpr int kRead = 5;  // tokens that are decoded
  EXPECT_EQ(cells(0, 1024, 0), 3 + kRead);
  EXPECT_EQ(cells(100, 1024, 0), 3 + 50 + kRead);
  EXPECT_EQ(cells(4000, 1024, 0), 3 + 256 + kRead) << "a long prompt takes its time too";
  EXPECT_EQ(cells(100, 20, 0), 19) << "the context ends";
  EXPECT_EQ(cells(100, 1024, 43), 3 + 20 + kRead) << "half of the cells that are left";
}

TEST(Auto, AFullContextHasNoPace) {
  FakeOptions options = ScriptedOptions(Letters);
  options.capabilities.context_tokens = 4;
  FakeEngine engine(options);
  EXPECT_FALSE(MeasurePace(engine, std::vector<Token>{'q', 'q', 'q'}, std::vector{2}, 100));
}

TEST(Auto, ThePaceOfARunCountsTheTimeOfEachPhase) {
  EXPECT_DOUBLE_EQ(PaceOfRun(std::vector{2, 4}, std::vector{20.0, 40.0}), 6 / (0.1 + 0.1));
  EXPECT_DOUBLE_EQ(PaceOfRun(std::vector{8}, std::vector{48.0}), 48);
  const auto phases = [](const char* method) {
    return PhasesOf(*ResolveRun({.method = method, .preset = "auto", .options = {}, .defaults = {}},
                                Instructed()));
  };
  EXPECT_EQ(phases("hyper"), (std::vector{8, 16}));
  EXPECT_EQ(phases("sc"), std::vector{16});
  EXPECT_EQ(phases("roe-late"), (std::vector{8, 16})) << "a warm-up that prunes nothing";
}

// A base model writes to the last token that it may: its paths are as long as the estimate says.
TEST(Auto, PathsThatFillTheirLengthAreCutWithIt) {
  const AutoChoice choice = ChooseAuto(Base(), {Effort::kLow, 0, {25, 0}});
  EXPECT_LT(choice.path_tokens, 256) << "25 tokens/s for 40 s are 1,000 tokens";
  MethodOptions options;
  std::vector<Option> fields = OptionsOf(options);
  for (const OptionValue& value : choice.options) {
    ASSERT_TRUE(FindOption(fields, value.name)->Set(value.text).ok()) << value.name;
  }
  EXPECT_EQ(options.max_tokens, choice.path_tokens);
}

TEST(Auto, ABrokenEngineHasNoPace) {
  FakeOptions options = ScriptedOptions(Letters);
  options.poll_fault = [](int64_t) {
    return std::optional<Error>(Error{ErrorCode::kInternal, ""});
  };
  FakeEngine engine(options);
  EXPECT_FALSE(MeasurePace(engine, std::vector<Token>{'q'}, std::vector{4}, 100));
  EXPECT_EQ(engine.open_lanes(), 0);
  FakeEngine sound(ScriptedOptions(Letters));
  EXPECT_FALSE(MeasurePace(sound, {}, std::vector{4}, 100)) << "a prompt without a token";
}

}  // namespace
}  // namespace hyper
