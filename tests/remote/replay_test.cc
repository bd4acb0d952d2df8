// The wire formats of real servers, recorded by record_fixtures.py: probes, runs and single texts
// come out as they did then. Fixtures whose server could not be run here say so in `server`.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hyper/remote_engine.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/stream.h"
#include "tests/support/process.h"
#include "tests/support/replay_server.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kFolder = HYPER_SOURCE_DIR "/tests/fixtures/remote/";

Json LoadFixture(const std::string& server, const std::string& kind) {
  const std::string name = server + "-" + kind;
  Json fixture = Json::parse(ReadWholeFile(kFolder + name + ".json"), nullptr, false);
  EXPECT_TRUE(fixture.is_object()) << name;
  return fixture;
}

// Fixtures of a kind: the names of their servers.
std::vector<std::string> ServersWith(const std::string& kind) {
  const std::string ending = "-" + kind + ".json";
  std::vector<std::string> servers;
  for (const std::string& name : NamesIn(kFolder)) {
    if (name.ends_with(ending)) {
      servers.push_back(name.substr(0, name.size() - ending.size()));
    }
  }
  return servers;
}

std::vector<Json> Exchanges(const Json& fixture, const Json& more = Json::object()) {
  std::vector<Json> exchanges = fixture.at("exchanges").get<std::vector<Json>>();
  for (const Json& exchange : more.value("exchanges", Json::array())) {
    exchanges.push_back(exchange);
  }
  return exchanges;
}

TEST(Replay, ProbesFindWhatTheyFoundThen) {
  const std::vector<std::string> servers = ServersWith("probe");
  EXPECT_GE(servers.size(), 3U);
  for (const std::string& name : servers) {
    const Json fixture = LoadFixture(name, "probe");
    ReplayServer server(Exchanges(fixture));
    const Result<ServerReport> report = ProbeServer(server.url(), {});
    ASSERT_TRUE(report.has_value()) << name << ": " << report.error().message;
    Json findings = Json::object();
    for (const ServerFinding& finding : report->findings) {
      findings[finding.name] = finding.value;
    }
    EXPECT_EQ(findings, fixture["report"]["findings"]) << name;
    EXPECT_EQ(Json(report->workarounds), fixture["report"]["workarounds"]) << name;
    EXPECT_EQ(server.unknown(), std::vector<std::string>()) << name;
  }
}

class Runs : public ::testing::TestWithParam<const char*> {};

// Each in pieces of one size and of another: events are cut over packets in any way.
TEST_P(Runs, GoAsTheyWentThen) {
  const std::string kind = GetParam();
  const std::vector<std::string> servers = ServersWith(kind);
  EXPECT_GE(servers.size(), 2U);
  for (const std::string& name : servers) {
    const Json fixture = LoadFixture(name, kind);
    for (const size_t piece : {size_t{61}, size_t{4096}}) {
      ReplayServer server(Exchanges(fixture, LoadFixture(name, "probe")), piece);
      std::vector<std::string> command = {HYPER_PROGRAM, "run", "--json",   "--preset",  "short",
                                          "--seed",      "1",   "--engine", server.url()};
      for (const Json& word : fixture["arguments"]) {
        command.push_back(word);
      }
      command.push_back(fixture["question"]);
      const ProcessResult run = RunProcess(command);
      ASSERT_EQ(run.exit_code, 0) << name << ": " << run.err;
      EXPECT_EQ(server.unknown(), std::vector<std::string>()) << name;
      const Json result = Json::parse(run.out);
      EXPECT_EQ(result["answer"], fixture["answer"]) << name;
      Json paths = Json::array();
      for (const Json& path : result["paths"]) {
        paths.push_back({{"text", path["text"]}, {"status", path["status"]}});
      }
      EXPECT_EQ(paths, fixture["paths"]) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Runs,
                         ::testing::Values("sc", "hyper", "deepconf", "pruned", "grant"));

// A stream that a server was made to write: the tokens' bytes joined are the text, each has its
// list, and nothing is cut where the packets are.
TEST(Replay, CharactersOverSeveralTokensComeWhole) {
  const std::vector<std::string> servers = ServersWith("written");
  EXPECT_GE(servers.size(), 2U);
  for (const std::string& name : servers) {
    const Json fixture = LoadFixture(name, "written");
    const Json& exchange = fixture["exchanges"][0];
    const std::string body = exchange["body"];
    for (const size_t piece : {size_t{1}, size_t{7}, body.size()}) {
      remote::ChunkParser parser;
      std::vector<LaneId> changed;
      remote::Stream stream(parser, 1, changed);
      stream.asked_tokens = exchange["request"]["max_tokens"];
      for (size_t at = 0; at < body.size(); at += piece) {
        stream.OnData(200, std::string_view(body).substr(at, piece));
      }
      stream.OnDone({200, "", -1});
      EXPECT_EQ(stream.end.kind, remote::StreamEnd::Kind::kStop) << name << stream.end.error;
      std::string text;
      for (const remote::ChunkToken& token : stream.tokens) {
        text += token.bytes;
        EXPECT_TRUE(token.has_logprob) << name;
        EXPECT_FALSE(token.top.empty()) << name;
      }
      EXPECT_EQ(text, fixture["text"].get<std::string>()) << name;
      EXPECT_GT(stream.tokens.size(), 8U) << name;
    }
  }
}

}  // namespace
}  // namespace hyper::test
