// The server on the bundled model: what a scripted engine cannot show.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hyper/llama_engine.h"
#include "src/server/http/http_server.h"

namespace hyper::server {
namespace {

constexpr const char* kFile = HYPER_SOURCE_DIR "/models/tinymath/tinymath-moe-6m-f16.gguf";

class ServerModel : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFile)) {
      GTEST_SKIP() << "the bundled model is not there";
    }
    LlamaOptions options;
    options.model_path = kFile;
    options.context_cells = Cells();
    options.threads = 1;
    Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
    scheduler_ = std::make_unique<Scheduler>(*engine_, book_, SchedulerOptions{});
    ServerLimits limits;
    limits.model_name = "m";
    limits.preset = "short";
    limits.model = engine_->model();
    limits.most_lanes = engine_->capabilities().max_lanes;
    limits.routing = engine_->capabilities().routing;
    HttpOptions http;
    http.port = 0;
    server_ = std::move(*HttpServer::Listen(*scheduler_, limits, http));
  }
  void TearDown() override {
    if (server_ == nullptr) {
      return;
    }
    scheduler_->Shutdown(0);
    server_->Stop();
    scheduler_.reset();
    EXPECT_EQ(engine_->cost().lanes_open, 0);
    EXPECT_EQ(engine_->cost().cells_used, 0);  // llama.cpp's own count
  }

  virtual int Cells() const { return 4096; }

  Json Ask(const Json& fields) const {
    Json body = {{"model", "m:plain"},
                 {"messages", {{{"role", "user"}, {"content", "12 + 30 = ?"}}}},
                 {"temperature", 0},
                 {"max_tokens", 12}};
    body.update(fields);
    httplib::Client client("127.0.0.1", server_->port());
    client.set_read_timeout(std::chrono::seconds(600));
    const httplib::Result reply =
        client.Post("/v1/chat/completions", body.dump(), "application/json");
    EXPECT_TRUE(reply);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return Json::parse(reply->body);
  }
  // What the model writes, thoughts included.
  static std::string Text(const Json& reply) {
    const Json& message = reply["choices"][0]["message"];
    const Json& reasoning = message["reasoning_content"];
    return (reasoning.is_string() ? reasoning.get<std::string>() : "") +
           message["content"].get<std::string>();
  }
  SchedulerMetrics Settled() const {
    SchedulerMetrics metrics = scheduler_->metrics();
    while (metrics.running + metrics.waiting > 0) {
      std::this_thread::yield();
      metrics = scheduler_->metrics();
    }
    return metrics;
  }

  std::unique_ptr<Engine> engine_;
  RunBook book_{BookOptions{}};
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ServerModel, LogitBiasMovesTheTokens) {
  // A text of one token, whose number the model's vocabulary gives.
  const std::vector<Token> seven = *engine_->Tokenize("7", false);
  ASSERT_FALSE(seven.empty());
  const std::string number = std::to_string(seven.back());
  const Json forced = Ask({{"logit_bias", {{number, 100}}}});
  EXPECT_EQ(Text(forced), "777777777777");
  const Json free = Ask({{"max_tokens", 1}});
  const std::string first = Text(free);
  const std::vector<Token> chosen = *engine_->Tokenize(first, false);
  ASSERT_FALSE(chosen.empty());
  const Json banned =
      Ask({{"max_tokens", 1}, {"logit_bias", {{std::to_string(chosen.back()), -100}}}});
  EXPECT_NE(Text(banned), first);
}

TEST_F(ServerModel, KnownPromptsAreNotComputedAgain) {
  const Json first = Ask(Json::object());
  const int64_t before = Settled().cost.prefill_tokens;
  const Json second = Ask(Json::object());
  const SchedulerMetrics after = Settled();
  EXPECT_EQ(Text(second), Text(first));
  const int prompt = first["usage"]["prompt_tokens"];
  EXPECT_EQ(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  EXPECT_EQ(second["usage"]["prompt_tokens_details"]["cached_tokens"], prompt - 1);
  EXPECT_EQ(after.cost.prefill_tokens, before);
  EXPECT_EQ(after.cost.lanes_open, after.cache_lanes);
  EXPECT_GT(after.cost.cells_used, 0);
  EXPECT_LE(after.cost.cells_used, after.cache_cells);
}

// What decoding said of each token, one forward after another, echo says of all in few forwards.
TEST_F(ServerModel, EchoAgreesWithDecoding) {
  httplib::Client client("127.0.0.1", server_->port());
  client.set_read_timeout(std::chrono::seconds(600));
  const auto complete = [&client](const Json& fields) {
    Json body = {{"model", "m:plain"}, {"temperature", 0}, {"logprobs", 3}};
    body.update(fields);
    const httplib::Result reply = client.Post("/v1/completions", body.dump(), "application/json");
    EXPECT_EQ(reply->status, 200) << reply->body;
    return Json::parse(reply->body)["choices"][0];
  };
  const std::string prompt = "Solve 5x+43=173 for x.\n";
  const Json decoded = complete({{"prompt", prompt}, {"max_tokens", 20}});
  const Json echoed = complete(
      {{"prompt", prompt + decoded["text"].get<std::string>()}, {"max_tokens", 0}, {"echo", true}});
  const Json& one = decoded["logprobs"];
  const Json& all = echoed["logprobs"];
  const size_t count = one["tokens"].size();
  ASSERT_GT(count, 10U);
  ASSERT_GT(all["tokens"].size(), count + 5);
  const size_t first = all["tokens"].size() - count;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(all["tokens"][first + i], one["tokens"][i]);
    EXPECT_NEAR(all["token_logprobs"][first + i].get<double>(),
                one["token_logprobs"][i].get<double>(), 2e-3)
        << i;
    EXPECT_EQ(all["top_logprobs"][first + i].size(), 3U);
    EXPECT_EQ(all["top_logprobs"][first + i].begin().key(), one["top_logprobs"][i].begin().key());
  }
}

TEST_F(ServerModel, RoutesRefineEveryToken) {
  const Json reply = Ask({{"max_tokens", 4}, {"hyper", {{"route", 3}}}});
  const Json& ledger = reply["usage"]["hyper"];
  EXPECT_EQ(ledger["refined"], ledger["generated"]);
  EXPECT_EQ(ledger["extra_routes"].get<int>(), 2 * ledger["generated"].get<int>());
}

TEST_F(ServerModel, RequestsBesideEachOtherSayWhatTheySayAlone) {
  constexpr int kRequests = 4;
  std::vector<std::string> alone;
  alone.reserve(kRequests);
  const auto ask = [this](int i) {
    const std::string question = std::to_string(10 + i) + " + 5 = ?";
    return Text(Ask({{"messages", {{{"role", "user"}, {"content", question}}}}}));
  };
  for (int i = 0; i < kRequests; ++i) {
    alone.push_back(ask(i));
  }
  std::vector<std::future<std::string>> together;
  together.reserve(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    together.push_back(std::async(std::launch::async, ask, i));
  }
  for (size_t i = 0; i < kRequests; ++i) {
    EXPECT_EQ(together[i].get(), alone[i]);
  }
}

class ServerModelShortOfCells : public ServerModel {
  int Cells() const override { return 1200; }
};

// Two pools that need more cells than there are: one is parked, and computed again to the same
// bytes.
TEST_F(ServerModelShortOfCells, ParkedPoolsSayWhatTheySayAlone) {
  Json never_end = Json::object();
  for (Token token = 0; token < engine_->model().vocab_size; ++token) {
    if (engine_->IsEndOfGeneration(token)) {
      never_end[std::to_string(token)] = -100;
    }
  }
  const auto ask = [&](int seed) {
    const Json reply = Ask({{"model", "m:sc"},
                            {"seed", seed},
                            {"temperature", 1},
                            {"max_tokens", 100},
                            {"logit_bias", never_end},
                            {"hyper", {{"width", 8}}}});
    httplib::Client client("127.0.0.1", server_->port());
    const std::string path = "/v1/runs/" + reply["hyper"]["run"].get<std::string>();
    Json ends = Json::array();
    const Json run = Json::parse(client.Get(path)->body);
    for (const Json& record : run["records"]) {
      if (record["record"] == "finish") {
        ends.push_back(record);
      }
    }
    return std::pair(Text(reply), ends);
  };
  const auto first = ask(1);
  const auto second = ask(2);
  EXPECT_EQ(first.second.size(), 8U);
  EXPECT_NE(first, second);
  EXPECT_EQ(Settled().parkings, 0);
  auto beside = std::async(std::launch::async, ask, 1);
  EXPECT_EQ(ask(2), second);
  EXPECT_EQ(beside.get(), first);
  EXPECT_GT(Settled().parkings, 0);
  EXPECT_GT(Settled().cost.recomputed_tokens, 0);
}

}  // namespace
}  // namespace hyper::server
