// A server that refuses log-probabilities (llama.cpp #28478) is used without them, and that is
// said.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "hyper/remote_engine.h"
#include "tests/support/scripted_model.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;

// Always "a", and "b" as its rival.
void WriteA(uint64_t /*key*/, std::span<const Token> /*history*/, std::span<float> logits) {
  logits['a'] = 90;
  logits['b'] = 50;
}

TEST(RefusedLogprobs, TheServerIsUsedWithoutThemAndTheReportSaysSo) {
  ScriptedModel model(WriteA);
  ScriptedServer server([&model](const HttpMessage& request, ServerConnection& connection) {
    const nlohmann::json body = nlohmann::json::parse(request.body, nullptr, false);
    if (body.is_object() && body.value("logprobs", 0) > 0) {
      connection.Respond(400, R"({"error":{"code":400,"message":"logprobs is not supported with )"
                              R"(tools + stream for sk-secret","type":"invalid_request_error"}})");
      return;
    }
    model.Handle(request, connection);
  });
  RemoteOptions options;
  options.api_key = "sk-secret";
  const Result<ServerReport> report = ProbeServer(server.url(), options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  std::string said;
  for (const std::string& workaround : report->workarounds) {
    said += workaround + "\n";
  }
  EXPECT_NE(said.find("logprobs is not supported"), std::string::npos) << said;
  EXPECT_EQ(said.find("sk-secret"), std::string::npos) << said;

  options.urls = {server.url()};
  Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(options);
  ASSERT_TRUE(engine.has_value()) << engine.error().message;
  EXPECT_EQ((*engine)->capabilities().max_top_count, 0);
  const std::vector<Token> prompt = *(*engine)->Tokenize("q", false);
  const Result<LaneId> lane = (*engine)->Open(prompt, LaneSpec{});
  ASSERT_TRUE(lane && (*engine)->Grant(*lane, 3).ok());
  std::string text;
  for (int poll = 0; poll < 200 && text.size() < 3; ++poll) {
    const Result<std::span<const Event>> events = (*engine)->Poll(0.05);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      ASSERT_NE(event.kind, EventKind::kFailed) << event.error.message;
      text += event.kind == EventKind::kToken ? (*engine)->TokenText(event.token) : "";
    }
  }
  EXPECT_EQ(text, "aaa");
}

}  // namespace
}  // namespace hyper
