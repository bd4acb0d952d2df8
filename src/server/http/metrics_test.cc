// What is told of requests and runs: metrics, and a line for each request.
#include "src/server/http/metrics.h"

#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

TEST(Histogram, CountsUpToEachBound) {
  Shares shares;
  for (const double value : {0.0, 0.05, 0.06, 1.0, 1.5}) {
    shares.Observe(value);
  }
  const std::vector<int64_t> counts(shares.counts().begin(), shares.counts().end());
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(shares.sum(), 2.61);
}

TEST(Metrics, HistogramsAddUpAsPrometheusReadsThem) {
  SchedulerMetrics metrics;
  metrics.meters.vote_margin.Observe(0.125);
  metrics.meters.vote_margin.Observe(0.875);
  metrics.meters.vote_margin.Observe(0.875);
  const std::string text = MetricsText(metrics, RequestCounts());
  EXPECT_NE(text.find("# TYPE hyper_vote_margin histogram\n"), std::string::npos);
  EXPECT_NE(text.find("hyper_vote_margin_bucket{le=\"0.1\"} 0\n"
                      "hyper_vote_margin_bucket{le=\"0.2\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("hyper_vote_margin_bucket{le=\"0.8\"} 1\n"
                      "hyper_vote_margin_bucket{le=\"0.9\"} 3\n"
                      "hyper_vote_margin_bucket{le=\"1\"} 3\n"
                      "hyper_vote_margin_bucket{le=\"+Inf\"} 3\n"
                      "hyper_vote_margin_sum 1.875\nhyper_vote_margin_count 3\n"),
            std::string::npos);
}

// The value of a metric, labels and all; -1: it is not there.
double Value(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(Metrics, TellOfRunsAndRequests) {
  const TestServer server({});
  Json pool = Chat("say so it is \\boxed{42}", "m:sc");
  pool["hyper"] = {{"width", 3}};
  server.Good(kChat, pool);
  server.Good(kChat, Chat("say abc"));
  EXPECT_EQ(server.Post(kChat, Chat("x", "none"))->status, 404);
  server.Client().Get("/v1/runs/run_1");
  server.Client().Get("/nothing/at/all");
  server.Settled();
  const std::string text = server.Client().Get("/metrics")->body;
  const auto value = [&text](const std::string& name) { return Value(text, name); };
  EXPECT_EQ(value("hyper_runs_ended_total{method=\"sc\",status=\"done\"}"), 1);
  EXPECT_EQ(value("hyper_runs_ended_total{method=\"plain\",status=\"done\"}"), 1);
  EXPECT_EQ(value("hyper_paths_ended_total{end=\"finished\"}"), 4);
  EXPECT_EQ(value("hyper_paths_ended_total{end=\"pruned\"}"), 0);
  EXPECT_EQ(value("hyper_queue_seconds_count"), 2);
  EXPECT_EQ(value("hyper_first_token_seconds_count"), 2);
  EXPECT_EQ(value("hyper_request_seconds_count"), 2);
  // Each step that brings tokens but the first: "abc" has an end token too.
  const std::string boxed = "so it is \\boxed{42}";
  EXPECT_EQ(value("hyper_between_tokens_seconds_count"), 3 + static_cast<double>(boxed.size()));
  EXPECT_EQ(value("hyper_vote_margin_sum"), 1);
  EXPECT_EQ(value("hyper_vote_margin_count"), 1);
  const std::string chat =
      "hyper_http_requests_total{method=\"POST\",path=\"/v1/chat/completions\"";
  EXPECT_EQ(value(chat + ",code=\"200\"}"), 2);
  EXPECT_EQ(value(chat + ",code=\"404\"}"), 1);
  const std::string get = "hyper_http_requests_total{method=\"GET\",path=\"";
  EXPECT_EQ(value(get + "/v1/runs/{run}\",code=\"404\"}"), 1);
  EXPECT_EQ(value(get + "other\",code=\"404\"}"), 1);
}

TEST(Metrics, DecisionsCountByWhatTheyDid) {
  RunMeters meters;
  DecisionRecord decision;
  decision.action = Action::kBranch;
  meters.Decided(decision);  // changed nothing
  decision.acted = true;
  meters.Decided(decision);
  EXPECT_EQ(meters.actions[static_cast<size_t>(Action::kNone)], 1);
  EXPECT_EQ(meters.actions[static_cast<size_t>(Action::kBranch)], 1);
}

// The board in the repository asks for nothing that there is not.
TEST(Metrics, HaveWhatTheBoardShows) {
  std::ifstream file(HYPER_SOURCE_DIR "/deploy/grafana/dashboards/hyper.json");
  ASSERT_TRUE(file);
  const Json board = Json::parse(file);
  RequestCounts requests;
  requests.Add({"GET", "/live", 200});
  SchedulerMetrics metrics;
  metrics.meters.runs[{"sc", "done"}] = 1;
  const std::string text = MetricsText(metrics, requests);
  int names = 0;
  const Json flat = board.flatten();
  for (const auto& [place, value] : flat.items()) {
    if (!place.ends_with("/expr")) {
      continue;
    }
    const std::string expression = value;
    for (size_t at = 0; (at = expression.find("hyper_", at)) != std::string::npos; ++names) {
      const size_t end = expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
      const std::string name = expression.substr(at, end - at);
      EXPECT_TRUE(text.find("\n" + name + " ") != std::string::npos ||
                  text.find("\n" + name + "{") != std::string::npos)
          << name;
      at = end;
    }
  }
  EXPECT_GT(names, 25);
}

TEST(RequestLine, SaysWhatIsKnown) {
  EXPECT_EQ(UtcTime(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcTime(951782399042), "2000-02-28T23:59:59.042Z");
  const AnsweredRequest request{"GET", "/v1/runs", 200, 0.0126, "192.0.2.7", ""};
  EXPECT_EQ(RequestLine(request, 0, nullptr), Json({{"time", "1970-01-01T00:00:00.000Z"},
                                                    {"method", "GET"},
                                                    {"path", "/v1/runs"},
                                                    {"status", 200},
                                                    {"ms", 13},
                                                    {"address", "192.0.2.7"}}));
}

TEST(RequestLine, NamesTheRunAndTheClient) {
  std::mutex mutex;
  std::vector<Json> lines;
  ServerSetup setup;
  setup.http.keys = {KeyOf("anns", {.name = "ann", .all_runs = false})};
  setup.http.log = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(Json::parse(line));
  };
  std::string id;
  {
    const TestServer server(setup);
    httplib::Client client = server.Client();
    client.Get("/v1/models?x=1");
    client.set_bearer_token_auth("anns");
    const httplib::Result reply = client.Post(kChat, Chat("say abc").dump(), "application/json");
    id = reply->get_header_value("X-Hyper-Run");
  }
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["path"], "/v1/models");
  EXPECT_EQ(lines[0]["status"], 401);
  EXPECT_EQ(lines[0]["address"], "127.0.0.1");
  EXPECT_FALSE(lines[0].contains("client"));
  EXPECT_FALSE(lines[0].contains("run"));
  EXPECT_EQ(lines[1]["method"], "POST");
  EXPECT_EQ(lines[1]["status"], 200);
  EXPECT_EQ(lines[1]["client"], "ann");
  EXPECT_EQ(lines[1]["run"], id);
  EXPECT_EQ(lines[1]["run_method"], "plain");
  EXPECT_EQ(lines[1]["width"], 1);
  EXPECT_GE(lines[1]["ms"], 0);
}

}  // namespace
}  // namespace hyper::server
