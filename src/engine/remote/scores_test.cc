// Given continuations scored by a server that echoes prompts.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/engine/remote/remote_engine.h"
#include "tests/support/scripted_clock.h"
#include "tests/support/scripted_model.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;

// The next letter of the alphabet is the likelier the longer the text is.
void WriteAlphabet(uint64_t /*key*/, std::span<const Token> history, std::span<float> logits) {
  const Token last = history.empty() ? 0 : history.back();
  const Token next = last >= 'a' && last < 'z' ? last + 1 : 'a';
  logits[static_cast<size_t>(next)] = 1.0F + 0.1F * static_cast<float>(history.size());
}

// The log-probability of `next` behind `text`, from the definition.
double Logprob(const std::string& text, char next) {
  const std::vector<Token> history(text.begin(), text.end());
  std::vector<float> logits(128, 0.0F);
  WriteAlphabet(0, history, logits);
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  return logits[static_cast<size_t>(next)] - std::log(sum);
}

class RemoteScores : public ::testing::Test {
 protected:
  void Connect(ScriptedModel::Dialect dialect) {
    model_.dialect = dialect;
    server_ =
        std::make_unique<ScriptedServer>([this](const HttpMessage& request, ServerConnection& to) {
          const bool echo = request.body.find("\"echo\":true") != std::string::npos;
          if (echo && busy_ > 0) {
            --busy_;
            to.Respond(429, R"({"error":{"message":"slow down"}})", "Retry-After: 9\r\n");
          } else if (echo && broken_) {
            to.Respond(500, R"({"error":{"message":"out of memory"}})");
          } else {
            model_.Handle(request, to);
          }
        });
    RemoteOptions options;
    options.urls = {server_->url()};
    Result<std::unique_ptr<Engine>> engine = remote::MakeEngine(options, clock_);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
  }

  std::vector<Token> Tokens(const std::string& text) { return *engine_->Tokenize(text, false); }

  LaneId Open(const std::string& text) { return *engine_->Open(Tokens(text), LaneSpec()); }

  Event Scored() {
    for (int polls = 0; polls < 1000; ++polls) {
      const Result<std::span<const Event>> events = engine_->Poll(0.05);
      EXPECT_TRUE(events.has_value());
      for (const Event& event : *events) {
        if (event.kind == EventKind::kScored) {
          return event;
        }
      }
    }
    ADD_FAILURE() << "no score came";
    return {};
  }

  test::ScriptedClock clock_;
  ScriptedModel model_{WriteAlphabet};
  std::atomic<int> busy_{0};  // scores that are refused, with a request to come back
  std::atomic<bool> broken_{false};
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(RemoteScores, AreTheLogprobsOfTheEchoedTokens) {
  Connect(ScriptedModel::Dialect::kVllm);
  EXPECT_TRUE(engine_->capabilities().score);
  const LaneId lane = Open("abc");
  const Result<uint64_t> request =
      engine_->Score(lane, std::vector<std::vector<Token>>{Tokens("de"), Tokens("x")});
  ASSERT_TRUE(request.has_value()) << request.error().message;
  const Event event = Scored();
  EXPECT_EQ(event.lane, lane);
  EXPECT_EQ(event.request, *request);
  ASSERT_EQ(event.scores.size(), 2U);
  ASSERT_EQ(event.scores[0].size(), 2U);
  EXPECT_NEAR(event.scores[0][0], Logprob("abc", 'd'), 1e-5);
  EXPECT_NEAR(event.scores[0][1], Logprob("abcd", 'e'), 1e-5);
  ASSERT_EQ(event.scores[1].size(), 1U);
  EXPECT_NEAR(event.scores[1][0], Logprob("abc", 'x'), 1e-5);
  EXPECT_LT(event.scores[1][0], event.scores[0][0]);
}

// As P(True) probes do: vLLM tells the numbers of generated tokens, and none of alternatives.
TEST_F(RemoteScores, GeneratedTokensCanBeScoredBehind) {
  Connect(ScriptedModel::Dialect::kVllm);
  const LaneId lane = Open("abc");
  ASSERT_TRUE(engine_->Grant(lane, 4).ok());
  std::vector<Token> tokens = Tokens("abc");
  std::string text = "abc";
  for (int polls = 0; polls < 200 && tokens.size() < 7; ++polls) {
    const Result<std::span<const Event>> events = engine_->Poll(0.05);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      if (event.kind != EventKind::kToken) {
        continue;
      }
      tokens.push_back(event.token);
      text += engine_->TokenText(event.token);
    }
  }
  ASSERT_EQ(tokens.size(), 7U);
  const std::vector<Token> question = Tokens("?");
  tokens.insert(tokens.end(), question.begin(), question.end());
  const Result<LaneId> judge = engine_->Open(tokens, LaneSpec());
  ASSERT_TRUE(judge.has_value());
  const Result<uint64_t> request =
      engine_->Score(*judge, std::vector<std::vector<Token>>{Tokens("x")});
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_NEAR(Scored().scores.at(0).at(0), Logprob(text + "?", 'x'), 1e-5);
}

TEST_F(RemoteScores, ABusyServerIsAskedAgainAsItWishes) {
  Connect(ScriptedModel::Dialect::kVllm);
  busy_ = 2;
  const LaneId lane = Open("abc");
  const double begin = clock_.Now();
  ASSERT_TRUE(engine_->Score(lane, std::vector<std::vector<Token>>{Tokens("d")}).has_value());
  const Event event = Scored();
  EXPECT_TRUE(event.error.message.empty()) << event.error.message;
  EXPECT_NEAR(event.scores.at(0).at(0), Logprob("abc", 'd'), 1e-5);
  EXPECT_GE(clock_.Now() - begin, 18);
}

TEST_F(RemoteScores, AFailedRequestGivesNoValueAndTheLaneGoesOn) {
  Connect(ScriptedModel::Dialect::kVllm);
  broken_ = true;
  const LaneId lane = Open("abc");
  ASSERT_TRUE(engine_->Score(lane, std::vector<std::vector<Token>>{Tokens("de")}).has_value());
  const Event event = Scored();
  ASSERT_EQ(event.scores.size(), 1U);
  ASSERT_EQ(event.scores[0].size(), 2U);
  EXPECT_TRUE(std::isnan(event.scores[0][0]));
  EXPECT_NE(event.error.message.find("out of memory"), std::string::npos) << event.error.message;
  std::string notices;
  for (const std::string& notice : engine_->TakeNotices()) {
    notices += notice;
  }
  EXPECT_NE(notices.find("out of memory"), std::string::npos) << notices;
  EXPECT_TRUE(engine_->Grant(lane, 1).ok());
}

TEST_F(RemoteScores, AClosedLaneIsNotAnswered) {
  Connect(ScriptedModel::Dialect::kVllm);
  const LaneId first = Open("abc");
  const LaneId second = Open("abc");
  ASSERT_TRUE(engine_->Score(first, std::vector<std::vector<Token>>{Tokens("d")}).has_value());
  engine_->Close(first);
  EXPECT_FALSE(engine_->Score(first, std::vector<std::vector<Token>>{Tokens("d")}).has_value());
  ASSERT_TRUE(engine_->Score(second, std::vector<std::vector<Token>>{Tokens("d")}).has_value());
  EXPECT_EQ(Scored().lane, second);
}

TEST_F(RemoteScores, AServerWithoutEchoIsRefusedByName) {
  Connect(ScriptedModel::Dialect::kLlamaServer);
  EXPECT_FALSE(engine_->capabilities().score);
  const LaneId lane = Open("abc");
  const Result<uint64_t> request =
      engine_->Score(lane, std::vector<std::vector<Token>>{Tokens("d")});
  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(request.error().message.find("echo"), std::string::npos) << request.error().message;
}

}  // namespace
}  // namespace hyper
