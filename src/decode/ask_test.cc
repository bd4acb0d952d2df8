#include "hyper/ask.h"

#include <gtest/gtest.h>

#include <string>

#include "src/decode/scripted_paths.h"

namespace hyper {
namespace {

// Every path writes "#### 42" and ends.
FakeOptions AnswersFortyTwo() {
  return ScriptedOptions([](uint64_t, std::string_view written, int) {
    constexpr std::string_view kText = "#### 42";
    return ScriptedNext{written.size() < kText.size() ? kText[written.size()] : '$', 5.0F};
  });
}

AskOptions SmallAsk() {
  AskOptions options;
  options.decoding = *Preset("short");
  options.decoding.width = 4;
  options.decoding.warmup = 2;
  options.decoding.sampler = SamplerSpec{0.0, 0, 1.0, 0.0};
  options.extract.kind = AnswerKind::kInteger;
  return options;
}

// A method of one's own: a single path.
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

TEST(PrepareSession, PromptHoldsSystemQuestionAndInstruction) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  options.system = "Be brief.";
  options.instruction = "Box it.";
  const Result<AskSession> ask = PrepareSession(engine, "6 x 7?", options);
  ASSERT_TRUE(ask.has_value());
  EXPECT_EQ(ask->session->pool().prompt().text, "system: Be brief.\nuser: 6 x 7?\n\nBox it.\n");
  EXPECT_EQ(ask->session->pool().reservation().lanes, LaneLimit(options.decoding));
  EXPECT_EQ(engine.open_lanes(), 0) << "nothing is decoded yet";
}

TEST(PrepareSession, TakesAMethodOfOnesOwn) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  options.method = "not looked at";
  Result<AskSession> ask = PrepareSession(engine, "6 x 7?", options, std::make_unique<OnePath>());
  ASSERT_TRUE(ask.has_value());
  Driver driver(engine);
  driver.Add(ask->session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(ask->session->Result().voting_paths, 1);
  EXPECT_EQ(ask->session->Result().answer, "42");
}

TEST(PrepareSession, RefusesWhatCannotRun) {
  FakeEngine engine(AnswersFortyTwo());
  AskOptions options = SmallAsk();
  EXPECT_EQ(PrepareSession(engine, " \n", options).error().code, ErrorCode::kInvalidArgument);
  const std::string long_question(static_cast<size_t>(engine.capabilities().context_tokens), 'x');
  const Result<AskSession> too_long = PrepareSession(engine, long_question, options);
  ASSERT_FALSE(too_long.has_value());
  EXPECT_NE(too_long.error().message.find("4096"), std::string::npos) << too_long.error().message;
  options.decoding.width = 0;
  EXPECT_EQ(PrepareSession(engine, "q", options).error().code, ErrorCode::kInvalidArgument);
  options = SmallAsk();
  options.method = "magic";
  const Result<AskSession> unknown = PrepareSession(engine, "q", options);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_NE(unknown.error().message.find("magic"), std::string::npos);
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
