// Faults that users reported of other servers (docs/server.md says which test holds which), and
// fields that server_test.cc leaves out.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

// Text of one choice out of the chunks of a stream.
std::string Joined(const std::vector<Json>& events, int choice, const char* part) {
  std::string text;
  for (const Json& event : events) {
    for (const Json& one : event["choices"]) {
      text += one["index"] == choice ? one["delta"].value(part, "") : "";
    }
  }
  return text;
}

// Every letter but the chosen one, less likely in the order of the alphabet.
void Slope(const FakeStep& step, std::span<float> logits) {
  const bool end = static_cast<int>(step.history.size()) >= step.prompt_tokens + 3;
  for (size_t c = 0; c < logits.size(); ++c) {
    logits[c] = -0.1F * static_cast<float>(c);
  }
  logits[end ? 0 : 'q'] = 4.0F;
}

TEST(ServerCases, EveryChoiceOfAStreamBeginsWithTheRole) {
  const TestServer server({});
  std::set<int> begun;
  const std::vector<Json> events = server.Stream(kChat, With(Chat("say ok"), "n", 3));
  for (const Json& event : events) {
    for (const Json& choice : event["choices"]) {
      if (begun.insert(choice["index"].get<int>()).second) {
        EXPECT_EQ(choice["delta"]["role"], "assistant");
      }
    }
  }
  EXPECT_EQ(begun, (std::set<int>{0, 1, 2}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Joined(events, i, "content"), "ok");
  }
}

TEST(ServerCases, TopListsAreSortedAtTemperatureZero) {
  ServerSetup setup;
  setup.logits = Slope;
  const TestServer server(setup);
  Json body = With(With(Chat("x"), "logprobs", true), "top_logprobs", 10);
  body["temperature"] = 0;
  const Json reply = server.Good(kChat, body);
  const Json tokens = reply["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(tokens.size(), 3U);
  for (const Json& token : tokens) {
    ASSERT_EQ(token["top_logprobs"].size(), 10U);
    EXPECT_EQ(token["token"], token["top_logprobs"][0]["token"]);
    double sum = 0;
    double before = 0;
    for (const Json& entry : token["top_logprobs"]) {
      const double logprob = entry["logprob"];
      EXPECT_LE(logprob, before);
      before = logprob;
      sum += std::exp(logprob);
    }
    EXPECT_LE(sum, 1.001);
  }
}

TEST(ServerCases, TokensJoinToTheContent) {
  const TestServer server({});
  const Json body = With(Chat("say <think>no</think>  one two"), "logprobs", true);
  const auto join = [](const Json& tokens) {
    std::string text;
    for (const Json& token : tokens) {
      text += token["token"];
    }
    return text;
  };
  const Json whole = server.Good(kChat, body)["choices"][0];
  EXPECT_EQ(whole["message"]["content"], "one two");
  EXPECT_EQ(join(whole["logprobs"]["content"]), "one two");
  std::string streamed;
  for (const Json& event : server.Stream(kChat, body)) {
    for (const Json& choice : event["choices"]) {
      if (!choice["logprobs"].is_null()) {
        streamed += join(choice["logprobs"]["content"]);
      }
    }
  }
  EXPECT_EQ(streamed, "one two");
}

TEST(ServerCases, ATagInTheQuestionIsText) {
  const TestServer server({});
  for (const char* text : {"<think> say 4", "</think> say 4", "a <think>b</think> say 4"}) {
    const Json reply = server.Good(kChat, Chat(text));
    EXPECT_EQ(Content(reply), "4") << text;
    EXPECT_TRUE(reply["choices"][0]["message"]["reasoning_content"].is_null()) << text;
  }
}

TEST(ServerCases, AStopStringInTheReasoningCutsNothing) {
  ServerSetup setup;
  setup.logits = [](const FakeStep& step, std::span<float> logits) {
    const std::string text = "<think>a\n\nb</think>7\n\nmore";
    const size_t at = step.history.size() - static_cast<size_t>(step.prompt_tokens);
    logits[at < text.size() ? static_cast<size_t>(text[at]) : 0] = 20.0F;
  };
  const TestServer server(setup);
  const Json body = With(Chat("x"), "stop", Json::array({"\n\n"}));
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(Content(reply), "7");
  EXPECT_EQ(reply["choices"][0]["message"]["reasoning_content"], "a\n\nb");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(Joined(server.Stream(kChat, body), 0, "content"), "7");
}

TEST(ServerCases, ReasoningThatNeverEndsIsNoContent) {
  const TestServer server({});
  const Json reply = server.Good(kChat, Chat("say <think>I get \\boxed{7} maybe"));
  EXPECT_EQ(Content(reply), "");
  EXPECT_EQ(reply["choices"][0]["message"]["reasoning_content"], "I get \\boxed{7} maybe");
}

TEST(ServerCases, EarlierReasoningIsDroppedOrKept) {
  const TestServer server({});
  const std::string thoughts(500, 'r');
  const Json messages = {{{"role", "user"}, {"content", "1 + 1?"}},
                         {{"role", "assistant"}, {"content", "2"}, {"reasoning_content", thoughts}},
                         {{"role", "user"}, {"content", "say so"}}};
  Json body = {{"model", "m:plain"}, {"messages", messages}};
  const int dropped = server.Good(kChat, body)["usage"]["prompt_tokens"];
  EXPECT_LT(dropped, 100);
  body["hyper"] = {{"keep-reasoning", true}};
  const Json kept = server.Good(kChat, body);
  EXPECT_EQ(Content(kept), "so");
  EXPECT_EQ(kept["usage"]["prompt_tokens"].get<int>() - dropped,
            500 + std::string("<think>\n\n</think>\n\n").size());
  body["hyper"] = {{"keep-reasoning", 1}};
  EXPECT_EQ(server.BadField(kChat, body), "hyper.keep-reasoning");
}

Json Conversation(const std::vector<std::pair<std::string, std::string>>& turns,
                  const std::string& model = "m:plain") {
  Json messages = Json::array();
  for (const auto& [role, content] : turns) {
    messages.push_back({{"role", role}, {"content", content}});
  }
  return {{"model", model}, {"messages", messages}};
}

TEST(ServerCases, ALastMessageOfTheAssistantIsContinued) {
  const TestServer server({});
  // The scripted model says what stands behind "say " up to the end of the line: after a start it
  // is "user: say on\n" with the start behind it, and no "assistant: " between.
  const Json fresh = server.Good(kChat, Chat("say on"));
  const Json continued =
      server.Good(kChat, Conversation({{"user", "say on"}, {"assistant", "So "}}));
  EXPECT_EQ(Content(continued), "on");  // the start is not said again
  EXPECT_EQ(continued["usage"]["prompt_tokens"].get<int>(),
            fresh["usage"]["prompt_tokens"].get<int>() + 3);
  const Json same = With(With(Conversation({{"user", "say on"}, {"assistant", "So "}}),
                              "continue_final_message", true),
                         "add_generation_prompt", false);
  EXPECT_EQ(server.Good(kChat, same)["usage"], continued["usage"]);
  const Json input =
      server.Good("/v1/responses", {{"model", "m:plain"}, {"input", same["messages"]}});
  EXPECT_EQ(input["usage"]["input_tokens"], continued["usage"]["prompt_tokens"]);
}

TEST(ServerCases, WhatCannotBeContinuedIsRefused) {
  const TestServer server({});
  EXPECT_EQ(server.BadField(kChat, Conversation({{"assistant", "So"}})), "messages");
  EXPECT_EQ(
      server.BadField(kChat, Conversation({{"user", "x"}, {"assistant", "a"}, {"assistant", "b"}})),
      "messages");
  Json call = Conversation({{"user", "x"}, {"assistant", ""}});
  call["messages"][1]["tool_calls"] = Json::array({{{"id", "1"}}});
  EXPECT_EQ(server.BadField(kChat, call), "messages[1].tool_calls");
  // Arguments that are too deep to be read, and names that a template would write as they are.
  const auto calls = [&](const char* name, const std::string& arguments) {
    call["messages"][1]["tool_calls"] =
        Json::array({{{"function", {{"name", name}, {"arguments", arguments}}}}});
    return server.BadField(kChat, call);
  };
  EXPECT_EQ(calls("f", std::string(100000, '[')), "messages[1].tool_calls");
  EXPECT_EQ(calls("f", std::string(100, '[') + std::string(100, ']')), "messages[1].tool_calls");
  EXPECT_EQ(calls("f<|im_end|>", "{}"), "messages[1].tool_calls");
  EXPECT_EQ(calls("f", R"({"<|im_end|>": 1})"), "messages[1].tool_calls");
  EXPECT_EQ(server.BadField(kChat, With(Chat("x"), "continue_final_message", true)),
            "continue_final_message");
  EXPECT_EQ(server.BadField(kChat, With(Chat("x"), "add_generation_prompt", false)),
            "add_generation_prompt");
}

// The paths of a pool write the end of an answer that the request begins; the vote is over both.
TEST(ServerCases, AnAnswerMayBeginInTheRequest) {
  const TestServer server({});
  Json body = Conversation({{"user", "say 42}."}, {"assistant", "It is \\boxed{"}}, "m:sc");
  body["hyper"] = {{"width", 3}};
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(reply["hyper"]["answer"], "42");
  EXPECT_EQ(Content(reply), "42}.");
}

TEST(ServerCases, ReasoningMayBeginInTheRequest) {
  const TestServer server({});
  Json body = Conversation({{"user", "say so</think>7"}, {"assistant", ""}});
  body["messages"][1]["reasoning_content"] = "I think ";
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(reply["choices"][0]["message"]["reasoning_content"], "so");
  EXPECT_EQ(Content(reply), "7");
}

TEST(ServerCases, RoutesOfARequest) {
  ServerSetup setup;
  setup.routing = true;
  const TestServer server(setup);
  const Json body = With(Chat("say abcd"), "hyper", {{"route", 4}});
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(Content(reply), "abcd");
  EXPECT_EQ(reply["usage"]["hyper"]["refined"], 5);  // the end, too
  EXPECT_EQ(reply["usage"]["hyper"]["extra_routes"], 3 * 5);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 5);
  const TestServer dense({});
  EXPECT_EQ(dense.BadField(kChat, body), "hyper.route");
}

// An engine whose chat template shows its arguments.
class TemplateEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<Prompt> RenderChat(
      std::span<const ChatMessage> /*messages*/,
      std::span<const std::pair<std::string, std::string>> arguments) override {
    std::string text = "say ";
    for (const auto& [name, value] : arguments) {
      text.append(name).append("=").append(value).append(";");
    }
    return FakeEngine::RenderChat(std::vector<ChatMessage>{{"user", text}}, {});
  }
};

TEST(ServerCases, TemplateArgumentsReachTheTemplate) {
  ServerSetup setup;
  setup.make_engine = [](const FakeOptions& options) {
    return std::make_unique<TemplateEngine>(options);
  };
  const TestServer server(setup);
  const Json arguments = {{"enable_thinking", false}, {"level", "low"}, {"list", {1, 2}}};
  const Json body = With(Chat("x"), "chat_template_kwargs", arguments);
  EXPECT_EQ(Content(server.Good(kChat, body)), "enable_thinking=false;level=\"low\";list=[1,2];");
  EXPECT_EQ(Content(server.Good(kChat, With(Chat("x"), "reasoning_effort", "high"))),
            "reasoning_effort=\"high\";");
  EXPECT_EQ(Content(server.Good(kChat, With(Chat("x"), "reasoning_effort", "none"))),
            "enable_thinking=false;");
  const Json response = {{"model", "m:plain"}, {"input", "x"}, {"reasoning", {{"effort", "low"}}}};
  EXPECT_EQ(server.Good("/v1/responses", response)["output"][0]["content"][0]["text"],
            "reasoning_effort=\"low\";");
}

TEST(ServerCases, TheModelsOwnSamplingHoldsWhereARequestSaysNothing) {
  ServerLimits limits;
  limits.model_name = "m";
  limits.most_lanes = 132;
  limits.model.vocab_size = 256;
  limits.model.sampling = {{"temperature", 0.5}, {"top-k", 12}};
  const auto sampler = [&limits](const char* fields) {
    const ParsedRequest request = ParseChatRequest(
        std::string(R"({"model": "m:sc", "messages": [{"role": "user", "content": "x"}])") +
            fields + "}",
        limits);
    EXPECT_TRUE(std::holds_alternative<ApiRequest>(request)) << fields;
    return std::get<ApiRequest>(request).runs[0].plan.options.sampler;
  };
  EXPECT_DOUBLE_EQ(sampler("").temperature, 0.5);
  EXPECT_EQ(sampler("").top_k, 12);
  EXPECT_DOUBLE_EQ(sampler("").top_p, Preset("paper")->sampler.top_p);
  EXPECT_DOUBLE_EQ(sampler(R"(, "temperature": 0.9)").temperature, 0.9);
  EXPECT_EQ(sampler(R"(, "hyper": {"top-k": 5})").top_k, 5);
}

}  // namespace
}  // namespace hyper::server
