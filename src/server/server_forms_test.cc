// Replies that have a form, on a scripted engine whose only grammar is told by the test.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

// The texts that the scripted grammar allows, whole.
const std::vector<std::string> kTexts = {R"({"n": 1})", R"({"n":1.0})", R"({"n": 2})"};

bool Begins(const std::string& /*grammar*/, std::string_view text) {
  for (const std::string& whole : kTexts) {
    if ((whole + '\0').starts_with(text)) {
      return true;
    }
  }
  return false;
}

// An engine that writes the text of kTexts that `choose` names for a path, where its grammar allows
// it; without one it writes x.
ServerSetup Formed(const std::function<size_t(uint64_t key)>& choose) {
  ServerSetup setup;
  setup.logits = [choose](const FakeStep& step, std::span<float> logits) {
    const std::string_view whole = kTexts[choose(step.path_key)];
    const size_t at = step.history.size() - static_cast<size_t>(step.prompt_tokens);
    logits['x'] = 60.0F;  // what only a grammar forbids
    logits[at < whole.size() ? static_cast<size_t>(whole[at]) : 0] = 40.0F;
  };
  setup.make_engine = [](FakeOptions options) {
    options.form = [](const ReplyWish& wish) -> Result<ReplyForm> {
      if (wish.json_schema.find("bad") != std::string::npos) {
        return InvalidArgument("the schema cannot be kept to: bad");
      }
      ReplyForm form;
      form.grammar = std::make_shared<const Grammar>(Grammar{wish.json_schema});
      return form;
    };
    options.allows = Begins;
    return std::make_unique<FakeEngine>(std::move(options));
  };
  return setup;
}

Json Asked(const char* model, Json schema = {{"type", "object"}}) {
  return With(Chat("x", model), "response_format",
              {{"type", "json_schema"}, {"json_schema", {{"schema", std::move(schema)}}}});
}

TEST(ServerForms, AReplyIsKeptToItsForm) {
  const TestServer server(Formed([](uint64_t /*key*/) { return 0; }));
  const Json reply = server.Good(kChat, With(Asked("m:plain"), "n", 3));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Content(reply, i), kTexts[0]);
    EXPECT_EQ(reply["choices"][i]["finish_reason"], "stop");
  }
  std::string streamed;
  for (const Json& event : server.Stream(kChat, Asked("m:plain"))) {
    streamed += event["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(streamed, kTexts[0]);
  EXPECT_EQ(Content(server.Good(kChat, With(Chat("x"), "max_tokens", 2))), "xx");
}

TEST(ServerForms, ARequestWhoseFormCannotBeKeptIsRefused) {
  const TestServer server(Formed([](uint64_t /*key*/) { return 0; }));
  EXPECT_EQ(server.BadField(kChat, Asked("m:plain", {{"title", "bad"}})), "response_format");
  const TestServer without({});
  EXPECT_EQ(without.BadField(kChat, Asked("m:plain")), "response_format");
  EXPECT_EQ(without.BadField("/v1/responses", {{"model", "m:plain"},
                                               {"input", "x"},
                                               {"text", {{"format", {{"type", "json_object"}}}}}}),
            "text.format");
}

// {"n": 1} and {"n":1.0} are one value, so two spellings of two paths win against three paths.
TEST(ServerForms, APoolVotesOverValues) {
  std::set<uint64_t> seen;
  std::vector<uint64_t> order;
  const std::vector<size_t> texts = {2, 0, 1, 2, 1, 0, 2};
  const TestServer server(Formed([&](uint64_t key) {
    if (seen.insert(key).second) {
      order.push_back(key);
    }
    const auto at = std::find(order.begin(), order.end(), key) - order.begin();
    return texts[static_cast<size_t>(at) % texts.size()];
  }));
  const Json reply =
      server.Good(kChat, With(Asked("m:sc"), "hyper", {{"width", 7}, {"max-tokens", 20}}));
  EXPECT_EQ(reply["hyper"]["answer"], R"({"n":1})");
  EXPECT_EQ(reply["hyper"]["voting_paths"], 7);
  EXPECT_EQ(nlohmann::json::parse(Content(reply)), (nlohmann::json{{"n", 1}}));
}

TEST(ServerForms, ACutReplyDoesNotVote) {
  const TestServer server(Formed([](uint64_t /*key*/) { return 0; }));
  const Json reply =
      server.Good(kChat, With(Asked("m:sc"), "hyper", {{"width", 4}, {"max-tokens", 5}}));
  EXPECT_TRUE(reply["hyper"]["answer"].is_null());
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

// An engine on which "#f{..}#" is a call of f, and whose grammar is such a call.
ServerSetup Calling(std::string (*text_of)(uint64_t key)) {
  ServerSetup setup;
  setup.logits = [text_of](const FakeStep& step, std::span<float> logits) {
    std::string whole = text_of(step.path_key);
    const auto begin = static_cast<size_t>(step.prompt_tokens);
    const size_t at = step.history.size() - begin;
    if (at > 0 && step.history[begin] == '#') {
      whole.erase(0, whole.find('#'));
    }
    logits[at < whole.size() ? static_cast<size_t>(whole[at]) : 0] = 40.0F;
    logits['#'] += 20.0F;  // where a grammar forbids the rest
  };
  setup.make_engine = [](FakeOptions options) {
    options.form = [](const ReplyWish& wish) -> Result<ReplyForm> {
      ReplyForm form;
      if (wish.call_required) {
        form.grammar = std::make_shared<const Grammar>(Grammar{"call"});
      }
      form.read = [](std::string_view text, bool whole) {
        ReadReply reply;
        const size_t call = text.find('#');
        reply.content = text.substr(0, call);
        if (call != std::string_view::npos && text.find('{') != std::string_view::npos) {
          const size_t end = text.find('#', call + 1);
          reply.calls.push_back({std::string(text.substr(call + 1, text.find('{') - call - 1)),
                                 std::string(text.substr(text.find('{'), end - text.find('{')))});
        } else if (whole) {
          reply.content = text;
        }
        return reply;
      };
      return form;
    };
    options.allows = [](const std::string& /*grammar*/, std::string_view text) {
      return text.front() == '#';
    };
    return std::make_unique<FakeEngine>(std::move(options));
  };
  return setup;
}

const Json kTools = Json::parse(R"([{"type": "function", "function": {"name": "f", "parameters":
    {"type": "object", "properties": {"n": {"type": "integer"}}}}}])");

Json Calls(const char* model) { return With(Chat("x", model), "tools", kTools); }

TEST(ServerForms, ACallIsNoText) {
  const TestServer server(
      Calling([](uint64_t /*key*/) -> std::string { return "So #f{\"n\": 4}#"; }));
  const Json choice = server.Good(kChat, Calls("m:plain"))["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], "So ");
  const Json calls = choice["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0]["type"], "function");
  EXPECT_EQ(calls[0]["function"], (Json{{"name", "f"}, {"arguments", "{\"n\": 4}"}}));
  EXPECT_FALSE(calls[0]["id"].get<std::string>().empty());
  // Streamed: id and name once, and the arguments in parts.
  std::string content;
  std::string arguments;
  std::vector<Json> heads;
  std::string reason;
  for (const Json& event : server.Stream(kChat, Calls("m:plain"))) {
    const Json& one = event["choices"][0];
    content += one["delta"].value("content", "");
    reason = one["finish_reason"].is_string() ? one["finish_reason"] : "";
    for (const Json& part : one["delta"].value("tool_calls", Json::array())) {
      EXPECT_EQ(part["index"], 0);
      arguments += part["function"]["arguments"];
      if (part.contains("id")) {
        heads.push_back(part);
      }
    }
  }
  EXPECT_EQ(content, "So ");
  EXPECT_EQ(arguments, "{\"n\": 4}");
  EXPECT_EQ(reason, "tool_calls");
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0]["function"]["name"], "f");
}

TEST(ServerForms, OnlyTheChoiceNoneMakesToolsText) {
  const TestServer server(Calling([](uint64_t /*key*/) -> std::string { return "no #f{}#"; }));
  const auto choose = [&server](const Json& choice) {
    return server.Good(kChat,
                       With(With(Calls("m:plain"), "tool_choice", choice), "max_tokens", 20));
  };
  const Json none = choose("none");
  EXPECT_EQ(Content(none), "no #f{}#");
  EXPECT_FALSE(none["choices"][0]["message"].contains("tool_calls"));
  EXPECT_EQ(Content(choose("auto")), "no ");
  // The engine may not begin with "no".
  const Json required = choose("required");
  EXPECT_TRUE(required["choices"][0]["message"]["content"].is_null()) << required;
  const Json named = choose({{"type", "function"}, {"function", {{"name", "f"}}}});
  EXPECT_EQ(named["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "f");
  for (const Json& wrong :
       std::vector<Json>{"always", {{"type", "function"}, {"function", {{"name", "g"}}}}}) {
    EXPECT_EQ(server.BadField(kChat, With(Calls("m:plain"), "tool_choice", wrong)), "tool_choice");
  }
  EXPECT_EQ(server.BadField(kChat, With(Chat("x"), "tools", {{{"type", "retrieval"}}})), "tools");
  EXPECT_EQ(server.BadField(kChat, With(Calls("m:plain"), "logprobs", true)), "logprobs");
  EXPECT_EQ(server.BadField("/v1/completions", {{"prompt", "x"}, {"tools", kTools}}), "tools");
}

// Equal arguments are one answer, however they are written.
TEST(ServerForms, APoolVotesOverCalls) {
  const TestServer server(Calling([](uint64_t key) -> std::string {
    return key % 5 == 0 ? "I say 5" : key % 5 < 3 ? "#f{\"n\": 4}#" : "#f{ \"n\":4.0 }#";
  }));
  const Json reply = server.Good(
      kChat, With(With(Calls("m:sc"), "seed", 1), "hyper", {{"width", 12}, {"max-tokens", 30}}));
  EXPECT_EQ(reply["hyper"]["answer"], R"([{"arguments":{"n":4},"name":"f"}])");
  const Json choice = reply["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(
      Json::parse(
          choice["message"]["tool_calls"][0]["function"]["arguments"].get<std::string>())["n"],
      4);
}

TEST(ServerForms, CallsAndTheirResultsAreMessages) {
  const TestServer server(Calling([](uint64_t /*key*/) -> std::string { return "ok"; }));
  Json body = Calls("m:plain");
  body["messages"].push_back(Json::parse(R"({"role": "assistant", "tool_calls": [{"id": "c",
      "type": "function", "function": {"name": "f", "arguments": "{\"n\": 1}"}}]})"));
  body["messages"].push_back({{"role", "tool"}, {"tool_call_id", "c"}, {"content", "7"}});
  EXPECT_EQ(Content(server.Good(kChat, body)), "ok");
  body["messages"][1]["tool_calls"][0]["function"]["arguments"] = "{";
  EXPECT_EQ(server.BadField(kChat, body), "messages[1].tool_calls");
}

}  // namespace
}  // namespace hyper::server
