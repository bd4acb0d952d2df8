// Token refinement inside a server: vLLM with the add-on of integrations/vllm.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/engine/remote/probe/answers.h"
#include "src/engine/remote/wire/request.h"
#include "tests/support/one_server.h"

namespace hyper {
namespace {

using Json = nlohmann::json;
using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;

Json AddOn() {
  return {{"routing", true}, {"max_routes", 9},   {"max_extra_rows", 8}, {"layers", 6},
          {"experts", 16},   {"experts_used", 4}, {"version", "0.1.0"}};
}

RouteSpec Routes(int routes) {
  RouteSpec spec;
  spec.routes = routes;
  return spec;
}

// A vLLM whose streams' bodies are kept.
class Routing : public test::OneServer {
 protected:
  void SetUp() override {
    model_.dialect = ScriptedModel::Dialect::kVllm;
    model_.routing = AddOn();
    model_.fault = [this](int, const Json& body, ServerConnection&) {
      const std::lock_guard lock(mutex_);
      bodies_.push_back(body);
      return false;
    };
  }

  // The body of the newest stream.
  Json Newest() {
    const std::lock_guard lock(mutex_);
    return bodies_.empty() ? Json() : bodies_.back();
  }

  std::mutex mutex_;
  std::vector<Json> bodies_;
};

TEST_F(Routing, IsFoundByTheProbe) {
  Connect();
  EXPECT_TRUE(engine_->capabilities().routing);
  EXPECT_EQ(engine_->capabilities().no_routing, "");
  EXPECT_EQ(engine_->model().expert_count, 16);
  EXPECT_EQ(engine_->model().expert_used_count, 4);
  EXPECT_EQ(engine_->model().moe_layer_count, 6);
  const Result<ServerReport> report = ProbeServer(server_->url(), test::Quick());
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->findings.back().name, "token refinement");
  EXPECT_EQ(report->findings.back().value, "yes, K up to 9, 8 extra rows a forward");
}

TEST_F(Routing, IsOffWithoutTheAddOn) {
  for (const Json& answer : {Json(), Json{{"routing", false}, {"max_routes", 9}}, Json::object()}) {
    model_.routing = answer;
    Connect();
    EXPECT_FALSE(engine_->capabilities().routing);
    EXPECT_NE(engine_->capabilities().no_routing.find("add-on"), std::string::npos);
    EXPECT_EQ(engine_->model().expert_count, 0);
    const Status status = engine_->Route(Open(), Routes(4));
    EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  }
}

TEST_F(Routing, SpecAndKeyGoWithTheRequest) {
  Connect();
  constexpr uint64_t kKey = 0xFEDCBA9876543210U;
  const LaneId lane = Open(kKey);
  RouteSpec spec = Routes(4);
  spec.tau = 0.75;
  spec.lambda = 0.25;
  spec.two_pass = false;
  spec.penalty = RoutePenalty::kSoftmax;
  spec.aggregate = RouteAggregate::kMeanProb;
  spec.aggregate_temperature = 0.5;
  spec.confidence_count = 20;
  spec.confidence_set = ConfidenceSet::kTopK;
  spec.skip_first_layers = 1;
  spec.skip_last_layers = 2;
  ASSERT_TRUE(engine_->Route(lane, spec).ok());
  EXPECT_EQ(Read(lane, 3), "abc");
  const Json wanted = {{"hyper_k", 4},
                       {"hyper_key", "18364758544493064720"},
                       {"hyper_tau", 0.75},
                       {"hyper_lambda", 0.25},
                       {"hyper_two_pass", 0},
                       {"hyper_penalty", "softmax"},
                       {"hyper_agg", "mean-prob"},
                       {"hyper_agg_temperature", 0.5},
                       {"hyper_count", 20},
                       {"hyper_set", "top-k"},
                       {"hyper_skip", {1, 2}}};
  EXPECT_EQ(Newest()["vllm_xargs"], wanted);
  ASSERT_TRUE(engine_->Route(lane, Routes(2)).ok());
  EXPECT_EQ(Read(lane, 1), "d");
  const Json members = Newest()["vllm_xargs"];
  EXPECT_EQ(members["hyper_k"], 2);
  EXPECT_EQ(members["hyper_two_pass"], 1);
  EXPECT_EQ(members["hyper_penalty"], "score");
  EXPECT_EQ(members["hyper_agg"], "confidence");
  EXPECT_EQ(members["hyper_set"], "alternatives");
}

TEST_F(Routing, RefinedTokensAreAskedForAsGrantedAndCounted) {
  Connect();
  const LaneId lane = Open();
  EXPECT_EQ(Read(lane, 2), "ab");
  EXPECT_FALSE(Newest().contains("vllm_xargs"));
  EXPECT_EQ(engine_->cost().route_rows, 0);
  EXPECT_EQ(engine_->cost().decode_rows, 2);
  // Tokens that wait were made without refinement: they are forgotten.
  ASSERT_TRUE(engine_->Route(lane, Routes(4)).ok());
  EXPECT_EQ(Read(lane, 3), "cde");
  EXPECT_EQ(last_.kind, EventKind::kBoundary);
  EXPECT_EQ(Newest()["max_tokens"], 3);
  EXPECT_EQ(Newest()["prompt"].size(), 3U + 2U);
  EXPECT_TRUE(Newest().contains("vllm_xargs"));
  EXPECT_EQ(engine_->cost().route_rows, 3 * 3);
  EXPECT_EQ(engine_->cost().decode_rows, 2 + 3 * 4);
  // The next grant of the same kind goes on.
  EXPECT_EQ(Read(lane, 2), "fg");
  EXPECT_EQ(Newest()["max_tokens"], 2);
  ASSERT_TRUE(engine_->Route(lane, std::nullopt).ok());
  EXPECT_EQ(Read(lane, 2), "hi");
  EXPECT_FALSE(Newest().contains("vllm_xargs"));
  EXPECT_GT(Newest()["max_tokens"], 2);
  EXPECT_EQ(engine_->cost().route_rows, 5 * 3);
}

TEST_F(Routing, EventsTellTheNumberOfRoutes) {
  Connect();
  const LaneId lane = Open();
  for (const int routes : {1, 5}) {
    ASSERT_TRUE(engine_->Route(lane, Routes(routes)).ok());
    ASSERT_TRUE(engine_->Grant(lane, 1).ok());
    int told = 0;
    bool waits = false;
    const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
    while (!waits && base::SteadyClock().Now() < deadline) {
      for (const Event& event : *engine_->Poll(0.05)) {
        told = event.kind == EventKind::kToken ? event.routes : told;
        waits = waits || event.kind == EventKind::kBoundary;
      }
    }
    EXPECT_EQ(told, routes);
  }
}

// A text that ended behind tokens that still waited: those are forgotten, and the end with them.
TEST_F(Routing, AnEndAheadIsForgotten) {
  model_.logits = [](uint64_t, std::span<const Token> history, std::span<float> logits) {
    const Token next = history.size() < 7 ? 'a' : 0;
    logits[static_cast<size_t>(next)] = 40.0F;
  };
  Connect();
  const LaneId lane = Open();
  EXPECT_EQ(Read(lane, 1), "a");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(engine_->Poll(0.01).has_value());  // the rest arrives, and waits
  }
  ASSERT_TRUE(engine_->Route(lane, Routes(2)).ok());
  EXPECT_EQ(Read(lane, 2), "aa");
  EXPECT_EQ(last_.kind, EventKind::kBoundary);
  EXPECT_EQ(Read(lane, 9).substr(0, 1), "a");
  EXPECT_EQ(last_.kind, EventKind::kEnd);
}

TEST_F(Routing, WhatTheServerCannotDoIsRefused) {
  Connect();
  const LaneId lane = Open();
  RouteSpec clean = Routes(4);
  clean.weights = RouteWeights::kClean;
  const Status status = engine_->Route(lane, clean);
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(status.error().message.find("--weights noisy"), std::string::npos);
  EXPECT_TRUE(engine_->Route(lane, Routes(9)).ok());
  const Status wide = engine_->Route(lane, Routes(10));
  EXPECT_EQ(wide.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(wide.error().message.find("room for 9"), std::string::npos);
  EXPECT_TRUE(engine_->Route(lane, std::nullopt).ok());
  EXPECT_FALSE(engine_->Route(lane + 1, Routes(2)).ok());
}

TEST_F(Routing, AllServersMustRefine) {
  Connect();
  ScriptedModel stock(test::WriteAlphabet);
  stock.dialect = ScriptedModel::Dialect::kVllm;
  ScriptedServer other(stock.handler());
  RemoteOptions options = test::Quick();
  options.urls = {server_->url(), other.url()};
  Result<std::unique_ptr<Engine>> engine = remote::MakeEngine(options, clock_);
  ASSERT_TRUE(engine.has_value());
  EXPECT_FALSE((*engine)->capabilities().routing);
  EXPECT_NE((*engine)->capabilities().no_routing.find(std::to_string(other.port())),
            std::string::npos);
  stock.routing = AddOn();
  engine = remote::MakeEngine(options, clock_);
  ASSERT_TRUE(engine.has_value());
  EXPECT_TRUE((*engine)->capabilities().routing);
}

}  // namespace
}  // namespace hyper
