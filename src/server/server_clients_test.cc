// Several keys with limits, what each of them sees, runs that are deleted, and connections of one
// address, over real HTTP.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace hyper::server {
namespace {

using test::TemporaryFolder;

ServerSetup WithClients(Client ann = {.name = "ann", .all_runs = false}) {
  ServerSetup setup;
  setup.http.keys = {KeyOf("boss"), KeyOf("anns", std::move(ann)),
                     KeyOf("bobs", {.name = "bob", .all_runs = false})};
  return setup;
}

// Requests with one key.
class Caller {
 public:
  Caller(const TestServer& server, const std::string& key) : client_(server.Client()) {
    client_.set_bearer_token_auth(key);
  }

  int Status(const std::string& path) { return client_.Get(path)->status; }
  httplib::Result Post(const std::string& path, const Json& body) {
    return client_.Post(path, body.dump(), "application/json");
  }
  int Delete(const std::string& id) { return client_.Delete("/v1/runs/" + id)->status; }
  // The id of the run that answers.
  std::string Ask(const Json& body) {
    const httplib::Result reply = Post(kChat, body);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return reply->get_header_value("X-Hyper-Run");
  }
  std::set<std::string> Runs() {
    const httplib::Result reply = client_.Get("/v1/runs");
    const Json body = Json::parse(reply->body);
    std::set<std::string> ids;
    for (const Json& run : body["data"]) {
      ids.insert(run["id"].get<std::string>());
    }
    return ids;
  }

 private:
  httplib::Client client_;
};

using Ids = std::set<std::string>;

void ExpectSeesOwnOnly(const TestServer& server, const std::string& anns, const std::string& bobs) {
  EXPECT_EQ(Caller(server, "anns").Runs(), Ids{anns});
  EXPECT_EQ(Caller(server, "bobs").Runs(), Ids{bobs});
  EXPECT_EQ(Caller(server, "boss").Runs(), (Ids{anns, bobs}));
  for (const std::string& path : {"/v1/runs/" + anns, "/v1/runs/" + anns + "/events"}) {
    EXPECT_EQ(Caller(server, "anns").Status(path), 200);
    EXPECT_EQ(Caller(server, "bobs").Status(path), 404);
    EXPECT_EQ(Caller(server, "boss").Status(path), 200);
  }
  EXPECT_EQ(Caller(server, "bobs").Delete(anns), 404);
  EXPECT_EQ(Caller(server, "bobs").Post("/v1/runs/" + anns + "/paths/0/fork", {{"at", 0}})->status,
            404);
  EXPECT_EQ(Caller(server, "bobs").Post("/v1/runs/" + anns + "/cancel", Json::object())->status,
            404);
}

TEST(ServerClients, EachSeesItsOwnRuns) {
  const TemporaryFolder folder;
  std::string anns;
  std::string bobs;
  {
    const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
    ServerSetup setup = WithClients();
    setup.book.archive = archive.get();
    const TestServer server(setup);
    anns = Caller(server, "anns").Ask(Chat("say x"));
    bobs = Caller(server, "bobs").Ask(Chat("say y"));
    ExpectSeesOwnOnly(server, anns, bobs);
  }
  const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
  ServerSetup setup = WithClients();
  setup.book.archive = archive.get();
  const TestServer server(setup);
  ExpectSeesOwnOnly(server, anns, bobs);
}

TEST(ServerClients, OnlyTheOperatorSeesTheWholeServer) {
  const TestServer server(WithClients());
  for (const char* path : {"/metrics", "/v1/studies"}) {
    EXPECT_EQ(Caller(server, "boss").Status(path), 200);
    EXPECT_EQ(Caller(server, "anns").Status(path), 403);
    EXPECT_EQ(Caller(server, "none").Status(path), 401);
  }
  EXPECT_EQ(Caller(server, "anns").Status("/v1/models"), 200);
}

TEST(ServerClients, AKeyBoundsThePathsOfARequest) {
  const TestServer server(WithClients({.name = "ann", .all_runs = false, .width = 4}));
  const auto pool = [](int width) {
    Json body = Chat("say \\boxed{1}", "m:sc");
    if (width > 0) {
      body["hyper"] = {{"width", width}};
    }
    return body;
  };
  const Json texts = {{"model", "m:plain"}, {"prompt", {"say x\n", "say y\n"}}, {"n", 3}};
  Caller ann(server, "anns");
  const httplib::Result wide = ann.Post(kChat, pool(5));
  EXPECT_EQ(wide->status, 400);
  EXPECT_EQ(Json::parse(wide->body)["error"]["param"], "hyper.width");
  EXPECT_EQ(ann.Post(kChat, With(Chat("say x"), "n", 5))->status, 400);
  EXPECT_EQ(ann.Post("/v1/completions", texts)->status, 400);
  EXPECT_EQ(ann.Post("/v1/completions", With(texts, "n", 2))->status, 200);
  EXPECT_EQ(ann.Post(kChat, pool(4))->status, 200);
  // Who asks for no width gets what the key allows.
  const httplib::Result own = ann.Post(kChat, pool(0));
  ASSERT_EQ(own->status, 200) << own->body;
  const Json run = Json::parse(
      server.scheduler_log(own->get_header_value("X-Hyper-Run"))->Read(0, 1, {}).lines.front());
  EXPECT_EQ(run["options"]["width"], 4);
  EXPECT_EQ(Caller(server, "bobs").Post(kChat, pool(5))->status, 200);
}

TEST(ServerClients, AKeyBoundsTheTokensOfAMinute) {
  ServerSetup setup =
      WithClients({.name = "ann", .all_runs = false, .width = 0, .tokens_per_minute = 60});
  setup.logits = Babble;
  const TestServer server(setup);
  Caller ann(server, "anns");
  const Json body = With(Chat("x"), "max_tokens", 100);
  EXPECT_EQ(ann.Post(kChat, body)->status, 200);
  const httplib::Result refused = ann.Post(kChat, body);
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(Json::parse(refused->body)["error"]["code"], "tokens_per_minute");
  // 100 tokens and those of the prompt, of which 60 were there and one comes back each second.
  const int wait_s = std::stoi(refused->get_header_value("Retry-After"));
  EXPECT_GT(wait_s, 30);
  EXPECT_LE(wait_s, 100 + 10 - 60 + 1);
  EXPECT_EQ(Caller(server, "bobs").Post(kChat, body)->status, 200);
}

TEST(ServerClients, RunsThatEndedAreDeleted) {
  const TemporaryFolder folder;
  std::string kept;
  std::string gone;
  {
    const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
    ServerSetup setup;
    setup.book.archive = archive.get();
    const TestServer server(setup);
    Caller caller(server, "");
    gone = caller.Ask(Chat("say x"));
    kept = caller.Ask(Chat("say y"));
    EXPECT_EQ(caller.Delete(gone), 200);
    EXPECT_EQ(caller.Runs(), Ids{kept});
    EXPECT_EQ(caller.Status("/v1/runs/" + gone), 404);
    EXPECT_EQ(caller.Delete(gone), 404);
    EXPECT_EQ(caller.Delete("item_1"), 404);
  }
  const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
  ServerSetup setup;
  setup.book.archive = archive.get();
  const TestServer server(setup);
  Caller caller(server, "");
  EXPECT_EQ(caller.Runs(), Ids{kept});
  EXPECT_EQ(caller.Delete(kept), 200);  // which is in the store only
  EXPECT_EQ(caller.Runs(), Ids{});
}

TEST(ServerClients, ARunThatRunsIsNotDeleted) {
  TestServer server(Endless());
  auto reply = std::make_shared<ReplyQueue>(size_t{1} << 22U);
  const std::string id = server.scheduler().Submit({EndlessPool()}, reply).id;
  Caller caller(server, "");
  EXPECT_EQ(caller.Delete(id), 409);
  EXPECT_EQ(caller.Runs(), Ids{id});
  reply->Abandon();
  server.Settled();
  EXPECT_EQ(caller.Delete(id), 200);
  EXPECT_EQ(caller.Runs(), Ids{});
}

TEST(ServerClients, TheListSaysWhatARunWas) {
  const TestServer server({});
  Json body = Chat("say \\boxed{1}", "m:sc");
  body["seed"] = 5;
  body["hyper"] = {{"width", 3}};
  server.Good(kChat, body);
  const Json run = Json::parse(server.Client().Get("/v1/runs")->body)["data"][0];
  EXPECT_EQ(run["width"], 3);
  EXPECT_EQ(run["seed"], 5);
  EXPECT_GE(run["seconds"].get<double>(), 0);
  EXPECT_TRUE(run["client"].is_null());
}

TEST(ServerClients, AnAddressHasSoManyConnections) {
  ServerSetup setup;
  setup.http.most_per_address = 2;
  const TestServer server(setup);
  std::vector<std::unique_ptr<httplib::Client>> clients;
  const auto ask = [&server, &clients] {
    auto client = std::make_unique<httplib::Client>(server.Client());
    client->set_keep_alive(true);
    const httplib::Result reply = client->Get("/health");
    clients.push_back(std::move(client));
    return reply ? std::pair(reply->status, reply->get_header_value("Retry-After"))
                 : std::pair(0, std::string());
  };
  EXPECT_EQ(ask().first, 200);
  EXPECT_EQ(ask().first, 200);
  EXPECT_EQ(ask(), std::pair(429, std::string("5")));
  clients.clear();
  int status = 429;
  for (int i = 0; i < 1000 && status == 429; ++i) {  // until the server has seen them go
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    status = ask().first;
    clients.clear();
  }
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace hyper::server
