// Runs that outlive the server: stored, listed after a restart, replayed, pruned.
#include "src/server/archive/run_archive.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/eval/figures/figure_list.h"
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
  setup.book.archive = &archive;
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

std::string RunOf(const Json& reply) { return reply["hyper"]["run"]; }

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
  std::string first;
  {
    const std::unique_ptr<RunArchive> archive = OpenArchive(path);
    const TestServer server(StoringIn(*archive));
    first = RunOf(server.Good(kChat, PoolRequest()));
    server.Good(kChat, Chat("say plain"));
    before = Get(server, "/v1/runs")["data"];
    EXPECT_EQ(archive->lost(), 0);
    EXPECT_EQ(before.size(), 2U);  // once each, though in memory and stored
  }
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  Json after = Get(server, "/v1/runs")["data"];
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1]["id"], first);
  EXPECT_EQ(after[1]["answer"], "42");
  EXPECT_EQ(after[1]["question"], "say so it is \\boxed{42}");
  for (size_t i = 0; i < 2; ++i) {
    for (const char* name : {"id", "status", "method", "question", "tokens", "paths"}) {
      EXPECT_EQ(after[i][name], before[i][name]) << name;
    }
  }
  EXPECT_EQ(Get(server, "/v1/runs?limit=1")["data"].size(), 1U);
  EXPECT_EQ(server.Client().Get("/v1/runs?limit=none")->status, 400);
  const std::string next = RunOf(server.Good(kChat, Chat("say again")));
  EXPECT_EQ(Get(server, "/v1/runs")["data"][0]["id"], next);
  EXPECT_NE(next, first);
}

TEST(RunArchive, ReplaysAStoredRun) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  std::vector<Json> live;
  std::string id;
  {
    const std::unique_ptr<RunArchive> archive = OpenArchive(path);
    const TestServer server(StoringIn(*archive));
    id = RunOf(server.Good(kChat, PoolRequest()));
    live = Events(server, id, /*tokens=*/true);
  }
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  const std::vector<Json> stored = Events(server, id, /*tokens=*/true);
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
  const Json run = Get(server, "/v1/runs/" + id);
  EXPECT_EQ(run["answer"], "42");
  EXPECT_EQ(run["records"].back()["record"], "result");
  EXPECT_EQ(server.Client().Get("/v1/runs/run_9")->status, 404);
  EXPECT_EQ(server.Client().Get("/v1/runs/run_9/events")->status, 404);
}

// What another program finds in the file.
std::vector<ListedItem> StoredIn(const std::string& path) {
  return *Store::Open(path, DatabaseMode::kReadOnly)->Newest(100);
}

// A reply that has come to its end is stored: a program that is killed after it loses nothing.
TEST(RunArchive, ARunIsStoredBeforeItsReplyEnds) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  const TestServer server(StoringIn(*archive));
  std::set<std::string> ids;
  for (size_t i = 1; i <= 20; ++i) {
    const std::string id = RunOf(server.Good(kChat, i % 2 == 0 ? Chat("say x") : PoolRequest()));
    ids.insert(id);
    const std::vector<ListedItem> stored = StoredIn(path);
    ASSERT_EQ(stored.size(), i);
    EXPECT_EQ(stored.front().name, id);
    EXPECT_EQ(stored.front().status, ItemStatus::kDone);
  }
  EXPECT_EQ(ids.size(), 20U);
  // A stream's id is known from its head on.
  size_t seen = 0;
  (void)server.Client().Post(kChat, httplib::Headers(), With(Chat("say x"), "stream", true).dump(),
                             "application/json", [&](const char* /*data*/, size_t /*size*/) {
                               seen = StoredIn(path).size();
                               return true;
                             });
  EXPECT_EQ(seen, 21U);
}

// One that runs and one that waits for it.
TEST(RunArchive, ARunThatHasNotEndedIsInterrupted) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  const std::string copy = folder.File("copy.db");
  const std::unique_ptr<RunArchive> archive = OpenArchive(path);
  std::set<std::string> ids;
  {
    ServerSetup setup = StoringIn(*archive);
    setup.logits = Babble;
    setup.lanes = 1;
    setup.context = 1 << 20;
    const TestServer server(setup);
    const Json body = With(Chat("for ever"), "max_tokens", 32768);
    const auto ask = [&] { return RunOf(server.Good(kChat, body)); };
    auto first = std::async(std::launch::async, ask);
    auto second = std::async(std::launch::async, ask);
    while (StoredIn(path).size() < 2) {
      std::this_thread::yield();
    }
    for (const ListedItem& begun : StoredIn(path)) {
      EXPECT_EQ(begun.text, "for ever");
      EXPECT_EQ(begun.reason, kInterrupted);
      ids.insert(begun.name);
    }
    std::set<std::string> states;
    const Json runs = Get(server, "/v1/runs");
    for (const Json& run : runs["data"]) {
      states.insert(run["status"]);
    }
    EXPECT_EQ(states.count("interrupted"), 0U) << "of a program that lives";
    // As the program would leave it if it died now.
    const Store snapshot = std::move(*Store::Open(path, DatabaseMode::kReadOnly));
    for (const char* part : {"", "-wal"}) {
      if (std::filesystem::exists(path + part)) {
        std::filesystem::copy_file(path + part, copy + part);
      }
    }
    for (const std::string& id : ids) {
      ASSERT_TRUE(server.Post("/v1/runs/" + id + "/cancel", Json::object()));
    }
    EXPECT_EQ((std::set<std::string>{first.get(), second.get()}), ids);
  }
  Store ended = std::move(*Store::Open(path, DatabaseMode::kReadOnly));
  ASSERT_EQ(ended.Newest(100)->size(), 2U);
  for (const ListedItem& item : *ended.Newest(100)) {
    EXPECT_EQ(item.status, ItemStatus::kPartial);
    EXPECT_EQ(ended.Items(item.key.run)->front().lost.attempts, 0)
        << "the beginning was no attempt";
  }
  const std::unique_ptr<RunArchive> after = OpenArchive(copy);
  const TestServer server(StoringIn(*after));
  for (const std::string& id : ids) {
    const Json run = Get(server, "/v1/runs/" + id);
    EXPECT_EQ(run["status"], "interrupted");
    EXPECT_EQ(run["question"], "for ever");
    EXPECT_EQ(run["records"][0]["record"], "run");
  }
  EXPECT_EQ(ids.count(RunOf(server.Good(kChat, Chat("say x")))), 0U);
}

// Files of this program cannot grow beyond `bytes` while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(RunArchive, WhatCannotBeWrittenIsCountedAndToldAndLeavesNoHalf) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  std::vector<std::string> told;
  ArchiveOptions options;
  options.path = path;
  options.on_failure = [&told](const std::string& reason) { told.push_back(reason); };
  const std::unique_ptr<RunArchive> archive = std::move(*RunArchive::Open(options));
  const TestServer server(StoringIn(*archive));
  server.Good(kChat, PoolRequest());
  EXPECT_EQ(Get(server, "/health"), Json({{"status", "ok"}}));
  {
    const FileLimit full(1000);
    server.Good(kChat, PoolRequest());
    server.Good(kChat, Chat("say x"));
    EXPECT_EQ(archive->lost(), 2);
    const Json health = Get(server, "/health");
    EXPECT_EQ(health["status"], "degraded");
    EXPECT_EQ(health["runs_lost"], 2);
    EXPECT_EQ(health.dump().find(path), std::string::npos) << "it is open to all";
    EXPECT_NE(archive->failing(), "");
    EXPECT_EQ(archive->failing().find("FOREIGN KEY"), std::string::npos) << archive->failing();
    EXPECT_EQ(told.size(), 1U);
  }
  server.Good(kChat, Chat("say y"));
  EXPECT_EQ(Get(server, "/health"), Json({{"status", "ok"}}));
  Store store = std::move(*Store::Open(path, DatabaseMode::kReadOnly));
  EXPECT_EQ(store.Newest(100)->size(), 2U);
  EXPECT_EQ(store.Questions()->size(), 2U);
  EXPECT_EQ(store.Runs()->size(), 2U);
  EXPECT_EQ(archive->lost(), 2);
}

// A run as the scheduler gives it to the archive.
ArchivedRun Ended(const std::string& id) {
  ArchivedRun run;
  run.run.method = "sc";
  run.question.name = id;
  run.question.kind = "integer";
  return run;
}

// While the archive's thread writes or reports one, others come.
class HeldArchive {
 public:
  explicit HeldArchive(const std::string& path) : archive_(OpenArchive(path)) {
    std::promise<void> held;
    archive_->Save(Ended("run_first"), [&held, go = go_.get_future().share()] {
      held.set_value();
      go.wait();
    });
    held.get_future().wait();
  }
  RunArchive& operator*() { return *archive_; }
  void GoOn() {
    go_.set_value();
    archive_->Flush();
  }

 private:
  std::promise<void> go_;
  std::unique_ptr<RunArchive> archive_;
};

// So requests at the same time cost one commit, not one each.
TEST(RunArchive, WhatWaitsIsWrittenTogether) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  HeldArchive held(path);
  std::vector<size_t> stored;
  for (const char* id : {"run_a", "run_b", "run_c"}) {
    (*held).Save(Ended(id), [&] { stored.push_back(StoredIn(path).size()); });
  }
  EXPECT_EQ(StoredIn(path).size(), 1U);
  held.GoOn();
  EXPECT_EQ(stored, (std::vector<size_t>{4, 4, 4}));
}

TEST(RunArchive, WhatCannotBeWrittenTakesNothingElseWithIt) {
  const TemporaryFolder folder;
  const std::string path = folder.File("runs.db");
  HeldArchive held(path);
  ArchivedRun bad = Ended("run_bad");
  bad.item.paths.resize(2);  // of one number
  ArchivedRun begun = bad;
  begun.item.reason = kInterrupted;
  int told = 0;
  for (const ArchivedRun& run : {Ended("run_a"), bad, begun, Ended("run_b")}) {
    (*held).Save(run, [&told] { ++told; });
  }
  held.GoOn();
  std::set<std::string> names;
  for (const ListedItem& item : StoredIn(path)) {
    names.insert(item.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"run_a", "run_b", "run_first"}));
  EXPECT_EQ((*held).lost(), 1) << "one that begins may still be stored as it ends";
  EXPECT_NE((*held).last_error(), "");
  EXPECT_EQ((*held).failing(), "") << "the last one was written";
  EXPECT_EQ(told, 4);
}

TEST(RunArchive, KeepsTheNewestOnly) {
  const TemporaryFolder folder;
  const std::unique_ptr<RunArchive> archive = OpenArchive(folder.File("runs.db"), 2);
  ServerSetup setup = StoringIn(*archive);
  setup.book.most_kept = 0;
  const TestServer server(setup);
  std::vector<std::string> ids;
  for (const char* text : {"say one", "say two", "say three"}) {
    ids.push_back(RunOf(server.Good(kChat, Chat(text))));
  }
  archive->Flush();
  const std::vector<RunOverview> stored = *archive->Newest(10);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].id, ids[2]);
  EXPECT_EQ(stored[1].id, ids[1]);
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
      ASSERT_TRUE(store.SaveGrade({item.key, verdict, gold, "rules 1", ""}));
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
  std::map<std::string, Json> figures;
  const Json listed = Get(server, "/v1/studies/figures")["data"];
  for (const Json& figure : listed) {
    figures[figure["name"]] = figure;
  }
  ASSERT_EQ(figures.size(), eval::FigureSpecs().size());
  EXPECT_NE(figures["actions"]["missing"].get<std::string>(), "");
  ASSERT_EQ(figures["tokens"]["panels"].size(), 1U);
  const std::string csv = figures["tokens"]["csv"];
  EXPECT_NE(csv.find("SC"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("serve"), std::string::npos) << "the server's own run is none";
  // Its answers are runs, too, though without a text by tokens.
  EXPECT_EQ(Get(server, "/v1/runs/item_1")["answer"], "42");
}

}  // namespace
}  // namespace hyper::server
