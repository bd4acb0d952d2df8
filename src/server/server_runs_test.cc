// Many clients, clients that leave, security and control of live runs, over real HTTP.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

TEST(Server, SurvivesBodiesThatAreNoRequests) {
  const TestServer server({});
  for (const std::string& body : {std::string("{"), std::string("[]"), std::string(100000, '['),
                                  std::string("\xFF\xFE"), std::string()}) {
    const httplib::Result reply = server.Client().Post(kChat, body, "application/json");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 400);
    EXPECT_EQ(Json::parse(reply->body)["error"]["type"], "invalid_request_error");
  }
  EXPECT_EQ(Content(server.Good(kChat, Chat("say alive"))), "alive");
}

TEST(Server, AsksForItsKey) {
  ServerSetup setup;
  setup.http.keys = {KeyOf("secret")};
  const TestServer server(setup);
  EXPECT_EQ(server.Post(kChat, Chat("say x"))->status, 401);
  httplib::Client client = server.Client();
  for (const char* probe : {"/health", "/live", "/ready", "/docs"}) {
    EXPECT_EQ(client.Get(probe)->status, 200);
  }
  EXPECT_EQ(client.Get("/metrics")->status, 401);
  client.set_bearer_token_auth("secrets");
  EXPECT_EQ(client.Get("/v1/models")->status, 401);
  client.set_bearer_token_auth("secret");
  EXPECT_EQ(client.Get("/v1/models")->status, 200);
}

TEST(Server, RefusesOtherSites) {
  const TestServer server({});
  httplib::Client client = server.Client();
  const std::string body = Chat("say x").dump();
  EXPECT_EQ(
      client.Post(kChat, httplib::Headers{{"Origin", "http://evil.example"}}, body, "text/plain")
          ->status,
      403);
  const auto status_by = [&client](const char* path, const char* host) {
    return client.Get(path, httplib::Headers{{"Host", host}})->status;
  };
  EXPECT_EQ(status_by("/v1/models", "evil.example"), 403);
  EXPECT_EQ(status_by("/health", "balancer.example"), 200);
}

TEST(Server, TakesTheNamesThatItIsGiven) {
  ServerSetup setup;
  setup.http.allowed_hosts = {"app.example", "other.example"};
  for (const char* host : {"127.0.0.1", "0.0.0.0"}) {
    setup.http.host = host;
    const TestServer server(setup);
    httplib::Client client = server.Client();
    const auto status_by = [&client](const httplib::Headers& headers) {
      return client.Get("/v1/models", headers)->status;
    };
    EXPECT_EQ(status_by({{"Host", "app.example:8443"}}), 200);
    EXPECT_EQ(status_by({{"Host", "other.example"}}), 200);
    EXPECT_EQ(status_by({{"Host", "localhost"}}), 200);
    EXPECT_EQ(status_by({{"Host", "evil.example"}}), 403);
    EXPECT_EQ(status_by({{"Host", "app.example"}, {"Origin", "https://app.example"}}), 200);
    EXPECT_EQ(status_by({{"Host", "app.example"}, {"Origin", "https://evil.example"}}), 403);
  }
}

TEST(Server, TurnsRunsAwayWhenTheQueueIsFull) {
  ServerSetup setup = Endless();
  setup.lanes = 1;
  setup.scheduler.waiting_bytes = 30000;  // one run, not two
  TestServer server(setup);
  const Json body = With(Chat("x"), "max_tokens", 400000);
  auto reply = std::make_shared<ReplyQueue>(size_t{1} << 22U);
  ServedRun request;
  request.messages = {{"user", "x"}};
  request.plan.options.max_tokens = 1 << 20;
  EXPECT_FALSE(server.scheduler().Submit({request}, reply).error);
  while (server.scheduler().metrics().running == 0) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(server.scheduler().Submit({request}, reply).error);
  const httplib::Result refused = server.Post(kChat, body);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_FALSE(refused->get_header_value("Retry-After").empty());
  reply->Abandon();
  EXPECT_EQ(server.Settled().runs_cancelled, 2);
}

TEST(Server, FreesTheLanesOfAClientThatLeaves) {
  TestServer server(Endless());
  Json body = With(With(Chat("x"), "n", 3), "max_tokens", 32768);
  for (const bool stream : {true, false}) {
    body["stream"] = stream;
    httplib::Client client = server.Client();
    client.set_read_timeout(std::chrono::milliseconds(150));
    size_t seen = 0;
    (void)client.Post(kChat, httplib::Headers(), body.dump(), "application/json",
                      [&seen](const char* /*data*/, size_t size) {
                        seen += size;
                        return seen < 2000;
                      });
    client.stop();
    server.Settled();
  }
  EXPECT_EQ(server.Settled().runs_cancelled, 2);
  const SchedulerMetrics metrics = server.Settled();
  EXPECT_EQ(metrics.cost.lanes_open, metrics.cache_lanes);
}

TEST(Server, ARunGoesOnWithoutItsClientWhereAsked) {
  TestServer server(Endless());
  Json body = With(With(Chat("x"), "max_tokens", 2000), "stream", true);
  body["hyper"] = {{"keep-running", true}};
  httplib::Client client = server.Client();
  (void)client.Post(kChat, httplib::Headers(), body.dump(), "application/json",
                    [](const char* /*data*/, size_t /*size*/) { return false; });
  client.stop();
  EXPECT_EQ(server.Settled().runs_cancelled, 0);
  const RunOverview run = server.scheduler().book().Runs().front();
  EXPECT_EQ(run.status, "done");
  EXPECT_EQ(run.tokens, 2000);
}

TEST(Server, KeepsTheTextsOfManyClientsApart) {
  ServerSetup setup;
  setup.lanes = 4;
  const TestServer server(setup);
  std::vector<std::future<std::string>> replies;
  replies.reserve(12);
  for (int i = 0; i < 12; ++i) {
    replies.push_back(std::async(std::launch::async, [&server, i] {
      const std::string text = "say client number " + std::to_string(i * 7919);
      return Content(server.Good(kChat, With(Chat(text), "n", 3)), 2);
    }));
  }
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(replies[static_cast<size_t>(i)].get(), "client number " + std::to_string(i * 7919));
  }
}

TEST(Server, KeepsRunsAndControlsLiveOnes) {
  TestServer server(Endless());
  auto reply = std::make_shared<ReplyQueue>(size_t{1} << 22U);
  const std::string id = server.scheduler().Submit({EndlessPool()}, reply).id;
  httplib::Client client = server.Client();
  while (server.scheduler().book().Find(id)->paths < 4) {
    std::this_thread::yield();
  }
  const std::string run = "/v1/runs/" + id;
  EXPECT_EQ(client.Post(run + "/paths/1/prune")->status, 200);
  EXPECT_EQ(client.Post(run + "/paths/1/prune")->status, 409);
  EXPECT_EQ(client.Post(run + "/paths/0/fork")->status, 200);
  EXPECT_EQ(client.Post(run + "/paths/0/grant", R"({"tokens": 5})", "application/json")->status,
            200);
  EXPECT_EQ(client.Post(run + "/paths/0/grant", "{}", "application/json")->status, 400);
  EXPECT_EQ(client.Post("/v1/runs/none/cancel")->status, 404);
  EXPECT_EQ(client.Post(run + "/cancel")->status, 200);
  server.Settled();
  const Json kept = Json::parse(client.Get(run)->body);
  EXPECT_EQ(kept["status"], "partial");
  EXPECT_EQ(kept["paths"], 5);
  int pruned = 0;
  for (const Json& record : kept["records"]) {
    pruned += record.value("reason", Json()) == "pruned by request" ? 1 : 0;
  }
  EXPECT_EQ(pruned, 1);
  EXPECT_EQ(Json::parse(client.Get("/v1/runs")->body)["data"][0]["id"], id);
  const std::string events = client.Get(run + "/events")->body;
  EXPECT_EQ(events.rfind("data: {\"record\":\"run\"", 0), 0U);
  EXPECT_NE(events.find("{\"record\":\"result\""), std::string::npos);
}

// The records of a run of `fields`.
std::vector<Json> RecordsOf(const TestServer& server, const Json& fields) {
  Json body = With(Chat("x", "m:sc"), "max_tokens", 1000);
  body["seed"] = 5;
  body["hyper"] = fields;
  return server.Records(server.Good(kChat, body)["hyper"]["run"]);
}

// The run with records of tokens says what a curve must have.
TEST(Server, ARunWithoutTokenRecordsHasCurves) {
  const TestServer server(Endless());
  using Place = std::pair<int, int>;  // path and position
  std::map<Place, double> wanted;
  for (const Json& record : RecordsOf(server, {{"width", 3}, {"token-records", true}})) {
    EXPECT_NE(record["record"], "curve");
    if (record["record"] == "token") {
      wanted[{record["path"], record["position"]}] = record["window_mean"];
    }
  }
  ASSERT_EQ(wanted.size(), 3000U);
  std::map<int, std::vector<int>> positions;
  for (const Json& record : RecordsOf(server, {{"width", 3}})) {
    EXPECT_NE(record["record"], "token");
    if (record["record"] == "curve") {
      const Place place(record["path"], record["position"]);
      EXPECT_EQ(record["window_mean"].get<double>(), wanted.at(place));
      positions[place.first].push_back(place.second);
    }
  }
  ASSERT_EQ(positions.size(), 3U);
  for (const auto& [path, at] : positions) {
    EXPECT_EQ(at.front(), 7);
    EXPECT_EQ(at.back(), 999);
    EXPECT_LT(at.size(), 100U);
    for (size_t i = 1; i + 1 < at.size(); ++i) {
      EXPECT_EQ(at[i] - at[i - 1], std::max(8, (at[i] + 1) / 32)) << at[i];
    }
  }
}

TEST(Server, ShowsMetricsAndThePage) {
  const TestServer server({});
  server.Good(kChat, Chat("say abc"));
  server.Settled();
  const std::string metrics = server.Client().Get("/metrics")->body;
  EXPECT_NE(metrics.find("\nhyper_generated_tokens_total 4\n"), std::string::npos) << metrics;
  const httplib::Result page = server.Client().Get("/");
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(server.Client().Get("/docs")->body.find("/page/docs.js"), std::string::npos);
  EXPECT_EQ(server.Client().Get("/page/../etc/passwd")->status, 404);
  EXPECT_EQ(server.Client().Get("/nothing")->status, 404);
}

TEST(Server, ReportsAnEngineThatFails) {
  ServerSetup setup;
  setup.context = 128;
  setup.logits = [](const FakeStep& /*step*/, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<float>::quiet_NaN());
  };
  const TestServer server(setup);
  const Json reply = server.Good(kChat, Chat("x"));
  EXPECT_EQ(Content(reply), "");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

// As where memory runs out on the thread that decodes.
TEST(Server, AnExceptionEndsTheRunsAndNotTheServer) {
  ServerSetup setup;
  setup.logits = [](const FakeStep& step, std::span<float> logits) {
    const std::string text(step.history.begin(), step.history.end());
    if (text.ends_with("abcdefgh\nabc")) {
      throw std::runtime_error("no memory");
    }
    Say(step, logits);
  };
  const TestServer server(setup);
  const httplib::Result failed = server.Post(kChat, Chat("say abcdefgh"));
  EXPECT_EQ(failed->status, 500);
  EXPECT_NE(failed->body.find("no memory"), std::string::npos);
  EXPECT_EQ(server.Settled().running, 0);
  EXPECT_EQ(Content(server.Good(kChat, Chat("say so that it is beyond it"))),
            "so that it is beyond it");
}

TEST(EqualInConstantTime, ComparesWholeTexts) {
  EXPECT_TRUE(EqualInConstantTime("key", "key"));
  EXPECT_FALSE(EqualInConstantTime("ke", "key"));
  EXPECT_FALSE(EqualInConstantTime("keykey", "key"));
  EXPECT_FALSE(EqualInConstantTime("", "key"));
}

}  // namespace
}  // namespace hyper::server
