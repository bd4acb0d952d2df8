// HyPER takes the same decisions on the same token streams, whether they come from a server's
// recorded wire or out of an engine in process. Recordings of vLLM with the add-on have all four
// actions; they also keep what the live run decided.
//
// HYPER_RECORDINGS names a folder of further recordings (same_decisions_check.py makes them).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/remote_engine.h"
#include "src/report/json.h"
#include "tests/remote/recorded_engine.h"
#include "tests/support/process.h"
#include "tests/support/replay_server.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kCommitted = HYPER_SOURCE_DIR "/tests/fixtures/remote/";

// Paths without their ending: SERVER-NAME, with SERVER-probe beside them.
std::vector<std::string> Recordings() {
  std::vector<std::string> paths;
  for (const char* name : {"llama-server-hyper", "llama-server-pruned", "vllm-hyper", "vllm-pruned",
                           "vllm-addon-hyper"}) {
    paths.push_back(std::string(kCommitted) + name);
  }
  if (const char* folder = std::getenv("HYPER_RECORDINGS")) {
    for (const std::string& name : NamesIn(folder)) {
      if (!name.ends_with("-probe.json")) {
        paths.push_back(std::string(folder) + "/" + name.substr(0, name.rfind('.')));
      }
    }
  }
  return paths;
}

AskOptions OptionsOf(const Json& fixture) {
  AskOptions ask;
  ask.seed = 1;
  ask.preset = "short";
  const std::vector<std::string> words = fixture["arguments"];
  for (size_t i = 0; i < words.size(); i += 2) {
    if (words[i] == "--method") {
      ask.method = words[i + 1];
    } else {
      ask.options.push_back({words[i].substr(2), words[i + 1]});
    }
  }
  return ask;
}

int LongestPath(const Json& fixture) {
  const std::vector<std::string> words = fixture["arguments"];
  return std::stoi(*(std::find(words.begin(), words.end(), "--max-tokens") + 1));
}

// What a run is known by, as `hyper run --json` has it. What only a server can charge is left out.
Json Known(const Json& run) {
  Json known;
  for (const char* name : {"answer", "votes", "stop", "decisions", "paths"}) {
    known[name] = run[name];
  }
  for (const char* name : {"generated", "effective", "refined", "extra_routes"}) {
    known[name] = run["ledger"][name];
  }
  return known;
}

Json RunOn(Engine& engine, const Json& fixture) {
  const AskOptions options = OptionsOf(fixture);
  Result<std::unique_ptr<Session>> ask =
      PrepareSession(engine, fixture["question"].get<std::string>(), options);
  EXPECT_TRUE(ask.has_value()) << ask.error().message;
  Driver driver(engine);
  driver.Add(ask->get());
  EXPECT_TRUE(driver.RunAll().ok());
  const std::vector<Record> records = (*ask)->TakeRecords();
  return Known(ReportJson({options.method, {}, options.seed, records}, **ask, (*ask)->Result()));
}

// Where two runs differ. Sums of floats may: tokens have other numbers, so another order.
std::vector<std::string> Differences(const Json& one, const Json& other) {
  constexpr double kClose = 1e-5;
  const Json flat = one.flatten();
  const Json other_flat = other.flatten();
  std::vector<std::string> found;
  for (const auto& [place, value] : flat.items()) {
    const Json there = other_flat.value(place, Json());
    const bool close = value.is_number_float() && there.is_number() &&
                       std::abs(value.get<double>() - there.get<double>()) <= kClose;
    if (value != there && !close) {
      found.push_back(place + ": " + value.dump() + " and " + there.dump());
    }
  }
  if (flat.size() != other_flat.size()) {
    found.push_back("one of them says more");
  }
  return found;
}

class SameDecisions : public ::testing::TestWithParam<std::string> {};

TEST_P(SameDecisions, OverARecordedWireAndInProcess) {
  const std::string& path = GetParam();
  const Json fixture = Json::parse(ReadWholeFile(path + ".json"));
  std::vector<Json> exchanges = fixture["exchanges"];
  RecordedEngine in_process(exchanges);
  const Json expected = RunOn(in_process, fixture);

  const Json probe = Json::parse(ReadWholeFile(path.substr(0, path.rfind('-')) + "-probe.json"));
  for (const Json& exchange : probe["exchanges"]) {
    exchanges.push_back(exchange);
  }
  ReplayServer server(exchanges);
  RemoteOptions remote;
  remote.urls = {server.url()};
  remote.stream_tokens = LongestPath(fixture);
  const Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(remote);
  ASSERT_TRUE(engine.has_value()) << engine.error().message;
  const Json got = RunOn(**engine, fixture);

  EXPECT_EQ(server.unknown(), std::vector<std::string>());
  EXPECT_EQ(Differences(expected, got), std::vector<std::string>());
  if (fixture.contains("run")) {
    EXPECT_EQ(Differences(expected, Known(fixture["run"])), std::vector<std::string>())
        << "the live run went another way";
  }
  EXPECT_FALSE(expected["decisions"].empty()) << "a recording without decisions shows nothing";
  if (path.ends_with("/vllm-addon-hyper")) {
    EXPECT_GT(expected["refined"], 0) << "nor one of the add-on without refined tokens";
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, SameDecisions, ::testing::ValuesIn(Recordings()));

}  // namespace
}  // namespace hyper::test
