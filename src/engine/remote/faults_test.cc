// What can go wrong between a remote engine and its servers: each fault is recognised, told in
// words, and survived.
#include <gtest/gtest.h>

#include <functional>
#include <mutex>

#include "hyper/ask.h"
#include "src/engine/remote/remote_engine.h"
#include "tests/support/one_server.h"
#include "tests/support/scripted_clock.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;
using WireJson = nlohmann::json;

using test::Quick;
using test::SendText;
using test::WriteAlphabet;

class Faults : public test::OneServer {};

TEST_F(Faults, AStreamThatBreaksOffGoesOnFromItsPrefix) {
  model_.fault = [](int number, const WireJson&, ServerConnection& connection) {
    if (number > 0) {
      return false;
    }
    connection.BeginStream();
    for (const char* text : {"a", "b", "c"}) {
      SendText(connection, text);
    }
    connection.CloseAfterwards();  // no end
    return true;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 8), "abcdefgh");
  EXPECT_EQ(model_.last_prompt, 3 + 3) << "sent as text, as its tokens came without numbers";
  EXPECT_EQ(last_.kind, EventKind::kBoundary);
}

TEST_F(Faults, OverloadIsWaitedForAsTheServerAsks) {
  model_.fault = [](int number, const WireJson&, ServerConnection& connection) {
    if (number > 0) {
      return false;
    }
    connection.Respond(429, R"({"error":{"message":"slow down"}})", "Retry-After: 1\r\n");
    return true;
  };
  Connect();
  const double begin = clock_.Now();
  EXPECT_EQ(Read(Open(), 2), "ab");
  EXPECT_GE(clock_.Now() - begin, 1.0);
}

TEST_F(Faults, ASilentServerIsAskedThreeTimesThenGivenUp) {
  constexpr double kTimeoutS = 5;
  model_.fault = [&](int, const WireJson&, ServerConnection& connection) {
    clock_.Advance(kTimeoutS);
    connection.AwaitHangUp();
    return true;
  };
  RemoteOptions options = Quick();
  options.timeout_s = kTimeoutS;
  Connect(options);
  EXPECT_EQ(Read(Open(), 2), "");
  EXPECT_EQ(last_.kind, EventKind::kFailed);
  EXPECT_EQ(last_.error.message, "given up after 3 attempts: no token for 5 s (--timeout)");
  EXPECT_EQ(model_.streams, 3);
}

TEST_F(Faults, RefusalsAreNotRepeatedAndKeepTheServersWordsButNotTheKey) {
  model_.fault = [](int, const WireJson&, ServerConnection& connection) {
    connection.Respond(400, R"({"error":{"message":"no such thing for sk-secret"}})");
    return true;
  };
  RemoteOptions options = Quick();
  options.api_key = "sk-secret";
  Connect(options);
  EXPECT_EQ(Read(Open(), 2), "");
  EXPECT_EQ(last_.error.message, "HTTP 400: no such thing for (key)");
  EXPECT_EQ(model_.streams, 1);
}

TEST_F(Faults, AnErrorUnderStatus200) {
  model_.fault = [](int, const WireJson&, ServerConnection& connection) {
    connection.Respond(200, R"({"error":{"message":"bad prompt","code":400}})");
    return true;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 2), "");
  EXPECT_EQ(last_.error.message, "the server answered with an error: bad prompt");
}

TEST_F(Faults, AnErrorInTheStreamAndHtmlInsteadOfJson) {
  model_.fault = [](int number, const WireJson&, ServerConnection& connection) {
    if (number == 0) {
      connection.BeginStream();
      SendText(connection, "a");
      connection.Send("event: error\ndata: {\"error\":{\"message\":\"oom\",\"code\":500}}\n\n");
      connection.EndStream();
    } else if (number == 1) {
      connection.Respond(502, "<html>bad gateway</html>");
    }
    return number < 2;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 3), "abc");
  EXPECT_EQ(model_.streams, 3);
}

TEST_F(Faults, ACompletionThatIsNotStreamedCountsToo) {
  model_.fault = [](int, const WireJson&, ServerConnection& connection) {
    connection.Respond(200, R"({"choices":[{"text":"xyz","finish_reason":"stop"}]})");
    return true;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 3), "xyz");
  EXPECT_EQ(last_.kind, EventKind::kEnd);
}

TEST_F(Faults, MoreTokensThanAskedForEndTheLane) {
  model_.fault = [](int, const WireJson&, ServerConnection& connection) {
    connection.BeginStream();
    while (!connection.PeerGone()) {
      SendText(connection, "a");
    }
    connection.CloseAfterwards();
    return true;
  };
  RemoteOptions options = Quick();
  options.stream_tokens = 5;
  options.waiting_tokens = 100;
  Connect(options);
  Read(Open(), 50);
  EXPECT_EQ(last_.kind, EventKind::kFailed);
  EXPECT_NE(last_.error.message.find("5 were asked for"), std::string::npos);
}

TEST_F(Faults, AllZeroLogprobsAreNoConfidence) {
  model_.edit = [](int, WireJson& chunk) {
    WireJson& choice = chunk["choices"][0];
    if (!choice["logprobs"].is_object()) {
      return;
    }
    WireJson& token = choice["logprobs"]["content"][0];
    token["logprob"] = 0.0;
    for (WireJson& entry : token["top_logprobs"]) {
      entry["logprob"] = 0.0;
    }
  };
  Connect();
  EXPECT_EQ(Read(Open(), 5), "abcde");
  EXPECT_EQ(with_list_, 0);
  EXPECT_NE(notices_.find("degenerate log-probabilities"), std::string::npos);
  EXPECT_EQ(notices_.find("degenerate"), notices_.rfind("degenerate")) << "said once";
}

// Floored, a NaN would make its token look very sure.
TEST_F(Faults, NanLogprobsAreNoConfidence) {
  model_.edit = [](int event, WireJson& chunk) {
    WireJson& choice = chunk["choices"][0];
    if (event % 2 == 0 || !choice["logprobs"].is_object()) {
      return;
    }
    WireJson& token = choice["logprobs"]["content"][0];
    token["logprob"] = "NaN";
    for (WireJson& entry : token["top_logprobs"]) {
      entry["logprob"] = "NaN";
    }
  };
  Connect();
  EXPECT_EQ(Read(Open(), 6), "abcdef");
  EXPECT_EQ(with_list_, 3);
  EXPECT_NE(notices_.find("not numbers"), std::string::npos) << notices_;
  EXPECT_EQ(notices_.find("degenerate"), notices_.rfind("degenerate")) << "said once";
}

// As servers write a NaN or an infinity that their JSON library does not know.
TEST_F(Faults, ListsOfNullsAreNoConfidence) {
  model_.edit = [](int, WireJson& chunk) {
    WireJson& choice = chunk["choices"][0];
    if (!choice["logprobs"].is_object()) {
      return;
    }
    for (WireJson& entry : choice["logprobs"]["content"][0]["top_logprobs"]) {
      entry["logprob"] = nullptr;
    }
  };
  Connect();
  EXPECT_EQ(Read(Open(), 5), "abcde");
  EXPECT_EQ(with_list_, 0);
}

TEST_F(Faults, OneEmptyListInTheMiddle) {
  model_.edit = [](int event, WireJson& chunk) {
    WireJson& choice = chunk["choices"][0];
    if (event == 2) {
      choice["logprobs"]["content"][0]["top_logprobs"] = WireJson::array();
    }
  };
  Connect();
  EXPECT_EQ(Read(Open(), 5), "abcde");
  EXPECT_EQ(with_list_, 4);
}

TEST_F(Faults, RepeatedListsAreNoConfidence) {
  model_.edit = [first = WireJson()](int, WireJson& chunk) mutable {
    WireJson& choice = chunk["choices"][0];
    if (!choice["logprobs"].is_object()) {
      return;
    }
    WireJson& list = choice["logprobs"]["content"][0]["top_logprobs"];
    if (first.is_null()) {
      first = list;
    }
    list = first;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 20).size(), 20U);
  EXPECT_LT(with_list_, 10);
  EXPECT_NE(notices_.find("again and again"), std::string::npos);
}

// A prompt whose numbers are known up to a text.
WireJson AsNumbersThenText(const std::string& known, const std::string& text) {
  WireJson prompt = WireJson::array();
  for (const char c : known) {
    prompt.push_back(static_cast<int>(c));
  }
  prompt.push_back(text);
  return prompt;
}

// Both halves of a character come as tokens of their own; the fork lies between them.
TEST_F(Faults, AForkInsideACharacterKeepsTheText) {
  model_.fault = [](int number, const WireJson& body, ServerConnection& connection) {
    const auto send = [&connection](const std::vector<int>& bytes) {
      WireJson token = {
          {"token", ""}, {"bytes", bytes}, {"logprob", -0.5}, {"top_logprobs", WireJson::array()}};
      const WireJson chunk = {{"choices", {{{"text", ""}, {"logprobs", {{"content", {token}}}}}}}};
      connection.Send("data: " + chunk.dump() + "\n\n");
    };
    connection.BeginStream();
    if (number == 0) {
      send({'x'});
      send({0xF0, 0x9F});
      send({0x8C, 0x8D});
    } else if (number == 1) {  // another character: refused
      EXPECT_EQ(body["prompt"], AsNumbersThenText("q: ", "x"));
      send({0xE4, 0xBD, 0xA0});
    } else {
      EXPECT_EQ(body["prompt"], AsNumbersThenText("q: ", "x"));
      send({0xF0, 0x9F, 0x8C, 0x8E});
      send({'!'});
    }
    connection.AwaitHangUp();
    return true;
  };
  Connect();
  const LaneId lane = Open();
  EXPECT_EQ(Read(lane, 2), "x\xF0\x9F");
  LaneSpec spec;
  spec.path_key = 2;
  const LaneId child = *engine_->Fork(lane, 3 + 2, spec);
  EXPECT_EQ(Read(child, 2), "\x8C\x8E!");
  EXPECT_EQ(Read(lane, 1), "\x8C\x8D") << "the parent is not disturbed";
}

TEST(Replicas, TheLanesOfADeadOneGoOnElsewhereAndItComesBack) {
  ScriptedModel first(WriteAlphabet);
  ScriptedModel second(WriteAlphabet);
  first.delay_ms = second.delay_ms = 2;
  auto dying = std::make_unique<ScriptedServer>(first.handler());
  const int port = dying->port();
  ScriptedServer staying(second.handler());
  RemoteOptions options = Quick();
  options.urls = {dying->url(), staying.url()};
  options.waiting_tokens = 8;  // the clock stands while streams run ahead
  test::ScriptedClock clock;
  Result<std::unique_ptr<Engine>> engine = remote::MakeEngine(options, clock);
  ASSERT_TRUE(engine.has_value()) << engine.error().message;
  const std::vector<Token> prompt = *(*engine)->Tokenize("q: ", false);
  std::map<LaneId, std::string> texts;
  int recomputed = 0;
  const auto round = [&](int tokens) {
    for (const auto& [lane, text] : texts) {
      ASSERT_TRUE((*engine)->Grant(lane, tokens).ok());
    }
    size_t boundaries = 0;
    const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
    while (boundaries < texts.size() && base::SteadyClock().Now() < deadline) {
      const Result<std::span<const Event>> events = (*engine)->Poll(0.05);
      ASSERT_TRUE(events.has_value());
      for (const Event& event : *events) {
        ASSERT_NE(event.kind, EventKind::kFailed) << event.error.message;
        boundaries += event.kind == EventKind::kBoundary ? 1 : 0;
        if (event.kind != EventKind::kToken) {
          continue;
        }
        texts[event.lane] += (*engine)->TokenText(event.token);
        recomputed += event.recomputed_tokens;
      }
    }
    ASSERT_EQ(boundaries, texts.size());
  };
  for (uint64_t key = 0; key < 4; ++key) {
    LaneSpec spec;
    spec.path_key = key;
    texts[*(*engine)->Open(prompt, spec)] = "";
  }
  round(4);
  EXPECT_EQ(first.streams, 2);
  EXPECT_EQ(second.streams, 2);
  dying.reset();
  round(20);
  std::string alphabet;
  for (int i = 0; i < 24; ++i) {
    alphabet += static_cast<char>('a' + i % 26);
  }
  for (const auto& [lane, text] : texts) {
    EXPECT_EQ(text, alphabet);
  }
  EXPECT_EQ(second.streams, 4);
  EXPECT_GE(recomputed, 2 * 7) << "two lanes were prefilled again";
  ScriptedServer back(first.handler(), port);
  clock.Advance(1.1);
  texts.clear();
  for (uint64_t key = 10; key < 14; ++key) {
    LaneSpec spec;
    spec.path_key = key;
    texts[*(*engine)->Open(prompt, spec)] = "";
  }
  round(4);
  EXPECT_GT(first.streams, 2) << "it is used again";
}

TEST(Connecting, WhatCannotWorkIsSaidInWords) {
  ScriptedServer closed([](const HttpMessage&, ServerConnection&) {});
  const std::string url = closed.url();
  closed.Stop();
  Result<ServerReport> report = ProbeServer(url, {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(report.error().message.find("connect"), std::string::npos) << report.error().message;

  ScriptedServer locked([](const HttpMessage& request, ServerConnection& connection) {
    const auto key = request.headers.find("authorization");
    const std::string sent = key == request.headers.end() ? "nothing" : key->second;
    connection.Respond(401, WireJson{{"error", {{"message", "not valid: " + sent}}}}.dump());
  });
  RemoteOptions options;
  options.api_key = "sk-secret";
  report = ProbeServer(locked.url(), options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("HTTP 401: not valid: Bearer (key)"), std::string::npos)
      << report.error().message;
  EXPECT_NE(report.error().message.find("--engine-key-file"), std::string::npos);

  ScriptedServer chat_only([](const HttpMessage& request, ServerConnection& connection) {
    const bool models = request.path == "/v1/models";
    connection.Respond(models ? 200 : 404, models ? R"({"data":[{"id":"gpt"}]})" : "{}");
  });
  report = ProbeServer(chat_only.url(), {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  options.model = "other";
  report = ProbeServer(chat_only.url(), options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("it has gpt"), std::string::npos);
}

TEST(Connecting, TheProbeFindsWhatTheModelCanDo) {
  ScriptedModel model(WriteAlphabet);
  ScriptedServer server(model.handler());
  const Result<ServerReport> report = ProbeServer(server.url(), {});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  std::map<std::string, std::string> found;
  for (const ServerFinding& finding : report->findings) {
    found[finding.name] = finding.value;
  }
  EXPECT_EQ(found["server"], "llama-server");
  EXPECT_EQ(found["sequences at once"], "64");
  EXPECT_EQ(found["context"], "4096");
  EXPECT_EQ(found["top log-probabilities"], "20 or more");
  EXPECT_EQ(found["raw log-probabilities"], "yes");
  EXPECT_EQ(found["prompts as token ids"], "yes");
  EXPECT_EQ(found["generated token ids"], "yes");
  EXPECT_EQ(found["n > 1"], "yes");
  EXPECT_EQ(found["echo"], "no");
  EXPECT_EQ(found["prefix cache"], "yes");
  EXPECT_EQ(found["chat template"], "/apply-template");
  EXPECT_EQ(found["errors"], "HTTP 400 with a JSON body");
}

}  // namespace
}  // namespace hyper
