// A server of several models, over real HTTP.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/server/archive/run_archive.h"
#include "src/server/http/http_server.h"
#include "tests/support/model_fleet.h"
#include "tests/support/temporary_folder.h"

namespace hyper::server {
namespace {

constexpr const char* kChats = "/v1/chat/completions";

class ServerModels : public testing::Test {
 protected:
  void SetUp() override { Serve(1); }
  void TearDown() override { End(); }

  void Serve(int most_loaded, const std::vector<std::string>& names = {"a", "b"},
             HttpOptions http = {}) {
    OpenBook();
    HostOptions options;
    options.most_loaded = most_loaded;
    options.busy_s = 0;
    std::vector<ServedModel> models = fleet_.Models(names);
    models.back().limits.plain_names = {"titles"};
    host_ = std::make_unique<ModelHost>(*book_, std::move(models), options);
    http.port = 0;
    server_ = std::move(*HttpServer::Listen(*host_, http));
  }
  // A server of one model, which is always there.
  void ServeOne(const std::string& name) {
    OpenBook();
    const std::vector<ServedModel> models = fleet_.Models({name});
    engine_ = std::move(*models.front().load());
    scheduler_ = std::make_unique<Scheduler>(*engine_, *book_, SchedulerOptions{});
    ServerLimits limits = models.front().limits;
    limits.model = engine_->model();
    limits.most_lanes = engine_->capabilities().max_lanes;
    HttpOptions http;
    http.port = 0;
    server_ = std::move(*HttpServer::Listen(*scheduler_, limits, http));
  }
  void OpenBook() {
    ArchiveOptions archive;
    archive.path = folder_.File("runs.db");
    archive_ = std::move(*RunArchive::Open(archive));
    BookOptions book;
    book.archive = archive_.get();
    book_ = std::make_unique<RunBook>(book);
  }
  void End() {
    if (server_ == nullptr) {
      return;  // a test has ended it
    }
    if (host_ != nullptr) {
      host_->Shutdown(0);
    } else {
      scheduler_->Shutdown(0);
    }
    server_->Stop();
    server_.reset();
    host_.reset();
    scheduler_.reset();
    engine_.reset();
    book_.reset();
    archive_.reset();
  }

  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", server_->port());
    client.set_read_timeout(std::chrono::seconds(static_cast<int>(20 * test::Patience())));
    return client;
  }
  Json Post(const std::string& path, const Json& body, int status = 200) const {
    const httplib::Result reply = Client().Post(path, body.dump(), "application/json");
    EXPECT_TRUE(reply);
    EXPECT_EQ(reply->status, status) << reply->body;
    return Json::parse(reply->body, nullptr, /*allow_exceptions=*/false);
  }
  Json Get(const std::string& path) const { return Json::parse(Client().Get(path)->body); }
  static Json Chat(const std::string& model, const std::string& text = "?") {
    return {{"model", model}, {"messages", {{{"role", "user"}, {"content", text}}}}};
  }
  std::string Ask(const std::string& model) const {
    return Post(kChats, Chat(model))["choices"][0]["message"]["content"];
  }
  // Begins a run that does not end by itself; its id.
  std::string Begin(const std::string& model) const {
    Json body = Chat(model, "endless");
    body["stream"] = true;
    body["max_tokens"] = 1 << 15;
    body["hyper"] = {{"keep-running", true}};
    httplib::Client client = Client();
    (void)client.Post(kChats, httplib::Headers(), body.dump(), "application/json",
                      [](const char* /*data*/, size_t /*size*/) { return false; });
    return Get("/v1/runs")["data"][0]["id"];
  }

  // A pool on the model whose paths can be gone on from; its id.
  std::string Pool(const std::string& model) const {
    Json body = Chat(model + ":sc");
    body["hyper"] = {{"width", 2}, {"token-records", true}};
    return Post(kChats, body)["hyper"]["run"];
  }
  Json Fork(const std::string& run, int status = 200) const {
    return Post("/v1/runs/" + run + "/paths/0/fork", {{"at", 1}}, status);
  }

  test::TemporaryFolder folder_;
  ModelFleet fleet_;
  std::unique_ptr<RunArchive> archive_;
  std::unique_ptr<RunBook> book_;
  std::unique_ptr<ModelHost> host_;  // of several
  std::unique_ptr<Engine> engine_;   // of one
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ServerModels, TheFieldPicksTheModel) {
  EXPECT_EQ(Ask("b:plain"), "b");
  EXPECT_EQ(Ask("a:plain"), "a");
  Json pool = Chat("b:sc");
  pool["hyper"] = {{"width", 2}};
  EXPECT_EQ(Post(kChats, pool)["model"], "b:sc");
  EXPECT_EQ(fleet_.events(), "+b -b +a -a +b");
}

TEST_F(ServerModels, AnotherNameIsPlainDecodingOnItsModel) {
  const Json reply = Post(kChats, Chat("titles"));
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "b");
  EXPECT_EQ(reply["hyper"]["method"], "plain");
  EXPECT_EQ(fleet_.events(), "+b");
  Post(kChats, Chat("titles:sc"), 404);
}

TEST_F(ServerModels, MethodsAreListedForThoseWhoAsk) {
  const auto ids = [this](const std::string& path) {
    std::string text;
    const Json list = Get(path);
    for (const Json& model : list["data"]) {
      text += model["id"].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(ids("/v1/models"), "a a:plain b b:plain titles ");
  const std::string all = ids("/v1/models?methods=true");
  EXPECT_EQ(all.rfind("a a:plain a:", 0), 0U) << all;
  EXPECT_NE(all.find(" a:sc "), std::string::npos);
  EXPECT_NE(all.find(" b b:plain titles b:"), std::string::npos);
  EXPECT_NE(all.find(" b:sc "), std::string::npos);
}

TEST_F(ServerModels, ModelsAreListedWithTheirStates) {
  const auto states = [this] {
    std::string text;
    const Json list = Get("/v1/models");
    for (const Json& model : list["data"]) {
      text += model["id"].get<std::string>() + " " + model["state"].get<std::string>() + ", ";
    }
    return text;
  };
  EXPECT_EQ(states(),
            "a unloaded, a:plain unloaded, b unloaded, b:plain unloaded, titles unloaded, ");
  Ask("b:plain");
  EXPECT_EQ(states(), "a unloaded, a:plain unloaded, b loaded, b:plain loaded, titles loaded, ");
  EXPECT_EQ(Get("/v1/models/b:sc")["state"], "loaded");
  EXPECT_EQ(Get("/health"),
            Json({{"status", "ok"}, {"models", {{"a", "unloaded"}, {"b", "loaded"}}}}));
  const std::string metrics = Client().Get("/metrics")->body;
  EXPECT_NE(metrics.find("hyper_model_loaded{model=\"a\"} 0\nhyper_model_loaded{model=\"b\"} 1\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("hyper_model_loads_total{model=\"b\"} 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("hyper_model_load_failures_total{model=\"b\"} 0\n"), std::string::npos);
  EXPECT_NE(metrics.find(
                "hyper_model_runs_total{model=\"a\"} 0\nhyper_model_runs_total{model=\"b\"} 1\n"),
            std::string::npos);
  AwaitThat([this] {
    return Client().Get("/metrics")->body.find("hyper_model_runs_live{model=\"b\"} 0\n") !=
           std::string::npos;
  });
  EXPECT_EQ(metrics.find("hyper_model_generated_tokens_total{model=\"b\"} 0\n"), std::string::npos);
}

TEST_F(ServerModels, NothingIsLoadedForWhatCannotBeServed) {
  EXPECT_EQ(Post(kChats, Chat("c"), 404)["error"]["code"], "model_not_found");
  EXPECT_EQ(Post(kChats, Chat("a:nothing"), 404)["error"]["code"], "model_not_found");
  Json nameless = Chat("a");
  nameless.erase("model");
  EXPECT_EQ(Post(kChats, nameless, 400)["error"]["param"], "model");
  Json hot = Chat("b:plain");
  hot["temperature"] = "hot";
  EXPECT_EQ(Post(kChats, hot, 400)["error"]["param"], "temperature");
  EXPECT_EQ(Client().Post(kChats, "no json", "application/json")->status, 400);
  Post("/detokenize", {{"model", "b"}, {"tokens", "no"}}, 400);
  EXPECT_EQ(fleet_.events(), "");
}

TEST_F(ServerModels, AStreamWaitsForItsModel) {
  Json body = Chat("b:plain");
  body["stream"] = true;
  const httplib::Result reply = Client().Post(kChats, body.dump(), "application/json");
  EXPECT_EQ(reply->status, 200);
  EXPECT_NE(reply->body.find("\"content\":\"b\""), std::string::npos) << reply->body;
  EXPECT_NE(reply->body.find("[DONE]"), std::string::npos);
}

TEST_F(ServerModels, AFailureIsOneOfTheRequest) {
  fleet_.BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kDataLoss, "b.gguf is cut"});
  });
  const Json error = Post(kChats, Chat("b:plain"), 500)["error"];
  EXPECT_EQ(error["code"], "model_load_failed");
  EXPECT_EQ(error["message"], "model 'b' cannot be loaded: the log of the server has the reason");
  EXPECT_EQ(Ask("a:plain"), "a");
}

TEST_F(ServerModels, TextsGoToTheModelThatIsNamed) {
  EXPECT_EQ(Post("/tokenize", {{"model", "b"}, {"content", "A"}})["tokens"], Json::array({65}));
  EXPECT_EQ(fleet_.events(), "+b");
  EXPECT_EQ(Post("/detokenize", {{"model", "b:sc"}, {"tokens", {65}}})["content"], "A");
  EXPECT_EQ(fleet_.events(), "+b");
  Post("/tokenize", {{"model", "c"}, {"content", "A"}}, 404);
}

TEST_F(ServerModels, OneArchiveHasTheRunsOfAll) {
  Ask("a:plain");
  Ask("b:plain");
  const auto models = [this] {
    std::string text;
    const Json list = Get("/v1/runs");
    for (const Json& run : list["data"]) {
      text += run["model"].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(models(), "b a ");
  End();
  Serve(1);
  EXPECT_EQ(models(), "b a ");
}

TEST_F(ServerModels, ARunIsSteeredOnItsModel) {
  const std::string run = Begin("b:plain");
  Post("/v1/runs/" + run + "/cancel", Json::object());
  AwaitThat([&] { return Get("/v1/runs/" + run)["status"] == "partial"; });
  Ask("a:plain");
  EXPECT_EQ(fleet_.events(), "+b -b +a");
  EXPECT_EQ(Post("/v1/runs/" + run + "/cancel", Json::object(), 404)["error"]["code"],
            "run_not_found");
  EXPECT_EQ(Client().Delete("/v1/runs/" + run)->status, 200);
  EXPECT_EQ(Client().Get("/v1/runs/" + run)->status, 404);
}

TEST_F(ServerModels, TheForkOfAnEndedRunLoadsItsModel) {
  const std::string run = Pool("b");
  Ask("a:plain");
  const Json fork = Fork(run);
  EXPECT_EQ(fleet_.events(), "+b -b +a -a +b");
  EXPECT_EQ(Get("/v1/runs/" + fork["id"].get<std::string>())["model"], "b");
  End();
  EXPECT_EQ(fleet_.events(), "+b -b +a -a +b -b");
}

TEST_F(ServerModels, TheForkOfAnEndedRunTakesNoOtherModelOfItsName) {
  End();
  Serve(1, {"a", "b:sc"});
  const std::string run = Pool("b:sc");
  End();
  Serve(1);
  const Json error = Fork(run, 409)["error"];
  EXPECT_EQ(error["code"], "other_model");
  EXPECT_NE(error["message"].get<std::string>().find("'b:sc', which is not served"),
            std::string::npos)
      << error;
}

TEST_F(ServerModels, TheForkOfARunOfASingleModelFindsItByItsWeights) {
  End();
  ServeOne("b");
  const std::string run = Pool("b");
  End();
  Serve(2);
  EXPECT_EQ(Ask("a:plain"), "a");
  const Json error = Fork(run, 409)["error"];
  EXPECT_EQ(error["code"], "other_model");
  EXPECT_NE(error["message"].get<std::string>().find("model 'fake'"), std::string::npos) << error;
  EXPECT_EQ(Ask("b:plain"), "b");
  const Json fork = Fork(run);
  EXPECT_EQ(Get("/v1/runs/" + fork["id"].get<std::string>())["model"], "b");
}

TEST_F(ServerModels, HealthTellsOfModelsToClientsOnly) {
  End();
  HttpOptions http;
  http.keys = {KeyOf("boss")};
  Serve(1, {"a", "b"}, http);
  EXPECT_EQ(Get("/health"), Json({{"status", "ok"}}));
  const auto health = [this](const std::string& key) {
    const httplib::Headers headers = {{"Authorization", "Bearer " + key}};
    return Json::parse(Client().Get("/health", headers)->body);
  };
  EXPECT_EQ(health("guess"), Json({{"status", "ok"}}));
  EXPECT_EQ(health("boss")["models"]["a"], "unloaded");
}

TEST_F(ServerModels, NothingIsLoadedForAClientWithoutTokens) {
  End();
  HttpOptions http;
  http.keys = {KeyOf("boss"), KeyOf("anns", {.name = "ann", .tokens_per_minute = 1})};
  Serve(1, {"a", "b"}, http);
  const auto post = [this](const std::string& key, const std::string& path, const Json& body) {
    httplib::Client client = Client();
    client.set_bearer_token_auth(key);
    return client.Post(path, body.dump(), "application/json");
  };
  Json pool = Chat("b:sc");
  pool["hyper"] = {{"width", 2}, {"token-records", true}};
  const httplib::Result first = post("anns", kChats, pool);
  ASSERT_EQ(first->status, 200) << first->body;
  EXPECT_EQ(post("boss", kChats, Chat("a:plain"))->status, 200);
  const std::string run = Json::parse(first->body)["hyper"]["run"];
  for (const httplib::Result& reply :
       {post("anns", kChats, Chat("b:plain")),
        post("anns", "/v1/runs/" + run + "/paths/0/fork", {{"at", 1}})}) {
    EXPECT_EQ(reply->status, 429) << reply->body;
    EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "tokens_per_minute");
    EXPECT_TRUE(reply->has_header("Retry-After"));
  }
  EXPECT_EQ(fleet_.events(), "+b -b +a");
  EXPECT_EQ(host_->metrics().runs_refused, 2);
  EXPECT_EQ(post("boss", kChats, Chat("b:plain"))->status, 200);
}

TEST_F(ServerModels, AModelThatMakesRoomIsLoadedStill) {
  const std::string run = Begin("a:plain");
  std::future<std::string> other =
      std::async(std::launch::async, [this] { return Ask("b:plain"); });
  AwaitThat([this] { return StatesOf(*host_) == "unloading unloaded"; });
  EXPECT_NE(Client().Get("/metrics")->body.find("hyper_model_loaded{model=\"a\"} 1\n"),
            std::string::npos);
  Post("/v1/runs/" + run + "/cancel", Json::object());
  EXPECT_EQ(other.get(), "b");
}

}  // namespace
}  // namespace hyper::server
