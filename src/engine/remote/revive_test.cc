// Replicas that are away when the engine is made: none of them holds up the others.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>

#include "tests/support/one_server.h"
#include "tests/support/scripted_clock.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;

// An engine on one server, which has two slots, and on the port of another that is away.
class Away : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.slots = 2;
    model_.delay_ms = 1;
    server_ = std::make_unique<ScriptedServer>(model_.handler());
    ScriptedServer away([](const HttpMessage&, ServerConnection&) {});
    port_ = away.port();
    RemoteOptions options = test::Quick();
    options.urls = {server_->url(), away.url()};
    away.Stop();
    Result<std::unique_ptr<Engine>> engine = remote::MakeEngine(options, clock_);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
    prompt_ = *engine_->Tokenize("q: ", false);
  }

  // Waits until the one that is away is due, then lets four lanes have `tokens` each.
  void RunLanes(int tokens) {
    clock_.Advance(1.1);
    std::map<LaneId, int> got;
    for (uint64_t key = 0; key < 4; ++key) {
      LaneSpec spec;
      spec.path_key = key;
      const LaneId lane = *engine_->Open(prompt_, spec);
      got[lane] = 0;
      ASSERT_TRUE(engine_->Grant(lane, tokens).ok());
    }
    const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
    size_t done = 0;
    while (done < got.size() && base::SteadyClock().Now() < deadline) {
      const double begin = clock_.Now();
      const Result<std::span<const Event>> events = engine_->Poll(0.05);
      longest_poll_ = std::max(longest_poll_, clock_.Now() - begin);
      ASSERT_TRUE(events.has_value());
      for (const Event& event : *events) {
        ASSERT_NE(event.kind, EventKind::kFailed) << event.error.message;
        got[event.lane] += event.kind == EventKind::kToken ? 1 : 0;
        done += event.kind == EventKind::kBoundary ? 1 : 0;
      }
    }
    EXPECT_EQ(done, got.size());
    for (const auto& [lane, count] : got) {
      EXPECT_EQ(count, tokens);
    }
  }

  test::ScriptedClock clock_;
  ScriptedModel model_{test::WriteAlphabet};
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Engine> engine_;
  std::vector<Token> prompt_;
  int port_ = 0;
  double longest_poll_ = 0;
};

TEST_F(Away, AHostThatNeverAnswersHoldsNothingUp) {
  std::atomic<int> asked{0};
  ScriptedServer silent(
      [&](const HttpMessage&, ServerConnection& connection) {
        ++asked;
        connection.AwaitHangUp();
      },
      port_);
  RunLanes(60);
  EXPECT_LT(longest_poll_, 0.5);
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 3) << "its models, its properties and its add-on, once";
  engine_.reset();
}

TEST_F(Away, OneThatComesBackIsUsed) {
  ScriptedModel late(test::WriteAlphabet);
  ScriptedServer back(late.handler(), port_);
  RunLanes(60);
  EXPECT_GT(late.streams, 0);
  engine_.reset();
}

TEST_F(Away, OneOfAnotherKindIsLeftOutAndThatIsSaid) {
  ScriptedModel other(test::WriteAlphabet);
  other.dialect = ScriptedModel::Dialect::kVllm;
  ScriptedServer back(other.handler(), port_);
  RunLanes(60);
  EXPECT_EQ(other.streams, 0);
  std::string notices;
  for (const std::string& notice : engine_->TakeNotices()) {
    notices += notice;
  }
  EXPECT_NE(notices.find("another kind (vLLM)"), std::string::npos) << notices;
  engine_.reset();
}

}  // namespace
}  // namespace hyper
