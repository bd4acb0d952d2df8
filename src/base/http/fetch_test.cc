#include "src/base/http/fetch.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "tests/support/scripted_clock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace hyper::base {
namespace {

using test::HttpMessage;
using test::ScriptedServer;
using test::ServerConnection;

HttpRequest Get(const ScriptedServer& server) {
  HttpRequest request;
  request.url = server.url() + "/thing";
  return request;
}

TEST(CertificateFile, IsTheGivenOneElseTheFirstThatIsThere) {
  const test::TemporaryFolder folder;
  const std::string first = folder.File("none.pem");
  const std::string second = folder.File("second.pem");
  const std::string third = folder.File("third.pem");
  std::ofstream(second.c_str()) << "-";
  std::ofstream(third.c_str()) << "-";
  const std::array places = {first.c_str(), second.c_str(), third.c_str()};
  EXPECT_EQ(CertificateFile("", places), second);
  EXPECT_EQ(CertificateFile("mine.pem", places), "mine.pem");
  EXPECT_EQ(CertificateFile("", std::span(places).first(1)), "");
}

TEST(BackoffSeconds, DoublesAndObeysTheServer) {
  EXPECT_DOUBLE_EQ(BackoffSeconds(1, -1, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(BackoffSeconds(3, -1, 0.5), 2.0);
  EXPECT_DOUBLE_EQ(BackoffSeconds(3, -1, 0.0), 1.5);
  EXPECT_LT(BackoffSeconds(3, -1, 0.999), 2.5);
  EXPECT_DOUBLE_EQ(BackoffSeconds(3, -1, 0.5, 2), 8);
  EXPECT_DOUBLE_EQ(BackoffSeconds(50, -1, 0.5), 30);
  EXPECT_DOUBLE_EQ(BackoffSeconds(1, 7, 0.5), 7);
  EXPECT_DOUBLE_EQ(BackoffSeconds(1, 1e9, 0.5), 300) << "no server may stop us for ever";
}

TEST(FetchPatiently, WaitsAsTheServerAsksAndElseEverLonger) {
  int calls = 0;
  ScriptedServer server([&](const HttpMessage&, ServerConnection& connection) {
    ++calls;
    if (calls == 1) {
      connection.Respond(429, "slow down", "Retry-After: 7\r\n");
    } else if (calls < 4) {
      connection.Respond(503, "busy");
    } else {
      connection.Respond(200, "here it is");
    }
  });
  std::vector<double> waits;
  Retries retries;
  retries.wait = [&](double seconds) { waits.push_back(seconds); };
  HttpLoop loop(HttpSettings{});
  const HttpAnswer answer = FetchPatiently(loop, Get(server), retries);
  EXPECT_TRUE(answer.complete());
  EXPECT_EQ(answer.end.status, 200);
  EXPECT_EQ(answer.body, "here it is");
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(waits, (std::vector<double>{7, 1, 2}));
}

TEST(FetchPatiently, GivesTheLastAnswerAfterAllTries) {
  int calls = 0;
  ScriptedServer server([&](const HttpMessage&, ServerConnection& connection) {
    ++calls;
    connection.Respond(500, "broken");
  });
  std::vector<double> waits;
  Retries retries;
  retries.most_tries = 3;
  retries.first_wait_s = 1;
  retries.wait = [&](double seconds) { waits.push_back(seconds); };
  HttpLoop loop(HttpSettings{});
  EXPECT_EQ(FetchPatiently(loop, Get(server), retries).body, "broken");
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(waits, (std::vector<double>{1, 2}));
}

TEST(FetchPatiently, ARefusalIsNotRepeated) {
  int calls = 0;
  ScriptedServer server([&](const HttpMessage&, ServerConnection& connection) {
    ++calls;
    connection.Respond(401, "no");
  });
  HttpLoop loop(HttpSettings{});
  EXPECT_EQ(FetchPatiently(loop, Get(server), Retries()).end.status, 401);
  EXPECT_EQ(calls, 1);
}

TEST(FetchPatiently, AServerThatIsAwayIsAskedAgainUnlessAPartMayHaveCome) {
  ScriptedServer server([](const HttpMessage&, ServerConnection&) {});
  const HttpRequest request = Get(server);
  server.Stop();
  test::ScriptedClock clock;
  HttpLoop loop(HttpSettings{}, clock);
  const HttpAnswer answer = FetchPatiently(loop, request, Retries());
  EXPECT_FALSE(answer.end.failure.empty());
  EXPECT_GE(clock.Now(), 0.5 + 1 + 2 + 4) << "it waits on the loop's clock";
  Retries retries;
  retries.wait = [](double) { ADD_FAILURE() << "tried again"; };
  const auto take = [](int, std::string_view) { return Status(); };
  EXPECT_FALSE(FetchPatiently(loop, request, retries, take).complete());
}

TEST(Fetch, GivesPiecesToWhoeverTakesThemAndKeepsRefusals) {
  ScriptedServer server([](const HttpMessage& request, ServerConnection& connection) {
    const bool ranged = request.head.find("Range: bytes=3-") != std::string::npos;
    connection.Respond(ranged ? 206 : 404, ranged ? "rest" : "none");
  });
  HttpLoop loop(HttpSettings{});
  HttpRequest request = Get(server);
  std::string taken;
  const auto take = [&](int status, std::string_view bytes) {
    EXPECT_EQ(status, 206);
    taken += bytes;
    return Status();
  };
  EXPECT_EQ(Fetch(loop, request, take).body, "none");
  EXPECT_EQ(taken, "");
  request.first_byte = 3;
  EXPECT_EQ(Fetch(loop, request, take).body, "");
  EXPECT_EQ(taken, "rest");
  const HttpAnswer full = Fetch(loop, request, [](int, std::string_view) -> Status {
    return Error{ErrorCode::kResourceExhausted, "the disk is full"};
  });
  EXPECT_FALSE(full.complete());
  EXPECT_EQ(full.taken.error().message, "the disk is full");
}

TEST(Fetch, FollowsRedirectionsWhereAsked) {
  ScriptedServer server([](const HttpMessage& request, ServerConnection& connection) {
    if (request.path == "/v1/thing") {
      connection.Respond(302, "", "Location: /v1/other\r\n");
    } else {
      connection.Respond(200, request.path);
    }
  });
  HttpLoop loop(HttpSettings{});
  HttpRequest request = Get(server);
  EXPECT_EQ(Fetch(loop, request).end.status, 302);
  request.follow_redirects = true;
  EXPECT_EQ(Fetch(loop, request).body, "/v1/other");
}

}  // namespace
}  // namespace hyper::base
