// Streams that a lane has to begin again: with which prompt and seed, how soon, for how many
// tokens, and what is charged.
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "tests/support/one_server.h"
#include "tests/support/scripted_clock.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::Quick;
using test::ScriptedModel;
using test::ScriptedServer;
using test::SendText;
using test::ServerConnection;
using WireJson = nlohmann::json;

class Restarts : public test::OneServer {
 protected:
  // Polls for a while.
  void PollFor(double seconds) {
    const double deadline = clock_.Now() + seconds;
    while (clock_.Now() < deadline) {
      ASSERT_TRUE(engine_->Poll(0.3).has_value());
    }
  }

  // Refuses requests whose prompt and tokens go beyond `most`, in these words.
  void RefuseBeyond(int most, const std::string& words) {
    model_.fault = [this, most, words](int, const WireJson& body, ServerConnection& connection) {
      const auto prompt = static_cast<int>(test::PromptOf(body).size());
      asked_ = body["max_tokens"];
      if (prompt + asked_ <= most) {
        return false;
      }
      connection.Respond(400, WireJson{{"error", {{"message", words}, {"code", 400}}}}.dump());
      return true;
    };
  }

  std::atomic<int> asked_{0};
};

void SendBytes(ServerConnection& connection, const std::vector<int>& bytes) {
  const WireJson token = {
      {"token", ""}, {"bytes", bytes}, {"logprob", -0.5}, {"top_logprobs", WireJson::array()}};
  const WireJson chunk = {{"choices", {{{"text", ""}, {"logprobs", {{"content", {token}}}}}}}};
  connection.Send("data: " + chunk.dump() + "\n\n");
}

// The first byte of the character is repeated, the second never.
TEST_F(Restarts, APartOfASplitCharacterIsNoProgress) {
  std::mutex mutex;
  std::vector<uint32_t> seeds;
  model_.fault = [&](int number, const WireJson& body, ServerConnection& connection) {
    connection.BeginStream();
    if (number == 0) {
      for (const std::vector<int>& bytes : {std::vector{0x78}, {0xF0, 0x9F}, {0x8C, 0x8D}}) {
        SendBytes(connection, bytes);
      }
    } else {
      const std::lock_guard lock(mutex);
      seeds.push_back(body["seed"]);
      SendBytes(connection, {0xF0});
      SendBytes(connection, {0x90, 0x80, 0x80});
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
  ASSERT_TRUE(engine_->Grant(child, 2).ok());
  PollFor(1.2);
  const std::lock_guard lock(mutex);
  EXPECT_GE(seeds.size(), 2U);
  EXPECT_LE(seeds.size(), 8U) << "later tries wait";
  EXPECT_EQ(std::set(seeds.begin(), seeds.end()).size(), seeds.size()) << "each has its own seed";
}

TEST_F(Restarts, ARefusalThatStatesTheContextIsRepeatedWithinIt) {
  RefuseBeyond(40,
               "'max_tokens' or 'max_completion_tokens' is too large: 4093. This model's maximum "
               "context length is 40 tokens and your request has 3 input tokens");
  Connect();
  EXPECT_EQ(Read(Open(), 10), "abcdefghij");
  EXPECT_EQ(model_.streams, 2);
  EXPECT_EQ(asked_, 37);
  EXPECT_NE(notices_.find("maximum context length is 40"), std::string::npos) << notices_;
  EXPECT_EQ(Read(Open(2), 10), "abcdefghij");
  EXPECT_EQ(model_.streams, 3) << "it is known now";
}

TEST_F(Restarts, ARefusalWithoutANumberIsRepeatedForHalfAsManyTokens) {
  RefuseBeyond(300, "this exceeds the context length");
  Connect();
  EXPECT_EQ(Read(Open(), 10), "abcdefghij");
  EXPECT_EQ(asked_, 4093 / 16);
  EXPECT_EQ(model_.streams, 5);
}

TEST_F(Restarts, WhereNotOneTokenFitsTheContextIsFullAndThatIsSaid) {
  RefuseBeyond(6, "this exceeds the context length");
  RemoteOptions options = Quick();
  options.grant_tokens = 3;
  Connect(options);
  EXPECT_EQ(Read(Open(), 10), "abc");
  EXPECT_EQ(last_.kind, EventKind::kEnd);
  EXPECT_EQ(last_.end_reason, EndReason::kContextFull);
  EXPECT_EQ(asked_, 1);
  EXPECT_NE(notices_.find("exceeds the context length"), std::string::npos) << notices_;
}

// Nothing was written: that is no answer of the model, as an answer cut short would be.
TEST_F(Restarts, APromptThatDoesNotFitFailsTheLane) {
  RefuseBeyond(2, "this exceeds the context length");
  Connect();
  EXPECT_EQ(Read(Open(), 10), "");
  EXPECT_EQ(last_.kind, EventKind::kFailed);
  EXPECT_EQ(last_.error.message,
            "the prompt does not fit the server's context: HTTP 400: this exceeds the context "
            "length");
  EXPECT_EQ(asked_, 1);
  EXPECT_NE(notices_.find("exceeds the context length"), std::string::npos) << notices_;
}

// A stream that ends at once, whatever reason it gives, is asked for again and then given up.
TEST_F(Restarts, AnEmptyCompletionIsNoAnswer) {
  const char* ends[] = {"data: [DONE]\n\n",
                        "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n", ""};
  for (const char* end : ends) {
    model_.streams = 0;
    model_.fault = [end](int, const WireJson&, ServerConnection& connection) {
      connection.BeginStream();
      if (*end != '\0') {
        connection.Send(end);
      }
      connection.EndStream();
      return true;
    };
    Connect();
    EXPECT_EQ(Read(Open(), 2), "");
    EXPECT_EQ(last_.kind, EventKind::kFailed) << end;
    EXPECT_NE(last_.error.message.find("given up after 3 attempts"), std::string::npos)
        << last_.error.message;
    EXPECT_EQ(model_.streams, 3);
  }
  model_.streams = 0;
  model_.fault = [](int number, const WireJson&, ServerConnection& connection) {
    connection.BeginStream();
    if (number == 0) {
      SendText(connection, "a");
    }
    connection.Send("data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n");
    connection.EndStream();
    return true;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 2), "a");
  EXPECT_EQ(last_.kind, EventKind::kEnd) << "an end behind a text is the model's";
}

// What comes without numbers is sent as text; the prompt's numbers stay.
TEST_F(Restarts, ThePromptStaysInNumbersBeforeATextWithoutThem) {
  WireJson prompt;
  model_.fault = [&prompt](int number, const WireJson& body, ServerConnection& connection) {
    if (number > 0) {
      prompt = body["prompt"];
    }
    if (number > 0) {
      return false;
    }
    connection.BeginStream();
    for (const char* text : {"a", "b"}) {
      SendText(connection, text);
    }
    connection.CloseAfterwards();
    return true;
  };
  Connect();
  EXPECT_EQ(Read(Open(), 4), "abcd");
  EXPECT_EQ(prompt, WireJson({'q', ':', ' ', "ab"})) << prompt;
}

// Between numbers and a text such a tokenizer would put a space that the text has not.
TEST(RestartsOfServers, ThatPutASpaceBeforeEachTextGetAllAsText) {
  ScriptedModel model(test::WriteAlphabet);
  std::mutex mutex;
  WireJson prompt;
  model.fault = [&](int number, const WireJson& body, ServerConnection& connection) {
    const std::lock_guard lock(mutex);
    if (number > 0) {
      prompt = body["prompt"];
    }
    if (number > 0) {
      return false;
    }
    connection.BeginStream();
    SendText(connection, "a");
    connection.CloseAfterwards();
    return true;
  };
  ScriptedServer server([&](const HttpMessage& request, ServerConnection& connection) {
    HttpMessage spaced = request;
    if (request.path == "/tokenize") {
      WireJson body = WireJson::parse(request.body);
      body["content"] = " " + body["content"].get<std::string>();
      spaced.body = body.dump();
    }
    model.Handle(spaced, connection);
  });
  RemoteOptions options = Quick();
  options.urls = {server.url()};
  test::ScriptedClock clock;
  const std::unique_ptr<Engine> engine = std::move(*remote::MakeEngine(options, clock));
  const LaneId lane = *engine->Open(*engine->Tokenize("q: ", false), LaneSpec());
  ASSERT_TRUE(engine->Grant(lane, 2).ok());
  std::string text;
  const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
  while (text.size() < 2 && base::SteadyClock().Now() < deadline) {
    const Result<std::span<const Event>> events = engine->Poll(0.05);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      text += event.kind == EventKind::kToken ? engine->TokenText(event.token) : "";
    }
  }
  EXPECT_EQ(text, "ab");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(prompt, WireJson(" q: a"));
}

TEST(RestartsOfServers, AServerThatComputedNothingIsNotChargedFor) {
  ScriptedModel model(test::WriteAlphabet);
  auto dying = std::make_unique<ScriptedServer>(model.handler());
  ScriptedServer staying(model.handler());
  RemoteOptions options = Quick();
  options.urls = {dying->url(), staying.url()};
  test::ScriptedClock clock;
  const std::unique_ptr<Engine> engine = std::move(*remote::MakeEngine(options, clock));
  const std::vector<Token> prompt = *engine->Tokenize("q: ", false);
  model.fault = [](int number, const WireJson&, ServerConnection& connection) {
    if (number == 0) {
      connection.Respond(429, R"({"error":{"message":"slow down"}})");
    }
    return number == 0;
  };
  dying.reset();
  const LaneId lane = *engine->Open(prompt, LaneSpec());
  ASSERT_TRUE(engine->Grant(lane, 2).ok());
  int tokens = 0;
  const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
  while (tokens < 2 && base::SteadyClock().Now() < deadline) {
    const Result<std::span<const Event>> events = engine->Poll(0.05);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      tokens += event.kind == EventKind::kToken ? 1 : 0;
    }
  }
  EXPECT_EQ(tokens, 2);
  EXPECT_EQ(model.streams, 2);
  EXPECT_EQ(engine->cost().recomputed_tokens, 0);
  EXPECT_EQ(engine->cost().prefill_tokens, static_cast<int64_t>(prompt.size()));
}

}  // namespace
}  // namespace hyper
