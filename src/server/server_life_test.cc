// The life of a server: streams that wait, the end of the server, runs that it cuts short.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace hyper::server {
namespace {

// Babbles `length` letters, then ends.
ServerSetup Babbling(int length) {
  ServerSetup setup;
  setup.context = 1 << 20;
  setup.logits = [length](const FakeStep& step, std::span<float> logits) {
    const bool end = static_cast<int>(step.history.size()) >= step.prompt_tokens + length;
    logits[end ? 0 : 'x'] = 20.0F;
  };
  return setup;
}

// On a busy machine the run may have ended before this thread gets to look.
void WaitUntilRunning(TestServer& server) {
  SchedulerMetrics metrics;
  while (metrics.running + metrics.runs_finished == 0) {
    std::this_thread::yield();
    metrics = server.scheduler().metrics();
  }
}

TEST(ServerLife, AWaitingStreamIsNotSilent) {
  ServerSetup setup = Babbling(1 << 19);
  setup.lanes = 1;
  setup.http.heartbeat_s = 0.02;
  TestServer server(setup);
  auto first = std::make_shared<ReplyQueue>(size_t{1} << 22U);
  ServedRun request;
  request.messages = {{"user", "x"}};
  request.plan.options.max_tokens = 1 << 19;
  EXPECT_FALSE(server.scheduler().Submit({request}, first).error);
  WaitUntilRunning(server);
  std::string seen;
  httplib::Client client = server.Client();
  const Json body = With(Chat("say x"), "stream", true);
  (void)client.Post(kChat, httplib::Headers(), body.dump(), "application/json",
                    [&seen](const char* data, size_t size) {
                      seen.append(data, size);
                      return seen.find("\n\n: heartbeat\n\n: heartbeat\n\n") == std::string::npos;
                    });
  EXPECT_NE(seen.find("\n\n: heartbeat\n\n: heartbeat\n\n"), std::string::npos);
  EXPECT_EQ(seen.find("data: : heartbeat"), std::string::npos);
  client.stop();
  for (int i = 0; i < 1000 * test::Patience() && server.scheduler().metrics().waiting > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(server.scheduler().metrics().runs_cancelled, 1);  // it never started
  first->Abandon();
  EXPECT_EQ(server.Settled().runs_cancelled, 2);
}

TEST(ServerLife, FinishesWhatRunsWithinTheGrace) {
  TestServer server(Babbling(2000));
  auto reply = std::async(std::launch::async, [&server] {
    return server.Good(kChat, With(Chat("x"), "max_tokens", 4000));
  });
  WaitUntilRunning(server);
  EXPECT_EQ(server.Client().Get("/ready")->status, 200);
  server.scheduler().Shutdown(/*grace_s=*/60);
  const httplib::Result ready = server.Client().Get("/ready");
  EXPECT_EQ(ready->status, 503);
  EXPECT_EQ(ready->body, R"({"status":"draining"})");
  EXPECT_EQ(server.Client().Get("/live")->status, 200);
  const Json whole = reply.get();
  EXPECT_EQ(Content(whole).size(), 2000U);
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(whole["hyper"]["partial"], false);
  const httplib::Result late = server.Post(kChat, Chat("say x"));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, 503);
  EXPECT_FALSE(late->get_header_value("Retry-After").empty());
}

TEST(ServerLife, EndsWhatOutlastsTheGraceWhole) {
  const test::TemporaryFolder folder;
  ArchiveOptions options;
  options.path = folder.File("runs.db");
  const std::unique_ptr<RunArchive> archive = std::move(*RunArchive::Open(options));
  ServerSetup setup = Babbling(1 << 19);
  setup.book.archive = archive.get();
  TestServer server(setup);
  Json body = With(Chat("x"), "max_tokens", 32768);
  auto whole = std::async(std::launch::async, [&] { return server.Good(kChat, body); });
  auto stream = std::async(std::launch::async, [&] { return server.Stream(kChat, body); });
  while (server.scheduler().metrics().running < 2) {
    std::this_thread::yield();
  }
  server.scheduler().Shutdown(/*grace_s=*/0);
  const Json reply = whole.get();
  EXPECT_EQ(reply["hyper"]["partial"], true);
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  const std::vector<Json> events = stream.get();  // checks that [DONE] is the last
  EXPECT_EQ(events.back()["choices"][0]["finish_reason"], "length");
  archive->Flush();
  const std::vector<RunOverview> stored = *archive->Newest(10);
  ASSERT_EQ(stored.size(), 2U);
  for (const RunOverview& run : stored) {
    EXPECT_EQ(run.status, "partial");
    EXPECT_TRUE(archive->Records(run.id).has_value());
  }
}

// Each connection has a thread at once, whatever the others do: none waits behind their streams.
TEST(ServerLife, ConnectionsThatComeTogetherAreServedTogether) {
  constexpr int kClients = 48;
  ServerSetup setup = Babbling(1 << 19);
  setup.http.most_connections = kClients;
  TestServer server(setup);
  const Json body = With(Chat("x"), "max_tokens", 32768);
  std::vector<std::future<bool>> clients;
  clients.reserve(kClients);
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(
        std::async(std::launch::async, [&] { return bool(server.Post(kChat, body)); }));
  }
  const auto taken = [&server] {
    const SchedulerMetrics metrics = server.scheduler().metrics();
    return metrics.running + metrics.waiting;
  };
  for (int i = 0; i < 1000 * test::Patience() && taken() < kClients; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(taken(), kClients);
  server.scheduler().Shutdown(/*grace_s=*/0);
  for (std::future<bool>& client : clients) {
    EXPECT_TRUE(client.get());
  }
}

// Two pools whose paths need all cells: one is parked while the other ends, and no path is lost;
// with a part each, they prune within it.
TEST(ServerLife, PoolsShareTheCells) {
  for (const int pools : {1, 2}) {
    ServerSetup setup;
    setup.logits = Babble;
    setup.context = 1 << 20;
    setup.cells = 4100;
    setup.scheduler.pools = pools;
    TestServer server(setup);
    ServedRun request;
    request.method = "sc";
    request.messages = {{"user", "x"}};
    request.plan.options = Preset("short").value_or({});
    request.plan.options.width = 4;
    request.plan.options.max_tokens = 1000;
    auto reply = std::make_shared<ReplyQueue>(size_t{1} << 22U);
    EXPECT_FALSE(server.scheduler().Submit({request, request}, reply).error);
    int most = 0;
    while (server.scheduler().metrics().runs_finished < 2) {
      most = std::max(most, server.scheduler().metrics().running);
      std::this_thread::yield();
    }
    EXPECT_EQ(most, 2);
    const bool parked = server.scheduler().metrics().parkings > 0;
    EXPECT_EQ(parked, pools == 1);
    for (const RunOverview& run : server.scheduler().book().Runs()) {
      EXPECT_EQ(run.tokens == 4 * 1000, pools == 1) << run.tokens;
    }
  }
}

}  // namespace
}  // namespace hyper::server
