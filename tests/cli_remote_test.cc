// hyper run and hyper probe against a scripted server, as processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "src/base/http/fetch.h"
#include "tests/support/patience.h"
#include "tests/support/process.h"
#include "tests/support/scripted_model.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

// "so it is \boxed{42}", then the end; every path the same.
void WriteAnswer(uint64_t /*key*/, std::span<const Token> history, std::span<float> logits) {
  const std::string text = "so it is \\boxed{42}";
  size_t prompt = history.size();
  while (prompt > 0 && history[prompt - 1] != '\n') {
    --prompt;
  }
  const size_t at = history.size() - prompt;
  logits[at < text.size() ? static_cast<size_t>(text[at]) : 0] = 30.0F;
}

ProcessResult Hyper(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HYPER_PROGRAM);
  return RunProcess(arguments);
}

TEST(RemoteCli, EveryMethodOfTheIssueRuns) {
  ScriptedModel model(WriteAnswer);
  ScriptedServer server(model.handler());
  for (const char* method : {"sc", "hyper"}) {
    const ProcessResult run = Hyper({"run", "--engine", server.url(), "--method", method, "--json",
                                     "--preset", "short", "--width", "8", "--seed", "1", "q"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json result = Json::parse(run.out);
    EXPECT_EQ(result["answer"], "42");
    EXPECT_EQ(result["engine"], server.url());
    EXPECT_EQ(result["determinism"], "fast");
    for (const Json& path : result["paths"]) {
      EXPECT_EQ(path["status"], "finished");
    }
  }
}

TEST(RemoteCli, TheKeyIsSentButNeverShown) {
  ScriptedModel model(WriteAnswer);
  std::string sent;
  ScriptedServer server([&](const HttpMessage& request, ServerConnection& connection) {
    const auto found = request.headers.find("authorization");
    if (found != request.headers.end()) {
      sent = found->second;
    }
    model.Handle(request, connection);
  });
  const TemporaryFolder folder;
  const std::string file = WriteFile(folder.File("key"), "sk-very-secret\n");
  const std::string trace = folder.File("trace.jsonl");
  const ProcessResult run =
      Hyper({"run", "--engine", server.url(), "--engine-key-file", file, "--json", "--trace", trace,
             "--preset", "short", "--width", "2", "--method", "sc", "q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sent, "Bearer sk-very-secret");
  for (const std::string& text : {run.out, run.err, ReadWholeFile(trace)}) {
    EXPECT_EQ(text.find("very-secret"), std::string::npos);
  }
}

TEST(RemoteCli, ProbePrintsWhatItFound) {
  ScriptedModel model(WriteAnswer);
  ScriptedServer server(model.handler());
  const ProcessResult text = Hyper({"probe", server.url()});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("raw log-probabilities    yes"), std::string::npos) << text.out;
  const ProcessResult json = Hyper({"probe", "--json", server.url()});
  EXPECT_EQ(Json::parse(json.out)["findings"]["server"], "llama-server");
}

// A server that answers the probe and then refuses: no answer of the model, and no success.
TEST(RemoteCli, ARefusalIsToldAndIsNoAnswer) {
  ScriptedModel model(WriteAnswer);
  model.fault = [](int, const Json&, ServerConnection& connection) {
    connection.Respond(401, R"({"error":{"message":"your quota is used up"}})");
    return true;
  };
  ScriptedServer server(model.handler());
  for (const char* method : {"sc", "hyper", "cot"}) {
    const ProcessResult run = Hyper({"run", "--engine", server.url(), "--method", method,
                                     "--preset", "short", "--width", "3", "q"});
    EXPECT_EQ(run.exit_code, 69) << method;
    EXPECT_NE(run.err.find("HTTP 401: your quota is used up"), std::string::npos) << run.err;
  }
}

// Some paths are lost: the others' answer stands, but that is said.
TEST(RemoteCli, LostPathsAreTold) {
  ScriptedModel model(WriteAnswer);
  model.fault = [](int number, const Json&, ServerConnection& connection) {
    if (number == 1) {
      connection.Respond(400, R"({"error":{"message":"no such seed"}})");
    }
    return number == 1;
  };
  ScriptedServer server(model.handler());
  const ProcessResult run = Hyper({"run", "--engine", server.url(), "--method", "sc", "--preset",
                                   "short", "--width", "3", "--json", "q"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("1 of 3 paths failed: HTTP 400: no such seed"), std::string::npos)
      << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["answer"], "42");
  EXPECT_EQ(result["partial"], true);
}

TEST(RemoteCli, ServeDecodesOnAsManyLanesAsItIsGiven) {
  ScriptedModel model(WriteAnswer);
  model.delay_ms = 2;
  ScriptedServer server(model.handler());
  Process serve({HYPER_PROGRAM, "serve", "--engine", server.url(), "--name", "made", "--lanes", "1",
                 "--port", "0"});
  const double deadline = base::SteadyClock().Now() + 20 * Patience();
  while (serve.OutputSoFar().find("/\n") == std::string::npos &&
         base::SteadyClock().Now() < deadline) {
    base::SteadyClock().Wait(-1, 0.01);
  }
  const std::string ready = serve.OutputSoFar();
  const size_t url = ready.rfind("http://127.0.0.1");  // the first one names the model
  ASSERT_NE(url, std::string::npos) << ready << serve.ErrorsSoFar();
  base::HttpRequest request;
  request.url = ready.substr(url, ready.rfind('/') - url) + "/v1/completions";
  request.post = true;
  request.body = R"({"model": "made:plain", "prompt": "q\n", "max_tokens": 24})";
  model.open_peak = 0;
  base::HttpLoop loop(base::HttpSettings{});
  std::vector<base::BodySink> sinks(4);
  for (base::BodySink& sink : sinks) {
    ASSERT_TRUE(loop.Start(request, &sink).has_value());
  }
  while (loop.active() > 0) {
    ASSERT_TRUE(loop.Wait(1.0).ok());
  }
  for (const base::BodySink& sink : sinks) {
    EXPECT_EQ(sink.answer.end.status, 200) << sink.answer.body;
  }
  EXPECT_EQ(model.open_peak, 1);
  serve.Signal(SIGTERM);
  EXPECT_EQ(serve.Wait().exit_code, 0);
}

// Case R06: a limit that is fixed, or not told.
TEST(RemoteCli, TimeLimitsAreShownInTheHelpAndTheRecord) {
  std::string help;  // on one line
  std::istringstream words(Hyper({"run", "--help-all"}).out);
  for (std::string word; words >> word;) {
    help += word + " ";
  }
  EXPECT_NE(help.find("--timeout"), std::string::npos);
  EXPECT_NE(help.find("0: no limit [300s]"), std::string::npos);
  ScriptedModel model(WriteAnswer);
  model.delay_ms = 2;
  ScriptedServer server(model.handler());
  const TemporaryFolder folder;
  const std::string trace = folder.File("trace.jsonl");
  const std::vector<std::string> run = {"run",      "--engine", server.url(), "--method", "sc",
                                        "--preset", "short",    "--width",    "1",        "--json",
                                        "--trace",  trace,      "q"};
  const auto with = [&run](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    const ProcessResult result = Hyper(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  };
  const Json standard = with({});
  EXPECT_EQ(standard["remote"], (Json{{"connect_timeout", 10.0},
                                      {"timeout", 300.0},
                                      {"retries", 4},
                                      {"max_streams", 8192},
                                      {"grant", 0}}));
  const Json endless = with({"--timeout", "0", "--retries", "2"});
  EXPECT_EQ(endless["answer"], "42");
  EXPECT_EQ(endless["remote"]["timeout"], 0);
  EXPECT_EQ(endless["remote"]["retries"], 2);
  const std::string head = ReadWholeFile(trace);
  EXPECT_EQ(Json::parse(head.substr(0, head.find('\n')))["remote"], endless["remote"]);
}

TEST(RemoteCli, StudiesAskForNoMoreTokensThanAPathMayHave) {
  ScriptedModel model(WriteAnswer);
  model.context = 100'000;
  std::atomic<int> most{0};
  model.fault = [&most](int, const Json& body, ServerConnection&) {
    most = std::max<int>(most, body["max_tokens"]);
    return false;
  };
  ScriptedServer server(model.handler());
  const TemporaryFolder folder;
  const ProcessResult study =
      Hyper({"eval", "--engine", server.url(), "--methods", "sc", "--questions", "1", "--levels",
             "1", "--width", "2", "--max-tokens", "60", "--study", folder.File("study.db")});
  ASSERT_EQ(study.exit_code, 0) << study.err;
  EXPECT_EQ(most, 60);
}

// A server that answers the probe and then refuses: no answer, so never a wrong one.
TEST(RemoteCli, AStudyOnAServerThatRefusesFailsAndGoesOnLater) {
  ScriptedModel model(WriteAnswer);
  std::atomic<bool> refuses{true};
  model.fault = [&refuses](int, const Json& body, ServerConnection& connection) {
    if (!refuses || body["max_tokens"] < 20) {
      return false;
    }
    connection.Respond(401, R"({"error":{"code":401,"message":"the key has expired"}})");
    return true;
  };
  ScriptedServer server(model.handler());
  const TemporaryFolder folder;
  const std::vector<std::string> eval = {"eval",
                                         "--engine",
                                         server.url(),
                                         "--methods",
                                         "sc",
                                         "--questions",
                                         "2",
                                         "--levels",
                                         "1",
                                         "--width",
                                         "2",
                                         "--study",
                                         folder.File("study.db"),
                                         "--format",
                                         "json"};
  const ProcessResult refused = Hyper(eval);
  EXPECT_EQ(refused.exit_code, 69) << refused.err;
  const std::string words = "the key has expired";
  const size_t said = refused.err.find(words);
  EXPECT_NE(said, std::string::npos) << refused.err;
  const Json row = Json::parse(refused.out)["rows"][0];
  EXPECT_EQ(row["Method"], "sc (!)");
  EXPECT_TRUE(row.value("Acc", Json()).is_null()) << row;
  EXPECT_EQ(row["Acc low"], 0);
  EXPECT_EQ(row["Acc high"], 100);
  refuses = false;
  std::vector<std::string> resume = eval;
  resume.emplace_back("--resume");
  const ProcessResult again = Hyper(resume);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["rows"][0]["Method"], "sc");
}

TEST(RemoteCli, AJudgeIsAskedAboutFreeText) {
  ScriptedModel model(WriteAnswer);
  ScriptedServer server(model.handler());
  std::atomic<int> asked{0};
  ScriptedServer judge([&asked](const HttpMessage&, ServerConnection& connection) {
    ++asked;
    connection.Respond(200,
                       Json({{"choices", {{{"message", {{"content", "correct: yes"}}}}}}}).dump());
  });
  const TemporaryFolder folder;
  const std::string data = WriteFile(
      folder.File("hle.jsonl"),
      R"({"id": "a", "question": "How?", "answer": "forty-two", "answer_type": "exactMatch"})");
  const std::string study = folder.File("study.db");
  const ProcessResult ran =
      Hyper({"eval", "--engine", server.url(), "--suite", "hle", "--data", data, "--methods", "sc",
             "--width", "2", "--max-tokens", "60", "--study", study, "--judge", judge.url()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(asked, 1);
  EXPECT_NE(ran.err.find("asked about 1 answers: 1 right, 0 wrong"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("100.0"), std::string::npos) << ran.out;
  const ProcessResult graded = Hyper({"grade", study, "--judge", judge.url(), "--json"});
  EXPECT_EQ(graded.exit_code, 0) << graded.err;
  EXPECT_EQ(Json::parse(graded.out)["judge"]["asked"], 0);
}

// Case A03: a server that allows one choice a request; paths are requests of one choice each.
TEST(RemoteCli, AServerOfOneChoicePerRequestStillVotes) {
  ScriptedModel model(WriteAnswer);
  std::atomic<int> refused{0};
  ScriptedServer server([&](const HttpMessage& request, ServerConnection& connection) {
    const Json body = Json::parse(request.body, nullptr, false);
    if (body.is_object() && body.value("n", 1) > 1) {
      ++refused;
      connection.Respond(400, R"({"error":{"code":400,"message":"Only one choice is allowed"}})");
    } else {
      model.Handle(request, connection);
    }
  });
  const ProcessResult run = Hyper({"run", "--engine", server.url(), "--method", "sc", "--preset",
                                   "short", "--width", "5", "--json", "q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["answer"], "42");
  EXPECT_EQ(result["voting_paths"], 5);
  EXPECT_EQ(refused, 1) << "only the probe asks for more";
  EXPECT_EQ(model.streams, 5);
}

TEST(RemoteCli, WhatCannotWorkIsRefusedInOneLine) {
  ScriptedServer closed([](const HttpMessage&, ServerConnection&) {});
  closed.Stop();
  const ProcessResult away = Hyper({"run", "--engine", closed.url(), "q"});
  EXPECT_EQ(away.exit_code, 69);
  EXPECT_NE(away.err.find(closed.url()), std::string::npos);
  EXPECT_EQ(Hyper({"run", "--engine", "http://user:pw@h/v1", "q"}).exit_code, 64);
  EXPECT_EQ(Hyper({"run", "--engine", closed.url(), "--retries", "-1", "q"}).exit_code, 64);
  EXPECT_EQ(Hyper({"run", "--engine", closed.url(), "--timeout", "x", "q"}).exit_code, 64);

  ScriptedModel model(WriteAnswer);
  model.dialect = ScriptedModel::Dialect::kVllm;
  ScriptedServer mute([&](const HttpMessage& request, ServerConnection& connection) {
    HttpMessage without = request;
    Json body = Json::parse(request.body, nullptr, false);
    if (body.is_object()) {
      body.erase("logprobs");
      without.body = body.dump();
    }
    model.Handle(without, connection);
  });
  const ProcessResult refused = Hyper({"run", "--engine", mute.url(), "--preset", "short", "q"});
  EXPECT_EQ(refused.exit_code, 69);
  EXPECT_NE(refused.err.find("--method sc"), std::string::npos) << refused.err;
  const ProcessResult plain = Hyper({"run", "--engine", mute.url(), "--preset", "short", "--width",
                                     "2", "--method", "sc", "--json", "q"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(Json::parse(plain.out)["answer"], "42");
}

}  // namespace
}  // namespace hyper::test
