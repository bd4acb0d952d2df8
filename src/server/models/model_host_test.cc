#include "src/server/models/model_host.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/test_host.h"

namespace hyper::server {
namespace {

TEST(ModelHost, LoadsAtTheFirstRequest) {
  TestHost host(AtOnce(3));
  EXPECT_EQ(StatesOf(*host), "unloaded unloaded unloaded");
  EXPECT_FALSE(host->IfLoaded(1).has_value());
  EXPECT_EQ(host->Known(1).model_name, "b");
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(StatesOf(*host), "unloaded loaded unloaded");
  EXPECT_EQ(host.fleet().events(), "+b");
  const ModelLease lease = host.Lease(1);
  EXPECT_EQ(lease.limits().plain_names, std::vector<std::string>{"b's"});
  EXPECT_EQ(lease.limits().most_lanes, 16);  // the engine's, less those for plain decoding
  EXPECT_EQ(lease.limits().model.vocab_size, FakeEngine::kVocabulary);
  EXPECT_EQ(lease.label(), "b");
  EXPECT_EQ(host->Statuses()[1].loads, 1);
}

TEST(ModelHost, FindsAModelWithAndWithoutMethod) {
  TestHost host(AtOnce(1), {"a", "b:1", "b"});
  EXPECT_EQ(host->Find("a"), 0U);
  EXPECT_EQ(host->Find("a:sc"), 0U);
  EXPECT_FALSE(host->Find("").has_value());
  EXPECT_EQ(host->Find("b:1"), 1U);
  EXPECT_EQ(host->Find("b:1:sc"), 1U);
  EXPECT_EQ(host->Find("b:sc"), 2U);
  EXPECT_EQ(host->Find("b's"), 2U);
  EXPECT_FALSE(host->Find("b's:sc").has_value());
  EXPECT_FALSE(host->Find("c").has_value());
  EXPECT_FALSE(host->Find("c:sc").has_value());
  EXPECT_EQ(host->Named("b:1"), 1U);
  EXPECT_EQ(host->Named("b"), 2U);
  EXPECT_FALSE(host->Named("b:sc").has_value());
  EXPECT_FALSE(host->Named("b's").has_value());
}

TEST(ModelHost, KnowsTheWeightsOfWhatWasLoaded) {
  TestHost host(AtOnce(1));
  EXPECT_FALSE(host->OfHash("hash of b").has_value());
  EXPECT_FALSE(host->OfHash("").has_value());
  host.Use(1);
  host.Use(0);
  EXPECT_EQ(host->OfHash("hash of b"), 1U);
  EXPECT_EQ(host->OfHash("hash of a"), 0U);
  EXPECT_FALSE(host->OfHash("").has_value());
}

TEST(ModelHost, OfBusyModelsTheOneThatWasAskedLeastRecentlyMakesRoom) {
  TestHost host(AtOnce(2));
  host.Begin(0);
  host.Begin(1);
  const auto draining = [&host] { return StatesOf(*host) == "unloading loaded unloaded"; };
  EXPECT_EQ(host.Refusal(2, draining).status, 499);
  AwaitThat([&] { return StatesOf(*host) == "loaded loaded unloaded"; });
  EXPECT_EQ(host.Ask(0), "a");
  EXPECT_EQ(host.Refusal(2, [&] { return StatesOf(*host) == "loaded unloading unloaded"; }).status,
            499);
}

TEST(ModelHost, TheLeastRecentlyUsedMakesRoom) {
  TestHost host(AtOnce(2));
  host.Use(0);
  host.Use(1);
  host.Use(0);
  host.Use(2);
  EXPECT_EQ(host.fleet().events(), "+a +b -b +c");
  EXPECT_EQ(StatesOf(*host), "loaded unloaded loaded");
  host.Use(1);
  EXPECT_EQ(host.fleet().events(), "+a +b -b +c -a +b");
}

TEST(ModelHost, ARunKeepsItsModelUntilItEnds) {
  TestHost host(AtOnce(1));
  const std::string run = host.Begin(0);
  auto other = std::async(std::launch::async, [&] { return host.Ask(1); });
  AwaitThat([&] { return StatesOf(*host) == "unloading unloaded unloaded"; });
  EXPECT_EQ(host->Statuses()[0].live, 1);
  EXPECT_TRUE(host->Statuses()[0].loaded);
  auto again = std::async(std::launch::async, [&] { return host.Ask(0); });  // takes its turn
  host.Grow(run);
  EXPECT_EQ(host.fleet().events(), "+a");
  host.Cancel(0, run);
  EXPECT_EQ(other.get(), "b");
  EXPECT_EQ(again.get(), "a");
  EXPECT_EQ(host.book().Find(run)->status, "partial");
  EXPECT_EQ(host.fleet().events(), "+a -a +b -b +a");
}

TEST(ModelHost, ABusyModelStaysWhenNobodyWaitsForItsPlace) {
  TestHost host(AtOnce(1));
  const std::string run = host.Begin(0);
  EXPECT_EQ(host.Refusal(1, [&] { return StatesOf(*host) != "loaded unloaded unloaded"; }).status,
            499);
  AwaitThat([&] { return StatesOf(*host) == "loaded unloaded unloaded"; });
  EXPECT_EQ(host.Ask(0), "a");
  host.Grow(run);
  EXPECT_EQ(host.fleet().events(), "+a");
}

TEST(ModelHost, UnloadsWhatNobodyUses) {
  TestHost host(AtOnce(2, /*idle_s=*/0.001));
  const std::string run = host.Begin(0);
  // The models are looked at in their order: the first one was looked at too.
  EXPECT_EQ(host.Ask(1), "b");
  AwaitThat([&] { return host.fleet().events() == "+a +b -b"; });
  host.Grow(run);
  host.Cancel(0, run);
  AwaitThat([&] { return host.fleet().events() == "+a +b -b -a"; });
  EXPECT_EQ(StatesOf(*host), "unloaded unloaded unloaded");
  EXPECT_EQ(host.Ask(0), "a");
}

TEST(ModelHost, CountsGoOnWhenAModelIsUnloaded) {
  TestHost host(AtOnce(1));
  EXPECT_EQ(host.Ask(0), "a");
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host.Ask(0), "a");
  AwaitThat([&] { return host->metrics().runs_finished == 3; });
  const int64_t tokens = host->metrics().generated_tokens;
  EXPECT_GE(tokens, 3);
  EXPECT_EQ(tokens % 3, 0);  // of each run the same
  host.Use(2);
  const SchedulerMetrics metrics = host->metrics();
  EXPECT_EQ(metrics.runs_started, 3);
  EXPECT_EQ(metrics.runs_finished, 3);
  EXPECT_EQ(metrics.generated_tokens, tokens);
  EXPECT_GE(metrics.cost.forwards, 3);
  EXPECT_EQ(metrics.cost.lanes_open, 0);
  EXPECT_EQ(metrics.cache_lanes, 0);
  EXPECT_EQ((metrics.meters.runs.at({"plain", "done"})), 3);
  const std::vector<ModelStatus> models = host->Statuses();
  EXPECT_EQ(models[0].runs, 2);
  EXPECT_EQ(models[1].runs, 1);
  EXPECT_EQ(models[2].runs, 0);
  EXPECT_EQ(models[0].generated_tokens, tokens / 3 * 2);
  EXPECT_EQ(models[1].generated_tokens, tokens / 3);
  EXPECT_EQ(models[0].live, 0);
  EXPECT_EQ(host.book().Runs().size(), 3U);
}

TEST(ModelHost, ShuttingDownEndsWaitingAndRuns) {
  TestHost host(AtOnce(1));
  const std::string run = host.Begin(0);
  auto waiting = std::async(std::launch::async, [&] { return host.Refusal(1); });
  AwaitThat([&] { return StatesOf(*host) == "unloading unloaded unloaded"; });
  EXPECT_FALSE(host->closing());
  host->Shutdown(0);
  EXPECT_TRUE(host->closing());
  EXPECT_EQ(waiting.get().code, "shutting_down");
  EXPECT_EQ(host.Refusal(0).code, "shutting_down");
  EXPECT_EQ(host.book().Find(run)->status, "partial");
}

TEST(ModelHost, ManyRequestsForManyModels) {
  TestHost host(AtOnce(2, /*idle_s=*/0.001));
  std::vector<std::future<void>> clients;
  for (size_t client = 0; client < 6; ++client) {
    clients.push_back(std::async(std::launch::async, [&host, client] {
      for (size_t i = 0; i < 8; ++i) {
        const size_t model = (client * 5 + i * (client + 1)) % 3;
        EXPECT_EQ(host.Ask(model), std::string(1, static_cast<char>('a' + model)));
        host->metrics();
        host->Statuses();
      }
    }));
  }
  for (std::future<void>& client : clients) {
    client.get();
  }
  AwaitThat([&] { return host->metrics().runs_finished == 48; });
}

}  // namespace
}  // namespace hyper::server