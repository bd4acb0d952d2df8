#include "src/eval/data/hub.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/sha256.h"
#include "src/eval/data/questions.h"
#include "src/eval/data/rows.h"
#include "tests/support/recording_server.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

using nlohmann::json;
using test::RecordingServer;
using test::ServerReply;
using test::ServerRequest;

constexpr int kRows = 250;

std::string RowText(int number) {
  return json({{"question", "q" + std::to_string(number)}, {"answer", number}}).dump();
}

int Parameter(const std::string& target, const std::string& name) {
  const size_t at = target.find(name + "=");
  return at == std::string::npos ? -1 : std::atoi(target.c_str() + at + name.size() + 1);
}

// A page of a data set of kRows rows.
ServerReply Page(const ServerRequest& request) {
  const int offset = Parameter(request.target, "offset");
  json rows = json::array();
  for (int i = offset; i < std::min(kRows, offset + Parameter(request.target, "length")); ++i) {
    rows.push_back({{"row_idx", i}, {"row", json::parse(RowText(i))}, {"truncated_cells", {}}});
  }
  return {200, json({{"rows", rows}, {"num_rows_total", kRows}}).dump()};
}

class HubTest : public ::testing::Test {
 protected:
  HubRequest Request(const RecordingServer& server) {
    HubRequest request;
    request.base = server.address();
    request.source = {"made/set", "a b", "test", false};
    request.target = folder_.File("set.jsonl");
    request.wait = [this](double seconds) { waits_.push_back(seconds); };
    return request;
  }

  std::string Target() const { return *ReadWholeFile(folder_.File("set.jsonl")); }

  test::TemporaryFolder folder_;
  std::vector<double> waits_;
};

TEST_F(HubTest, RowsComePageByPageAndAreReadByASuite) {
  const RecordingServer server(Page);
  const Result<HubResult> result = FetchDataSet(Request(server));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->rows, kRows);
  EXPECT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(server.requests()[0].target,
            "/rows?dataset=made%2Fset&config=a%20b&split=test&offset=0&length=100");
  EXPECT_EQ(server.requests()[0].head.find("Authorization"), std::string::npos);
  Suite suite = *LoadSuite("gsm8k");
  const Result<QuestionSet> questions = LoadQuestions(suite, {}, folder_.File("set.jsonl"));
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  EXPECT_EQ(questions->questions.size(), 250U);
  EXPECT_EQ(questions->questions[249].gold, "249");
}

TEST_F(HubTest, AFetchedFileIsNotFetchedAgainAndAChangedOneIsAnError) {
  const RecordingServer server(Page);
  const Result<HubResult> first = FetchDataSet(Request(server));
  ASSERT_TRUE(first.has_value());
  const Result<HubResult> second = FetchDataSet(Request(server));
  EXPECT_TRUE(second->present);
  EXPECT_EQ(second->sha256, first->sha256);
  EXPECT_EQ(server.requests().size(), 3U);
  std::ofstream(folder_.File("set.jsonl"), std::ios::app) << "{}\n";
  EXPECT_EQ(FetchDataSet(Request(server)).error().code, ErrorCode::kDataLoss);
  std::filesystem::remove(folder_.File("set.jsonl.sha256"));
  EXPECT_EQ(FetchDataSet(Request(server)).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(HubTest, GoesOnWhereItWasCutOff) {
  {
    // The second page never comes whole.
    const RecordingServer server([](const ServerRequest& request) {
      ServerReply reply = Page(request);
      if (Parameter(request.target, "offset") > 0) {
        reply.cut_at = reply.body.size() / 2;
      }
      return reply;
    });
    EXPECT_EQ(FetchDataSet(Request(server)).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(waits_, (std::vector<double>{1, 2, 4, 8}));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.File("set.jsonl")));
  // As a program leaves it that is killed while it writes.
  std::ofstream(folder_.File("set.jsonl.part"), std::ios::app) << "{\"question\": \"half";
  const RecordingServer server(Page);
  ASSERT_TRUE(FetchDataSet(Request(server)).has_value());
  EXPECT_EQ(Parameter(server.requests()[0].target, "offset"), 100);
  std::string expected;
  for (int i = 0; i < kRows; ++i) {
    expected += json::parse(RowText(i)).dump() + "\n";
  }
  EXPECT_EQ(Target(), expected);
}

TEST_F(HubTest, ABusyHubIsAskedAgainAsItWishes) {
  int calls = 0;
  const RecordingServer server([&](const ServerRequest& request) -> ServerReply {
    if (++calls == 1) {
      return {429, "slow down", {"Retry-After: 7"}};
    }
    if (calls == 2) {
      return {503, "busy"};
    }
    return Page(request);
  });
  EXPECT_TRUE(FetchDataSet(Request(server)).has_value());
  EXPECT_EQ(waits_, (std::vector<double>{7, 2}));
}

TEST_F(HubTest, GatedSetsTakeATokenAndSaySo) {
  const RecordingServer server([](const ServerRequest& request) -> ServerReply {
    const bool allowed = request.head.find("Authorization: Bearer secret") != std::string::npos;
    return allowed ? Page(request) : ServerReply{401, "no"};
  });
  HubRequest request = Request(server);
  const Error without = FetchDataSet(request).error();
  EXPECT_EQ(without.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(without.message.find("is gated"), std::string::npos);
  request.token = "wrong-token";
  const Error wrong = FetchDataSet(request).error();
  EXPECT_NE(wrong.message.find("has no access"), std::string::npos);
  EXPECT_EQ(wrong.message.find("wrong-token"), std::string::npos);
  request.token = "secret";
  EXPECT_TRUE(FetchDataSet(request).has_value());
}

TEST_F(HubTest, FilesAreResumedByRange) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += RowText(i) + "\n";
  }
  bool cut = true;
  const RecordingServer server([&](const ServerRequest& request) -> ServerReply {
    EXPECT_EQ(request.target, "/datasets/made/set/resolve/main/test.jsonl");
    const size_t at = request.head.find("Range: bytes=");
    const size_t first = at == std::string::npos
                             ? 0
                             : static_cast<size_t>(std::atoll(request.head.c_str() + at + 13));
    ServerReply reply{first > 0 ? 206 : 200, text.substr(first)};
    if (cut) {
      reply.cut_at = 300;
    }
    cut = false;
    return reply;
  });
  HubRequest request = Request(server);
  request.file = "test.jsonl";
  EXPECT_EQ(FetchDataSet(request).error().code, ErrorCode::kUnavailable);
  const Result<HubResult> result = FetchDataSet(request);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(Target(), text);
  EXPECT_EQ(result->rows, 50);
  EXPECT_EQ(result->sha256, base::Sha256Of(text));
}

TEST_F(HubTest, WhatIsNoDataSetIsRefused) {
  const std::pair<ServerReply, ErrorCode> replies[] = {
      {{404, "{}"}, ErrorCode::kNotFound},
      {{200, "<html>"}, ErrorCode::kDataLoss},
      {{200, R"({"rows": [], "num_rows_total": 5})"}, ErrorCode::kDataLoss},
      {{200, R"({"rows": [{"row": {"a": 1}, "truncated_cells": ["a"]}], "num_rows_total": 1})"},
       ErrorCode::kDataLoss},
  };
  for (const auto& [reply, code] : replies) {
    const RecordingServer server([&reply = reply](const ServerRequest&) { return reply; });
    EXPECT_EQ(FetchDataSet(Request(server)).error().code, code) << reply.body;
  }
}

TEST_F(HubTest, OfflineSaysWhatElseWorks) {
  std::string address;
  { address = RecordingServer(Page).address(); }  // nobody listens there any more
  const RecordingServer server(Page);
  HubRequest request = Request(server);
  request.base = address;
  const Error error = FetchDataSet(request).error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_NE(error.message.find("--data"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace hyper::eval
