// Runs that outlive the server: stored, listed after a restart, replayed, pruned.
#include "src/server/archive/run_archive.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace hyper::server {
namespace {

using test::TemporaryFolder;

std::unique_ptr<RunArchive> OpenArchive(const std::string& path, int64_t most_runs = 100) {
  ArchiveOptions options;
  options.path = path;
  options.engine = "fake";
  options.version = "1";
  options.most_runs = most_runs;
  Result<std::unique_ptr<RunArchive>> archive = RunArchive::Open(options);
  EXPECT_TRUE(archive.has_value()) << archive.error().message;
  return std::move(*archive);
}

ServerSetup StoringIn(RunArchive& archive) {
  ServerSetup setup;
  setup.scheduler.archive = &archive;
  return setup;
}

Json Get(const TestServer& server, const std::string& path) {
  const httplib::Result reply = server.Client().Get(path);
  EXPECT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body;
  return Json::parse(reply->body);
}

// The records of a stream of events, token records left out where `tokens` is false.
std::vector<Json> Events(const TestServer& server, const std::string& id, bool tokens) {
  std::vector<Json> records;
  const std::string body = server.Client().Get("/v1/runs/" + id + "/events")->body;
  for (size_t at = 0; (at = body.find("data: ", at)) != std::string::npos;) {
    const size_t end = body.find('\n', at);
    Json record = Json::parse(body.substr(at + 6, end - at - 6));
    if (tokens || record["record"] != "token") {
      records.push_back(std::move(record));
    }
    at = end;
  }
  return records;
}

Json PoolRequest() {
  Json body = Chat("say so it is \\boxed{42}", "m:hyper");
  body["seed"] = 5;
  body["hyper"] = {{"width", 4}, {"token-records", true}};
  return body;
}

TEST(RunArchive, ListsRunsAfterARestart) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  Json before;
  {
    const std::unique_ptr<RunArchive> archive = OpenArchive(path);
    const TestServer server(StoringIn(*archive));
    server.Good(kChat, PoolRequest());
    server.Good(kChat, Chat("say plain"));
    server.Settled();
    archive->Flush();
    before = Get(server, "/v1/runs")["data"];
    EXPECT_EQ(archive->lost(), 0);
    EXPECT_EQ(before.size(), 2U);  // once each, though in memory and stored
  }
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  Json after = Get(server, "/v1/runs")["data"];
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1]["id"], "run_1");
  EXPECT_EQ(after[1]["answer"], "42");
  EXPECT_EQ(after[1]["question"], "say so it is \\boxed{42}");
  for (size_t i = 0; i < 2; ++i) {
    for (const char* name : {"id", "status", "method", "question", "tokens", "paths"}) {
      EXPECT_EQ(after[i][name], before[i][name]) << name;
    }
  }
  EXPECT_EQ(Get(server, "/v1/runs?limit=1")["data"].size(), 1U);
  EXPECT_EQ(server.Client().Get("/v1/runs?limit=none")->status, 400);
  // New runs go on counting.
  server.Good(kChat, Chat("say again"));
  EXPECT_EQ(Get(server, "/v1/runs")["data"][0]["id"], "run_3");
}

TEST(RunArchive, ReplaysAStoredRun) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  std::vector<Json> live;
  {
    const std::unique_ptr<RunArchive> archive = OpenArchive(path);
    const TestServer server(StoringIn(*archive));
    server.Good(kChat, PoolRequest());
    server.Settled();
    live = Events(server, "run_1", /*tokens=*/true);
  }
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  const std::vector<Json> stored = Events(server, "run_1", /*tokens=*/true);
  ASSERT_EQ(stored.size(), live.size());
  EXPECT_EQ(stored.front()["record"], "run");
  EXPECT_EQ(stored.front()["question"], live.front()["question"]);
  EXPECT_EQ(stored.back()["votes"], live.back()["votes"]);
  EXPECT_EQ(stored.back()["ledger"], live.back()["ledger"]);
  // The same records, whatever their order: each as one line.
  std::multiset<std::string> was;
  std::multiset<std::string> is;
  for (size_t i = 1; i + 1 < live.size(); ++i) {
    if (live[i].value("token", 1) == FakeEngine::kEnd) {
      live[i]["text"] = "";  // the end is no part of a stored text
    }
    was.insert(live[i].dump());
    is.insert(stored[i].dump());
  }
  EXPECT_EQ(is, was);
  const Json run = Get(server, "/v1/runs/run_1");
  EXPECT_EQ(run["answer"], "42");
  EXPECT_EQ(run["records"].back()["record"], "result");
  EXPECT_EQ(server.Client().Get("/v1/runs/run_9")->status, 404);
  EXPECT_EQ(server.Client().Get("/v1/runs/run_9/events")->status, 404);
}

TEST(RunArchive, KeepsTheNewestOnly) {
  const TemporaryFolder folder;
  const std::unique_ptr<RunArchive> archive = OpenArchive(folder.File("runs.db"), 2);
  ServerSetup setup = StoringIn(*archive);
  setup.scheduler.most_kept = 0;
  const TestServer server(setup);
  for (const char* text : {"say one", "say two", "say three"}) {
    server.Good(kChat, Chat(text));
  }
  server.Settled();
  archive->Flush();
  const std::vector<RunOverview> stored = *archive->Newest(10);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].id, "run_3");
  EXPECT_EQ(stored[1].id, "run_2");
}

TEST(RunArchive, RefusesAFileThatIsNoStudy) {
  const TemporaryFolder folder;
  ArchiveOptions options;
  options.path = folder.File("none") + "/deeper/runs.db";
  EXPECT_FALSE(RunArchive::Open(options).has_value());
}

TEST(RunArchive, ShowsTheEvaluationsOfTheSameFile) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  {
    Store store = std::move(*Store::Open(path, DatabaseMode::kCreate));
    StoredRun run;
    run.label = "SC";
    run.method = "sc";
    run.suite = "tinymath";
    const int64_t row = *store.AddRun(run);
    for (const char* gold : {"42", "41"}) {
      StoredQuestion question;
      question.suite = "tinymath";
      question.name = gold;
      question.text = "6 * 7 = ?";
      question.gold = gold;
      question.kind = "integer";
      StoredItem item;
      item.key = {row, *store.AddQuestion(question), 0};
      item.answer = "42";
      item.ledger.generated = 30;
      ASSERT_TRUE(*store.SaveItem(item));
      const StoredVerdict verdict =
          item.answer == gold ? StoredVerdict::kRight : StoredVerdict::kWrong;
      ASSERT_TRUE(store.SaveGrade({item.key, verdict, gold, "rules", ""}));
    }
  }
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  server.Good(kChat, Chat("say x"));
  server.Settled();
  archive->Flush();
  const Json studies = Get(server, "/v1/studies")["data"];
  ASSERT_EQ(studies.size(), 1U);  // the server's own run is none
  EXPECT_EQ(studies[0]["row"], "SC");
  EXPECT_EQ(studies[0]["accuracy"], 0.5);
  EXPECT_EQ(studies[0]["generated_tokens"], 30);
  // Its answers are runs, too, though without a text by tokens.
  EXPECT_EQ(Get(server, "/v1/runs/item_1")["answer"], "42");
}

}  // namespace
}  // namespace hyper::server
