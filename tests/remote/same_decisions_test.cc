// HyPER as controller only takes the same decisions on the same token streams, whether they come
// from a llama-server's recorded wire or out of an engine in process.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/remote_engine.h"
#include "tests/remote/recorded_engine.h"
#include "tests/support/process.h"
#include "tests/support/replay_server.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

// The exchanges of one of llama-server's recordings; the whole of it comes out in `fixture`.
std::vector<Json> RecordedExchanges(const std::string& name, Json* fixture = nullptr) {
  const Json parsed = Json::parse(
      ReadWholeFile(HYPER_SOURCE_DIR "/tests/fixtures/remote/llama-server-" + name + ".json"));
  if (fixture != nullptr) {
    *fixture = parsed;
  }
  return parsed["exchanges"].get<std::vector<Json>>();
}

struct Outcome {
  SessionResult result;
  std::vector<DecisionRecord> decisions;
  std::vector<std::string> texts;
  std::vector<PathStatus> statuses;
};

Outcome RunOn(Engine& engine, const std::string& question) {
  AskOptions options;
  options.seed = 1;
  options.preset = "short";
  options.options = {{"width", 4},  {"warmup", 2},          {"max-tokens", 60},
                     {"window", 8}, {"threshold", "top:3"}, {"actions", "none,multi_token,branch"}};
  Result<std::unique_ptr<Session>> ask = PrepareSession(engine, question, options);
  EXPECT_TRUE(ask.has_value());
  Driver driver(engine);
  driver.Add(ask->get());
  EXPECT_TRUE(driver.RunAll().ok());
  Outcome run;
  run.result = (*ask)->Result();
  for (const Record& record : (*ask)->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      run.decisions.push_back(*decision);
    }
  }
  for (const Path& path : (*ask)->pool().paths()) {
    run.texts.push_back(path.text);
    run.statuses.push_back(path.status);
  }
  return run;
}

class SameDecisions : public ::testing::TestWithParam<const char*> {};

TEST_P(SameDecisions, OverARecordedWireAndInProcess) {
  Json fixture;
  std::vector<Json> exchanges = RecordedExchanges(GetParam(), &fixture);
  RecordedEngine in_process(exchanges);
  const std::string question = fixture["question"];
  const Outcome expected = RunOn(in_process, question);
  for (const Json& exchange : RecordedExchanges("probe")) {
    exchanges.push_back(exchange);
  }
  ReplayServer server(exchanges);
  RemoteOptions remote;
  remote.urls = {server.url()};
  remote.stream_tokens = 60;
  const Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(remote);
  ASSERT_TRUE(engine.has_value()) << engine.error().message;
  const Outcome got = RunOn(**engine, question);

  EXPECT_EQ(server.unknown(), std::vector<std::string>());
  EXPECT_EQ(got.texts, expected.texts);
  EXPECT_EQ(got.statuses, expected.statuses);
  EXPECT_EQ(got.result.answer, expected.result.answer);
  EXPECT_EQ(got.result.ledger.generated, expected.result.ledger.generated);
  ASSERT_EQ(got.decisions.size(), expected.decisions.size());
  int expansions = 0;
  for (size_t i = 0; i < got.decisions.size(); ++i) {
    const DecisionRecord& here = expected.decisions[i];
    const DecisionRecord& there = got.decisions[i];
    EXPECT_EQ(there.action, here.action) << i;
    EXPECT_EQ(there.expansion, here.expansion) << i;
    EXPECT_EQ(there.paths_after, here.paths_after) << i;
    EXPECT_FLOAT_EQ(there.raw.confidence, here.raw.confidence) << i;
    EXPECT_FLOAT_EQ(there.raw.diversity, here.raw.diversity) << i;
    expansions += there.action == Action::kNone ? 0 : 1;
  }
  EXPECT_GT(expansions, 0) << "a recording without decisions shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Recordings, SameDecisions, ::testing::Values("hyper", "pruned"));

}  // namespace
}  // namespace hyper::test
