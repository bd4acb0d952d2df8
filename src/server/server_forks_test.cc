// Forks of runs that have ended: runs of their own that go on with what a path had written.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/server/archive/run_archive.h"
#include "src/server/http/fork_ended.h"
#include "tests/support/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace hyper::server {
namespace {

// Writes the alphabet on from the last letter there is; behind a digit it closes a brace.
void Alphabet(const FakeStep& step, std::span<float> logits) {
  const auto last = static_cast<char>(step.history.back());
  const bool letter = last >= 'a' && last < 'z';
  const char next = letter                       ? static_cast<char>(last + 1)
                    : last >= '0' && last <= '9' ? '}'
                    : last == 'z' || last == '}' ? static_cast<char>(FakeEngine::kEnd)
                                                 : 'a';
  logits[static_cast<size_t>(next)] = 20.0F;
}

ServerSetup Alphabets(RunArchive* archive = nullptr) {
  ServerSetup setup;
  setup.logits = Alphabet;
  setup.book.archive = archive;
  return setup;
}

std::string Ask(const TestServer& server, bool token_records) {
  Json body = Chat("?", "m:sc");
  body["hyper"] = {{"width", 2}, {"token-records", token_records}};
  return server.Good(kChat, body)["hyper"]["run"];
}

std::string ForkOf(const std::string& id, int path) {
  return "/v1/runs/" + id + "/paths/" + std::to_string(path) + "/fork";
}

// The texts of the tokens that a run's path took, but for the end.
std::string Written(const TestServer& server, const std::string& id, int path) {
  std::string text;
  for (const Json& record : server.Records(id)) {
    if (record["record"] == "token" && record["path"] == path && record["text"] != "<end>") {
      text += record["text"];
    }
  }
  return text;
}

Json First(const TestServer& server, const std::string& id, const char* kind) {
  for (Json& record : server.Records(id)) {
    if (record["record"] == kind) {
      return std::move(record);
    }
  }
  return {};
}

TEST(ServerForks, ANewRunGoesOnBehindTheGivenText) {
  TestServer server(Alphabets());
  const std::string ended = Ask(server, true);
  const Json fork =
      server.Good(ForkOf(ended, 1), {{"at", 3}, {"text", "w"}, {"n", 3}, {"seed", 4}});
  EXPECT_EQ(fork["paths"], Json({0, 1, 2}));
  EXPECT_EQ(fork["fork_of"], Json({{"run", ended}, {"path", 1}, {"at", 3}}));
  const std::string id = fork["id"];
  EXPECT_NE(id, ended);
  server.Settled();
  for (const int path : {0, 1, 2}) {
    EXPECT_EQ(Written(server, id, path), "xyz");
  }
  const Json head = First(server, id, "run");
  EXPECT_EQ(head["seed"], 4);
  EXPECT_EQ(head["question"], "?");
  EXPECT_EQ(head["prompt"], First(server, ended, "run")["prompt"].get<std::string>() + "abcw");
  EXPECT_EQ(First(server, id, "notice")["text"],
            "goes on from token 3 of path 1 of " + ended + ", behind a given text");
  EXPECT_EQ(server.scheduler().book().Find(id)->question, "?");
  // It can be forked in turn.
  const std::string again = server.Good(ForkOf(id, 0), {{"at", 1}})["id"];
  server.Settled();
  EXPECT_EQ(Written(server, again, 0), "yz");
}

TEST(ServerForks, AnAnswerMayBeginInTheGivenText) {
  TestServer server(Alphabets());
  const std::string ended = Ask(server, true);
  const std::string id = server.Good(ForkOf(ended, 0), {{"at", 2}, {"text", "\\boxed{7"}})["id"];
  server.Settled();
  EXPECT_EQ(Written(server, id, 0), "}");
  EXPECT_EQ(server.scheduler().book().Find(id)->answer, "7");
}

TEST(ServerForks, StoredRunsAreForkedWithoutRecordsOfTokens) {
  const test::TemporaryFolder folder;
  std::string ended;
  {
    const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
    const TestServer server(Alphabets(archive.get()));
    ended = Ask(server, false);
    EXPECT_EQ(server.Post(ForkOf(ended, 0), {{"at", 1}})->status, 200);
  }
  const std::unique_ptr<RunArchive> archive = ArchiveAt(folder.File("runs.db"));
  TestServer server(Alphabets(archive.get()));
  const std::string id = server.Good(ForkOf(ended, 0), {{"at", 24}})["id"];
  server.Settled();
  EXPECT_EQ(Written(server, id, 0), "yz");
  EXPECT_EQ(First(server, id, "run")["prompt_tokens"].size(),
            First(server, ended, "run")["prompt_tokens"].size() + 24);
}

TEST(ServerForks, WhatCannotBeForkedIsSaid) {
  const TestServer server(Alphabets());
  const auto code = [&server](const std::string& path, const Json& body) {
    const httplib::Result reply = server.Post(path, body);
    const Json error = Json::parse(reply->body)["error"];
    const Json& what = error[reply->status == 400 ? "param" : "code"];
    return std::to_string(reply->status) + " " + (what.is_string() ? what.get<std::string>() : "");
  };
  const std::string ended = Ask(server, true);
  EXPECT_EQ(code(ForkOf(ended, 0), Json::object()), "409 path_not_running");
  EXPECT_EQ(code(ForkOf(ended, 2), {{"at", 0}}), "409 path_not_running");
  EXPECT_EQ(code(ForkOf(ended, 0), {{"at", 99}}), "400 at");
  EXPECT_EQ(code(ForkOf(ended, 0), {{"at", 1}, {"n", 200}}), "400 hyper.width");
  EXPECT_EQ(code(ForkOf("run_none", 0), {{"at", 1}}), "404 run_not_found");
  EXPECT_EQ(code(ForkOf(Ask(server, false), 0), {{"at", 1}}), "409 tokens_not_kept");
}

Json TokenAt(int path, int position, int token) {
  return {{"record", "token"}, {"path", path}, {"position", position}, {"token", token}};
}

TEST(FirstTokensOf, AForkBeginsWithItsParentsTokens) {
  const std::vector<Json> records = {
      {{"record", "path"}, {"path", 0}, {"parent", nullptr}, {"position", 0}},
      {{"record", "path"}, {"path", 1}, {"parent", 0}, {"position", 2}},
      {{"record", "path"}, {"path", 2}, {"parent", 1}, {"position", 3}},
      TokenAt(0, 0, 10),
      TokenAt(0, 1, 11),
      TokenAt(0, 2, 12),
      TokenAt(1, 2, 22),
      TokenAt(1, 3, 23),
      TokenAt(2, 3, 33)};
  using Tokens = std::vector<Token>;
  EXPECT_EQ(FirstTokensOf(records, 2, 4), (Tokens{10, 11, 22, 33}));
  EXPECT_EQ(FirstTokensOf(records, 2, 1), Tokens{10});
  EXPECT_EQ(FirstTokensOf(records, 0, 3), (Tokens{10, 11, 12}));
  EXPECT_EQ(FirstTokensOf(records, 0, 4), std::nullopt);
  EXPECT_EQ(FirstTokensOf(records, 3, 1), std::nullopt);
  EXPECT_EQ(FirstTokensOf(records, 2, 0), Tokens{});
}

}  // namespace
}  // namespace hyper::server
