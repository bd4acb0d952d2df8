#include "hyper/ask.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/decode/methods/batch_reward.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Nothing where there is no error.
std::optional<ErrorCode> CodeOf(const Result<std::unique_ptr<Session>>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

// Every path writes "#### 42" and ends.
FakeOptions AnswersFortyTwo() {
  return ScriptedOptions([](uint64_t, std::string_view written, int) {
    constexpr std::string_view kText = "#### 42";
    return ScriptedNext{written.size() < kText.size() ? kText[written.size()] : '$', 5.0F};
  });
}

AskOptions SmallAsk() {
  AskOptions options;
  options.preset = "short";
  options.options = {{"width", 4}, {"warmup", 2}, {"temperature", 0}};
  options.extract.kind = AnswerKind::kInteger;
  return options;
}

// A method of our own: a single path.
class OnePath : public Method {
 public:
  Status Start(Pool& pool) override {
    Status status = OpenPaths(pool, 0, 1, /*warmup=*/false);
    return status ? pool.GrantAll(100) : status;
  }
  Status OnSettled(Pool& pool) override { return pool.GrantAll(100); }
  bool Done(const Pool& pool) const override { return pool.running().empty(); }
};

TEST(Ask, AnswersWithTheVoteOfAllPaths) {
  FakeEngine engine(AnswersFortyTwo());
  const Result<SessionResult> result = Ask(engine, "What is 6 x 7?", SmallAsk());
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->answer, "42");
  EXPECT_EQ(result->voting_paths, 6);
  EXPECT_FALSE(result->partial);
  EXPECT_EQ(engine.open_lanes(), 0);
}

// What a box holds when --max-tokens cuts it off may be the beginning of another answer. It does
// not vote, not even as a tentative one: here it would outvote the path that came to its end.
TEST(Ask, BoxesThatWereCutOffDoNotVote) {
  for (const std::string box : {"\\boxed{4", "\\boxed{\\frac{1}{2}", "<think>\\boxed{4",
                                "\\boxed 4", "<|begin_of_box|>4", "\\boxed{"}) {
    const std::string ends = "#### 7";
    std::map<uint64_t, size_t> paths;  // by key, in the order in which they begin
    FakeEngine engine(ScriptedOptions([&](uint64_t key, std::string_view written, int) {
      const size_t path = paths.try_emplace(key, paths.size()).first->second;
      const std::string& text = path == 0 ? ends : box;
      const char end = path == 0 ? '$' : '2';
      return ScriptedNext{written.size() < text.size() ? text[written.size()] : end, 5.0F};
    }));
    AskOptions options = SmallAsk();
    options.method = "sc";
    options.extract.kind = AnswerKind::kMath;
    options.options = {
        {"width", 4}, {"temperature", 0}, {"max-tokens", static_cast<int>(box.size())}};
    auto session = PrepareSession(engine, "6 x 7?", options);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    Driver driver(engine);
    driver.Add(session->get());
    ASSERT_TRUE(driver.RunAll().ok());
    EXPECT_EQ((*session)->Result().answer, "7") << box;
    EXPECT_EQ((*session)->Result().voting_paths, 1) << box;
    int cut = 0;
    for (const Path& path : (*session)->pool().paths()) {
      cut += path.status == PathStatus::kFinished ? 0 : 1;
    }
    EXPECT_EQ(cut, 3) << box;
  }
}

TEST(PrepareSession, PromptHoldsSystemQuestionAndInstruction) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  options.system = "Be brief.";
  options.instruction = "Box it.";
  const Result<std::unique_ptr<Session>> ask = PrepareSession(engine, "6 x 7?", options);
  ASSERT_TRUE(ask.has_value());
  EXPECT_EQ((*ask)->pool().prompt().text, "system: Be brief.\nuser: 6 x 7?\n\nBox it.\n");
  EXPECT_EQ((*ask)->pool().reservation().lanes, 7) << "1.65 times the width";
  EXPECT_EQ(engine.open_lanes(), 0) << "nothing is decoded yet";
}

TEST(PrepareSession, TakesAMethodOfOnesOwn) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  options.method = "sc";  // names the options only
  options.options = {{"width", 4}};
  Result<std::unique_ptr<Session>> ask =
      PrepareSession(engine, "6 x 7?", options, std::make_unique<OnePath>());
  ASSERT_TRUE(ask.has_value());
  Driver driver(engine);
  driver.Add(ask->get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ((*ask)->Result().voting_paths, 1);
  EXPECT_EQ((*ask)->Result().answer, "42");
}

// Worth 1 where the text has a 4 and 0 where not.
class HasFour : public BatchReward {
 public:
  std::string name() const override { return "has-four"; }

 protected:
  Status Ask(Pool& pool) override {
    for (size_t i = 0; i < steps().size(); ++i) {
      const std::string text = TextBetween(pool, steps()[i].path, 0, steps()[i].end);
      Set(i, text.find('4') != std::string::npos ? 1 : 0);
    }
    return {};
  }
};

// One path in four writes 42, the others 17: the best step decides, not the most paths.
TEST(PrepareSession, ATreeWithARewardOfOnesOwnHasTheMethodsOwnDefaults) {
  std::map<uint64_t, size_t> paths;  // by key, in the order in which they begin
  FakeEngine engine(ScriptedOptions([&](uint64_t key, std::string_view written, int) {
    const size_t path = paths.try_emplace(key, paths.size()).first->second;
    const std::string text = path % 4 == 1 ? "#### 42" : "#### 17";
    return ScriptedNext{written.size() < text.size() ? text[written.size()] : '$', 5.0F};
  }));
  for (const auto& [method, rule] :
       {std::pair("rebase", "weighted"), std::pair("mcts", "best"), std::pair("tot", "majority")}) {
    AskOptions options = SmallAsk();
    options.method = method;
    const Result<RunPlan> plan = ResolveRun(options, engine.model());
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    Result<std::unique_ptr<Method>> tree = MakeStepMethod(*plan, std::make_unique<HasFour>());
    ASSERT_TRUE(tree.has_value()) << tree.error().message;
    paths.clear();
    Result<std::unique_ptr<Session>> session =
        PrepareSession(engine, "6 x 7?", options, std::move(*tree));
    ASSERT_TRUE(session.has_value()) << session.error().message;
    Driver driver(engine);
    driver.Add(session->get());
    ASSERT_TRUE(driver.RunAll().ok());
    EXPECT_EQ((*session)->Result().vote_rule, rule) << method;
    if (method == std::string("rebase")) {
      EXPECT_EQ((*session)->Result().answer, "42");
    }
  }
}

// The plan says what a method of one's own needs of the engine.
TEST(PrepareSession, ChecksTheEngineForAMethodOfOnesOwnToo) {
  FakeOptions fake = AnswersFortyTwo();
  fake.capabilities.max_top_count = 0;
  FakeEngine engine(fake);
  AskOptions options = SmallAsk();
  EXPECT_EQ(CodeOf(PrepareSession(engine, "q", options, std::make_unique<OnePath>())),
            ErrorCode::kUnsupported);
  options.method = "sc";
  options.options = {{"width", 4}};
  EXPECT_TRUE(PrepareSession(engine, "q", options, std::make_unique<OnePath>()).has_value());
  options.options = {{"width", 4000}};
  EXPECT_EQ(CodeOf(PrepareSession(engine, "q", options, std::make_unique<OnePath>())),
            ErrorCode::kInvalidArgument);
}

TEST(ReservationOf, IsTheWholeEngineOrLess) {
  FakeOptions fake = AnswersFortyTwo();
  fake.capabilities.max_lanes = 10;
  fake.capabilities.cells_total = 500;
  const FakeEngine engine(fake);
  MethodOptions options;
  options.width = 4;
  const auto of = [&](Reservation most) {
    const Reservation given = ReservationOf(options, engine, most);
    return std::pair(given.lanes, given.cells);
  };
  EXPECT_EQ(of({}), std::pair(7, int64_t{500})) << "1.65 times the width";
  EXPECT_EQ(of({9, 600}), std::pair(9, int64_t{500}));
  EXPECT_EQ(of({40, 100}), std::pair(10, int64_t{100}));
  options.width = 64;
  EXPECT_EQ(of({}).first, 10);
}

TEST(PrepareSession, RefusesWhatCannotRun) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  EXPECT_EQ(CodeOf(PrepareSession(engine, " \n", options)), ErrorCode::kInvalidArgument);
  const std::string long_question(static_cast<size_t>(engine.capabilities().context_tokens), 'x');
  const auto too_long = PrepareSession(engine, long_question, options);
  ASSERT_FALSE(too_long.has_value());
  EXPECT_NE(too_long.error().message.find("4096"), std::string::npos) << too_long.error().message;
  options.options = {{"width", 0}};
  EXPECT_EQ(CodeOf(PrepareSession(engine, "q", options)), ErrorCode::kInvalidArgument);
  options = SmallAsk();
  options.method = "magic";
  const auto unknown = PrepareSession(engine, "q", options);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_NE(unknown.error().message.find("magic"), std::string::npos);
}

TEST(ResolveRun, TheCallersValuesWinOverTheModelTheModelOverTheMethodAndThatOverThePreset) {
  ModelInfo model;
  model.sampling = {{"temperature", "0.6"}, {"top-k", "20"}};
  RunRequest request;
  request.method = "deepconf";
  request.preset = "short";
  request.defaults = {{"interval", 5}, {"width", 6}};
  request.options = {{"temperature", 0.7}, {"width", 10}};
  const Result<RunPlan> plan = ResolveRun(request, model);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->options.window, Preset("short")->window);
  EXPECT_EQ(plan->options.confidence_count, 20);
  EXPECT_EQ(plan->options.sampler.top_k, 20);
  EXPECT_EQ(plan->options.interval, 5);
  EXPECT_DOUBLE_EQ(plan->options.sampler.temperature, 0.7);
  EXPECT_EQ(plan->options.width, 10);
}

TEST(ResolveRun, ChoosesForTheModelWhereNoPresetIsNamed) {
  ModelInfo model;
  EXPECT_EQ(ResolveRun({}, model)->preset, "auto");
  EXPECT_EQ(ResolveRun({}, model)->options.max_tokens, 384);  // no chat template
  EXPECT_EQ(FixedPreset(model), "paper");
  model.name = "tinymath-moe-6m";
  EXPECT_EQ(ResolveRun({}, model)->options.max_tokens, 800);
  EXPECT_EQ(FixedPreset(model), "short");
  model.name = "";
  model.preset = "short";
  EXPECT_EQ(FixedPreset(model), "short");
  RunRequest request;
  request.preset = "short";
  EXPECT_EQ(ResolveRun(request, model)->preset, "short");
}

TEST(ResolveRun, AnOptionThatTheMethodDoesNotReadIsRefusedWithThoseThatDo) {
  RunRequest request;
  request.method = "sc";
  request.options = {{"eta", 0.3}};
  const Result<RunPlan> refused = ResolveRun(request, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  for (const char* part : {"eta", "'sc'", "hyper", "manual"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(refused.error().message.find("bon"), std::string::npos);
  // A value that it has anyway is no wish; what surrounds the run is none either.
  request.options = {{"eta", 0.4}};
  EXPECT_TRUE(ResolveRun(request, {}).has_value());
  request.options = {};
  request.defaults = {{"eta", 0.3}};
  EXPECT_TRUE(ResolveRun(request, {}).has_value());
}

TEST(ResolveRun, ATreeIsScoredAsItsNameSays) {
  RunRequest request;
  request.method = "rebase-conf";
  request.options = {{"reward", "ptrue"}};
  const Result<RunPlan> refused = ResolveRun(request, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("rebase-ptrue"), std::string::npos)
      << refused.error().message;
  request.options = {};
  request.defaults = {{"reward", "ptrue"}};
  EXPECT_EQ(ResolveRun(request, {})->options.tree.reward, RewardKind::kConfidence)
      << "what is meant for all rows is read by those that can";
  request.defaults = {};
  request.options = {{"reward", "ptrue"}};
  request.method = "rebase";
  EXPECT_EQ(ResolveRun(request, {})->options.tree.reward, RewardKind::kPTrue);
  request.options = {};
  request.method = "rebase-judge";
  EXPECT_EQ(ResolveRun(request, {})->options.tree.reward, RewardKind::kJudge);
}

TEST(ResolveRun, CotIsOnePathWhateverTheWidth) {
  RunRequest request;
  request.method = "cot";
  request.options = {{"width", 8}};
  EXPECT_EQ(ResolveRun(request, {})->options.width, 1);
}

TEST(OpenSession, RefusesAnEngineThatLacksWhatTheMethodIsMadeOf) {
  FakeOptions fake = AnswersFortyTwo();
  fake.capabilities.max_top_count = 0;
  FakeEngine engine(fake);
  AskOptions options = SmallAsk();
  EXPECT_EQ(CodeOf(PrepareSession(engine, "q", options)), ErrorCode::kUnsupported);
  options.method = "sc";
  options.options = {{"width", 4}};
  EXPECT_TRUE(PrepareSession(engine, "q", options).has_value());
  options.options = {{"width", 4000}};
  const auto wide = PrepareSession(engine, "q", options);
  ASSERT_FALSE(wide.has_value());
  EXPECT_NE(wide.error().message.find("--width 4000"), std::string::npos);
}

TEST(Ask, PassesTheEnginesFailureOn) {
  FakeOptions fake = AnswersFortyTwo();
  fake.poll_fault = [](int64_t poll) -> std::optional<Error> {
    if (poll < 3) {
      return std::nullopt;
    }
    return Error{ErrorCode::kInternal, "the device fell off"};
  };
  FakeEngine engine(fake);
  const Result<SessionResult> result = Ask(engine, "q", SmallAsk());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "the device fell off");
}

}  // namespace
}  // namespace hyper
