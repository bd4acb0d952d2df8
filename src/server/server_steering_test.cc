// Live runs that a client changes: forks at any token, paths that are ended, more paths, limits.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/server/api/steer_json.h"
#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

// A pool of four paths that write letters until the test is over.
class Steering : public ::testing::Test {
 protected:
  Steering() : server_(MakeSetup()) {
    ServedRun request = EndlessPool();
    request.token_records = true;
    reply_ = std::make_shared<ReplyQueue>(size_t{1} << 22U);
    id_ = server_.scheduler().Submit({request}, reply_).id;
    WaitForTokens(400);
  }
  ~Steering() override { reply_->Abandon(); }

  static ServerSetup MakeSetup() {
    ServerSetup setup = Endless();
    setup.lanes = 10;
    return setup;
  }
  void WaitForTokens(int64_t tokens) {
    while (server_.scheduler().book().Find(id_)->tokens < tokens) {
      std::this_thread::yield();
    }
  }
  httplib::Result Post(const std::string& what, const Json& body) {
    return server_.Post("/v1/runs/" + id_ + what, body);
  }
  std::vector<int> NewPaths(const std::string& what, const Json& body) {
    const httplib::Result reply = Post(what, body);
    EXPECT_EQ(reply->status, 200) << reply->body;
    return Json::parse(reply->body).value("paths", std::vector<int>());
  }
  std::string Code(const std::string& what, const Json& body) {
    const httplib::Result reply = Post(what, body);
    const Json code = Json::parse(reply->body)["error"]["code"];
    return std::to_string(reply->status) + " " + (code.is_string() ? code.get<std::string>() : "");
  }
  // The run's records of that kind, once it has been cancelled.
  std::vector<Json> Ended(const std::string& kind) {
    Post("/cancel", Json::object());
    server_.Settled();
    std::vector<Json> records = server_.Records(id_);
    std::erase_if(records, [&kind](const Json& record) { return record["record"] != kind; });
    return records;
  }
  // The first tokens of a path that it has for itself.
  static std::string TextOf(const std::vector<Json>& tokens, int path, size_t count) {
    std::string text;
    for (const Json& token : tokens) {
      if (token["path"] == path && text.size() < count) {
        text += token["text"].get<std::string>();
      }
    }
    return text;
  }

  TestServer server_;
  std::shared_ptr<ReplyQueue> reply_;
  std::string id_;
};

TEST_F(Steering, ForksAtAnyTokenBehindAGivenText) {
  EXPECT_EQ(NewPaths("/paths/1/fork", {{"at", 7}, {"text", "so it is "}, {"n", 2}}),
            (std::vector<int>{4, 5}));
  EXPECT_EQ(NewPaths("/paths/1/fork", Json::object()), std::vector<int>{6});
  WaitForTokens(server_.scheduler().book().Find(id_)->tokens + 400);
  const std::vector<Json> paths = Ended("path");
  ASSERT_EQ(paths.size(), 7U);
  for (const size_t child : {4, 5}) {
    EXPECT_EQ(paths[child]["parent"], 1);
    EXPECT_EQ(paths[child]["position"], 7);
  }
  EXPECT_GE(paths[6]["position"], 7);
  const std::vector<Json> tokens = Ended("token");
  const std::string first = TextOf(tokens, 4, 30);
  const std::string second = TextOf(tokens, 5, 30);
  EXPECT_EQ(first.substr(0, 9), "so it is ");
  EXPECT_EQ(second.substr(0, 9), "so it is ");
  EXPECT_NE(first, second);
  std::vector<std::string> notices;
  for (const Json& notice : Ended("notice")) {
    notices.push_back(notice["text"]);
  }
  ASSERT_EQ(notices.size(), 3U);
  EXPECT_EQ(notices[0], "path 4 continues path 1 from token 7 by request, behind a given text");
}

TEST_F(Steering, APathThatHasEndedIsContinued) {
  EXPECT_EQ(Post("/paths/2/prune", Json::object())->status, 200);
  EXPECT_EQ(Code("/paths/2/fork", Json::object()), "409 path_not_running");
  EXPECT_EQ(NewPaths("/paths/2/fork", {{"at", 5}}), std::vector<int>{4});
  EXPECT_EQ(Ended("path").at(4)["position"], 5);
}

TEST_F(Steering, ASeedGivesTheSamePathsAgain) {
  const Json wish = {{"at", 3}, {"seed", 11}, {"temperature", 1.5}};
  NewPaths("/paths/0/fork", wish);
  NewPaths("/paths/0/fork", wish);
  NewPaths("/paths/0/fork", With(wish, "seed", 12));
  WaitForTokens(server_.scheduler().book().Find(id_)->tokens + 500);
  const std::vector<Json> tokens = Ended("token");
  EXPECT_EQ(TextOf(tokens, 4, 30), TextOf(tokens, 5, 30));
  EXPECT_NE(TextOf(tokens, 4, 30), TextOf(tokens, 6, 30));
}

TEST_F(Steering, PathsAreEnded) {
  EXPECT_EQ(Post("/paths/0/finish", Json::object())->status, 200);
  EXPECT_EQ(Code("/paths/0/finish", Json::object()), "409 path_not_running");
  EXPECT_EQ(Post("/paths/1/finish", {{"text", "The answer is "}})->status, 200);
  WaitForTokens(server_.scheduler().book().Find(id_)->tokens + 200);
  const std::vector<Json> ends = Ended("finish");
  EXPECT_EQ(ends.front()["path"], 0);
  EXPECT_EQ(ends.front()["status"], "length");
  EXPECT_EQ(ends.front()["reason"], "ended by request");
  EXPECT_EQ(ends.size(), 4U);
  const std::string text = TextOf(Ended("token"), 1, 1 << 20);
  EXPECT_NE(text.find("The answer is "), std::string::npos);
  EXPECT_FALSE(text.ends_with("The answer is "));  // it went on
}

TEST_F(Steering, MorePathsAsFarAsThereAreLanes) {
  EXPECT_EQ(NewPaths("/paths", {{"n", 3}}), (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(Code("/paths", {{"n", 9}}), "409 no_lane");
  EXPECT_EQ(NewPaths("/paths", {{"n", 3}}), (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(Code("/paths", {{"n", 1}}), "409 no_lane");
  const std::vector<Json> paths = Ended("path");
  ASSERT_EQ(paths.size(), 10U);
  EXPECT_TRUE(paths[5]["parent"].is_null());
}

TEST_F(Steering, NoneOfTheNewPathsDrawsLikeAnother) {
  NewPaths("/paths", {{"n", 2}});
  NewPaths("/paths", {{"n", 2}});
  WaitForTokens(server_.scheduler().book().Find(id_)->tokens + 800);
  const std::vector<Json> tokens = Ended("token");
  std::vector<std::string> texts;
  for (int path = 0; path < 8; ++path) {
    texts.push_back(TextOf(tokens, path, 30));
    EXPECT_EQ(texts.back().size(), 30U);
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
}

TEST_F(Steering, ABudgetEndsTheRun) {
  EXPECT_EQ(Post("/limits", {{"budget-tokens", 5000}})->status, 200);
  server_.Settled();
  const RunOverview run = *server_.scheduler().book().Find(id_);
  EXPECT_EQ(run.status, "partial");
  EXPECT_GE(run.tokens, 5000);
  EXPECT_EQ(Code("/limits", {{"time", 1}}), "404 run_not_found");
}

TEST_F(Steering, WhatIsWrongIsNamed) {
  const auto param = [this](const std::string& what, const Json& body) {
    const httplib::Result reply = Post(what, body);
    EXPECT_EQ(reply->status, 400) << reply->body;
    return Json::parse(reply->body)["error"]["param"];
  };
  EXPECT_EQ(param("/paths/0/fork", {{"at", -1}}), "at");
  EXPECT_EQ(param("/paths/0/fork", {{"text", 5}}), "text");
  EXPECT_EQ(param("/paths/0/fork", {{"n", 0}}), "n");
  EXPECT_EQ(param("/paths/0/fork", {{"n", 257}}), "n");
  EXPECT_EQ(param("/paths/0/fork", {{"temperature", -0.5}}), "temperature");
  EXPECT_EQ(param("/paths/0/fork", {{"seed", -3}}), "seed");
  EXPECT_EQ(param("/paths/0/fork", {{"wide", 3}}), "wide");
  EXPECT_EQ(param("/paths/x/fork", Json::object()), "path");
  EXPECT_EQ(param("/paths/0/prune", {{"text", "x"}}), "text");
  EXPECT_EQ(param("/limits", Json::object()), "budget-tokens");
  EXPECT_EQ(param("/limits", {{"time", -1}}), "time");
  EXPECT_EQ(Post("/paths/0/fork", {{"at", 1 << 19}})->status, 400);
  EXPECT_EQ(Code("/paths/77/fork", {{"at", 0}}), "409 path_not_running");
}

TEST(SteerJson, ALimitOfTheServerHolds) {
  ServerLimits limits;
  limits.most_time_s = 60;
  limits.most_width = 8;
  const auto parse = [&limits](RunCommand::Kind kind, const char* body) {
    return ParseCommand(kind, body, limits);
  };
  using Kind = RunCommand::Kind;
  EXPECT_EQ(std::get<RunCommand>(parse(Kind::kLimits, R"({"time": 0})")).limits.time_s, 60);
  EXPECT_EQ(std::get<RunCommand>(parse(Kind::kLimits, R"({"time": 90})")).limits.time_s, 60);
  EXPECT_EQ(std::get<RunCommand>(parse(Kind::kLimits, R"({"time": 30})")).limits.time_s, 30);
  const RunCommand budget = std::get<RunCommand>(parse(Kind::kLimits, R"({"budget-tokens": 0})"));
  EXPECT_TRUE(budget.has_budget);
  EXPECT_FALSE(budget.has_time);
  EXPECT_TRUE(std::holds_alternative<RunCommand>(parse(Kind::kWiden, R"({"n": 8})")));
  EXPECT_TRUE(std::holds_alternative<ApiError>(parse(Kind::kWiden, R"({"n": 9})")));
  EXPECT_TRUE(std::holds_alternative<RunCommand>(parse(Kind::kCancel, "")));
  EXPECT_TRUE(std::holds_alternative<ApiError>(parse(Kind::kCancel, "[]")));
}

}  // namespace
}  // namespace hyper::server
