// Texts and tokens over real HTTP: /tokenize and its kin, and the log-probabilities of prompts.
#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/server/api/text_json.h"
#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

constexpr const char* kCompletions = "/v1/completions";

// An engine whose chats begin with a control token, as those of many models do.
class BeginsWithOne : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<Prompt> RenderChat(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> arguments) override {
    Result<Prompt> prompt = FakeEngine::RenderChat(messages, arguments);
    prompt->tokens.insert(prompt->tokens.begin(), 1);
    return prompt;
  }
};

TEST(ServerText, TokensOfATextAndBack) {
  const TestServer server({});
  EXPECT_EQ(server.Good("/tokenize", {{"content", "abc"}}), Json({{"tokens", {97, 98, 99}}}));
  EXPECT_EQ(server.Good("/tokenize", {{"prompt", "a"}, {"model", "m"}, {"with_pieces", true}}),
            Json({{"tokens", {{{"id", 97}, {"piece", "a"}}}}}));
  EXPECT_EQ(server.Good("/detokenize", {{"tokens", {97, 98}}}), Json({{"content", "ab"}}));
  EXPECT_EQ(server.Good("/tokenize", {{"content", ""}}), Json({{"tokens", Json::array()}}));
  EXPECT_EQ(server.BadField("/tokenize", Json::object()), "content");
  EXPECT_EQ(server.BadField("/tokenize", {{"content", 3}}), "content");
  EXPECT_EQ(server.BadField("/tokenize", {{"content", "x"}, {"pieces", true}}), "pieces");
  EXPECT_EQ(server.BadField("/detokenize", {{"tokens", {128}}}), "tokens");
  EXPECT_EQ(server.BadField("/detokenize", {{"tokens", {-1}}}), "tokens");
  EXPECT_EQ(server.BadField("/detokenize", {{"tokens", "ab"}}), "tokens");
}

TEST(ServerText, TheTokensThatPromptsBeginWithComeWhereAsked) {
  ServerSetup setup;
  setup.make_engine = [](const FakeOptions& options) {
    return std::make_unique<BeginsWithOne>(options);
  };
  const TestServer server(setup);
  const auto tokens = [&server](const Json& body) {
    return server.Good("/tokenize", body)["tokens"];
  };
  EXPECT_EQ(tokens({{"content", "a"}}), Json::array({97}));
  EXPECT_EQ(tokens({{"content", "a"}, {"add_special", true}}), Json::array({1, 97}));
  EXPECT_EQ(tokens({{"content", "a"}, {"add_special_tokens", true}}), Json::array({1, 97}));
  const TestServer none({});
  EXPECT_EQ(none.Good("/tokenize", {{"content", "a"}, {"add_special", true}})["tokens"],
            Json::array({97}));
}

TEST(ServerText, ARawTextStandsBehindTheTokenThatPromptsBeginWith) {
  ServerSetup setup;
  setup.make_engine = [](const FakeOptions& options) {
    return std::make_unique<BeginsWithOne>(options);
  };
  const TestServer server(setup);
  const auto prompt_tokens = [&server](const Json& prompt) {
    return server.Good(kCompletions,
                       {{"model", "m:plain"}, {"prompt", prompt}})["usage"]["prompt_tokens"];
  };
  EXPECT_EQ(prompt_tokens("ab"), 3);
  EXPECT_EQ(prompt_tokens({97, 98}), 2);
  EXPECT_EQ(server.BadField(kCompletions, {{"prompt", ""}}), "prompt");
}

TEST(ServerText, APieceThatIsNoTextComesAsBytes) {
  EXPECT_EQ(PieceJson("ab"), Json("ab"));
  EXPECT_EQ(PieceJson("\xC3"), Json({195}));
}

TEST(ServerText, TheTemplateIsAppliedAsForAReply) {
  const TestServer server({});
  const Json messages = {{{"role", "user"}, {"content", "hello"}}};
  EXPECT_EQ(server.Good("/apply-template", {{"messages", messages}}),
            Json({{"prompt", "user: hello\n"}}));
  Json begun = messages;
  begun.push_back({{"role", "assistant"}, {"content", "It is"}});
  EXPECT_EQ(server.Good("/apply-template", {{"messages", begun}})["prompt"], "user: hello\nIt is");
  EXPECT_EQ(server.BadField("/apply-template", {{"messages", 1}}), "messages");
  EXPECT_EQ(server.BadField("/apply-template", {{"messages", messages}, {"tool", 1}}), "tool");
}

// Log-probabilities as the script of `Weighted` makes them.
void Weighted(const FakeStep& step, std::span<float> logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = 0.01F * static_cast<float>((i * 7 + 3 * step.history.size()) % 50);
  }
  logits[static_cast<size_t>(step.history.back() + 1) % logits.size()] = 3.0F;
}

// By the definition: log of softmax, one prefix at a time.
std::vector<double> DirectLogprobs(const std::string& text) {
  std::vector<double> values;
  for (size_t i = 1; i < text.size(); ++i) {
    std::vector<Token> history(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i));
    std::vector<float> logits(FakeEngine::kVocabulary, 0.0F);
    Weighted({0, history, 1, 1}, logits);
    const double sum = std::accumulate(
        logits.begin(), logits.end(), 0.0,
        [](double all, float one) { return all + std::exp(static_cast<double>(one)); });
    values.push_back(logits[static_cast<size_t>(text[i])] - std::log(sum));
  }
  return values;
}

TEST(ServerText, EchoTellsTheLogprobsOfAPrompt) {
  ServerSetup setup;
  setup.logits = Weighted;
  const TestServer server(setup);
  const std::string text = "abcx!";
  const Json reply = server.Good(
      kCompletions,
      {{"model", "m:plain"}, {"prompt", text}, {"echo", true}, {"max_tokens", 0}, {"logprobs", 2}});
  const Json choice = reply["choices"][0];
  EXPECT_EQ(choice["text"], text);
  EXPECT_EQ(choice["finish_reason"], "length");
  const Json& logprobs = choice["logprobs"];
  EXPECT_EQ(logprobs["tokens"], Json({"a", "b", "c", "x", "!"}));
  EXPECT_EQ(logprobs["text_offset"], Json({0, 1, 2, 3, 4}));
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  EXPECT_TRUE(logprobs["top_logprobs"][0].is_null());
  const std::vector<double> wanted = DirectLogprobs(text);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(logprobs["token_logprobs"][i + 1].get<double>(), wanted[i], 1e-5);
    EXPECT_EQ(logprobs["top_logprobs"][i + 1].size(), 2U);
  }
  // "b" follows "a" as the most probable token, "!" does not follow "x".
  EXPECT_EQ(logprobs["top_logprobs"][1]["b"], logprobs["token_logprobs"][1]);
  EXPECT_GT(logprobs["top_logprobs"][4]["y"], logprobs["token_logprobs"][4]);
  EXPECT_EQ(reply["usage"]["prompt_tokens"], 5);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 0);
}

// As lm-eval asks: one more token, several prompts as token numbers.
TEST(ServerText, EchoGoesOnBehindThePrompt) {
  ServerSetup setup;
  setup.logits = Weighted;
  const TestServer server(setup);
  const Json reply = server.Good(kCompletions, {{"model", "m:plain"},
                                                {"prompt", {{97, 98, 99}, {120}}},
                                                {"echo", true},
                                                {"max_tokens", 1},
                                                {"temperature", 0},
                                                {"logprobs", 1}});
  ASSERT_EQ(reply["choices"].size(), 2U);
  const Json first = reply["choices"][0];
  EXPECT_EQ(first["text"], "abcd");
  ASSERT_EQ(first["logprobs"]["token_logprobs"].size(), 4U);
  const std::vector<double> wanted = DirectLogprobs("abcd");
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(first["logprobs"]["token_logprobs"][i + 1].get<double>(), wanted[i], 1e-5);
  }
  const Json second = reply["choices"][1];
  EXPECT_EQ(second["text"], "xy");
  EXPECT_EQ(second["logprobs"]["tokens"], Json({"x", "y"}));
  EXPECT_TRUE(second["logprobs"]["token_logprobs"][0].is_null());
  EXPECT_EQ(reply["usage"]["completion_tokens"], 2);
}

TEST(ServerText, EveryChoiceOfAnEchoHasThePromptsLogprobs) {
  ServerSetup setup;
  setup.logits = Weighted;
  setup.lanes = 2;
  const TestServer server(setup);
  const Json reply = server.Good(kCompletions, {{"model", "m:plain"},
                                                {"prompt", "abc"},
                                                {"n", 3},
                                                {"echo", true},
                                                {"max_tokens", 4},
                                                {"logprobs", 0}});
  ASSERT_EQ(reply["choices"].size(), 3U);
  const std::vector<double> wanted = DirectLogprobs("abc");
  for (const Json& choice : reply["choices"]) {
    const Json& logprobs = choice["logprobs"];
    ASSERT_EQ(logprobs["tokens"].size(), 7U);
    EXPECT_NEAR(logprobs["token_logprobs"][1].get<double>(), wanted[0], 1e-5);
    EXPECT_EQ(logprobs["top_logprobs"][1], Json::object());
  }
}

TEST(ServerText, EchoWithoutLogprobsDecodesNothing) {
  const TestServer server({});
  const Json body = {{"model", "m:plain"}, {"prompt", "abc"}, {"echo", true}, {"max_tokens", 0}};
  const Json reply = server.Good(kCompletions, body);
  EXPECT_EQ(reply["choices"][0]["text"], "abc");
  EXPECT_TRUE(reply["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(reply["usage"]["completion_tokens"], 0);
  const std::vector<Json> events = server.Stream(kCompletions, body);
  EXPECT_EQ(events.front()["choices"][0]["text"], "abc");
  EXPECT_EQ(events.back()["choices"][0]["finish_reason"], "length");
}

TEST(ServerText, EchoIsRefusedWhereItCannotBeKept) {
  const TestServer server({});
  const Json good = {{"model", "m:plain"}, {"prompt", "abc"}, {"max_tokens", 0}, {"echo", true}};
  EXPECT_EQ(server.BadField(kCompletions, With(good, "echo", false)), "max_tokens");
  EXPECT_EQ(server.BadField(kCompletions, With(good, "model", "m:sc")), "max_tokens");
  EXPECT_EQ(server.BadField(kCompletions, With(good, "max_tokens", -1)), "max_tokens");
  EXPECT_EQ(server.BadField(kCompletions, With(With(good, "logprobs", 1), "stream", true)),
            "stream");
  // A reply has a limit, which the prompt counts into.
  const Json large = With(With(good, "prompt", std::string(200000, 'a')), "logprobs", 5);
  EXPECT_EQ(server.BadField(kCompletions, large), "logprobs");
}

}  // namespace
}  // namespace hyper::server
