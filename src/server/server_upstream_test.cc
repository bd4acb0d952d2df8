// The server on an engine that decodes on another server, and that server's failures: none may look
// like an answer.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyper/remote_engine.h"
#include "tests/support/scripted_model.h"
#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

// Writes the letters of `text` behind the prompt's last line, then ends.
test::ScriptedModel::Logits Writes(std::string text) {
  return [text = std::move(text)](uint64_t /*key*/, std::span<const Token> history,
                                  std::span<float> logits) {
    size_t begin = history.size();
    while (begin > 0 && history[begin - 1] != '\n') {
      --begin;
    }
    const size_t at = history.size() - begin;
    logits[at < text.size() ? static_cast<size_t>(text[at]) : 0] = 30.0F;
  };
}

class Upstream : public ::testing::Test {
 protected:
  void Start() {
    RemoteOptions options;
    options.urls = {upstream_.url()};
    options.retries = 0;
    ServerSetup setup;
    setup.make_engine = [options](const FakeOptions& /*fake*/) {
      Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(options);
      EXPECT_TRUE(engine.has_value()) << engine.error().message;
      return std::move(*engine);
    };
    server_ = std::make_unique<TestServer>(setup);
  }

  // All streams from now on are answered by `answer`.
  void Fail(std::function<void(test::ServerConnection&)> answer) {
    model_.fault = [answer = std::move(answer)](int /*number*/, const test::ScriptedModel::Json&,
                                                test::ServerConnection& connection) {
      answer(connection);
      return true;
    };
  }

  std::string StreamOf(Json body) const {
    body["stream"] = true;
    const httplib::Result reply = server_->Answered(kChat, body, 200);
    return reply ? reply->body : "";
  }

  test::ScriptedModel model_{Writes("so it is \\boxed{42}")};
  test::ScriptedServer upstream_{model_.handler()};
  std::unique_ptr<TestServer> server_;
};

TEST_F(Upstream, AnswersComeThrough) {
  Start();
  EXPECT_EQ(Content(server_->Good(kChat, Chat("x"))), "so it is \\boxed{42}");
  EXPECT_EQ(server_->Good(kChat, Chat("x", "m:sc"))["hyper"]["answer"], "42");
}

TEST_F(Upstream, ItsFailureIsAnError) {
  const std::vector<std::pair<std::string, std::function<void(test::ServerConnection&)>>> failures{
      {"HTTP 500: out of memory",
       [](test::ServerConnection& to) {
         to.Respond(500, R"({"error": {"message": "out of memory"}})");
       }},
      {"HTTP 400: no such adapter",
       [](test::ServerConnection& to) {
         to.Respond(400, R"({"error": {"message": "no such adapter"}})");
       }},
      {"", [](test::ServerConnection& to) {  // in its own words
         to.BeginStream();
         to.EndStream();
       }}};
  Start();
  for (const auto& [words, answer] : failures) {
    Fail(answer);
    for (const char* model : {"m:plain", "m:sc"}) {
      const httplib::Result whole = server_->Answered(kChat, Chat("x", model), 502);
      ASSERT_TRUE(whole);
      const Json error = Json::parse(whole->body)["error"];
      EXPECT_EQ(error["code"], "upstream_failed");
      EXPECT_NE(error["message"].get<std::string>().find(words), std::string::npos) << error;
      const std::string stream = StreamOf(Chat("x", model));
      const size_t event = stream.find(R"(data: {"error":)");
      ASSERT_NE(event, std::string::npos) << stream;
      EXPECT_NE(stream.find(words, event), std::string::npos) << stream;
      EXPECT_EQ(stream.find("finish_reason\":\"length"), std::string::npos) << stream;
      EXPECT_EQ(stream.find("[DONE]"), std::string::npos) << stream;
    }
    server_->Settled();
    EXPECT_EQ(server_->scheduler().book().Runs().front().status, "failed") << words;
  }
}

// One choice of several that failed: the others are no whole reply.
TEST_F(Upstream, AFailedChoiceFailsTheRequest) {
  Start();
  const int first = model_.streams;
  model_.fault = [first](int number, const test::ScriptedModel::Json&,
                         test::ServerConnection& connection) {
    return number == first + 1 && connection.Respond(500, R"({"error": {"message": "broken"}})");
  };
  server_->Answered(kChat, With(Chat("x"), "n", 3), 502);
}

// A pool votes without the paths that failed, and says how many did.
TEST_F(Upstream, APoolVotesWithoutItsFailedPaths) {
  Start();
  const int first = model_.streams;
  model_.fault = [first](int number, const test::ScriptedModel::Json&,
                         test::ServerConnection& connection) {
    return number < first + 3 && connection.Respond(500, R"({"error": {"message": "broken"}})");
  };
  Json body = Chat("x", "m:sc");
  body["hyper"] = {{"width", 8}};
  const Json reply = server_->Good(kChat, body);
  EXPECT_EQ(reply["hyper"]["answer"], "42");
  EXPECT_EQ(reply["hyper"]["voting_paths"], 5);
  EXPECT_EQ(reply["hyper"]["failed_paths"], 3);
}

// What a path had written before its stream broke is no answer of the model.
TEST_F(Upstream, APoolWhosePathsAllBrokeOffAfterAnAnswerIsAnError) {
  model_.logits = Writes("\\boxed{1} and so on and on");
  Start();
  model_.edit = [](int event, test::ScriptedModel::Json& chunk) {
    if (event == 14) {
      chunk["choices"][0]["finish_reason"] = "content_filter";
    }
  };
  const httplib::Result reply = server_->Post(kChat, Chat("x", "m:sc"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 502) << reply->body;
}

// A stream parts reasoning and content as the whole reply does, whatever tags come.
TEST_F(Upstream, AStreamIsPartedAsTheWholeReply) {
  for (const char* text : {"<think>hm</think>42", "hm</think>42", "</think>42", "<think>hm",
                           "a <think> b</think> c", "<think><think>a</think>b \\boxed{4}"}) {
    model_.logits = Writes(text);
    Start();
    const Json message = server_->Good(kChat, Chat("x"))["choices"][0]["message"];
    std::string reasoning;
    std::string content;
    for (const Json& event : server_->Stream(kChat, Chat("x"))) {
      const Json& delta = event["choices"][0]["delta"];
      reasoning += delta.value("reasoning_content", "");
      content += delta.value("content", "");
    }
    EXPECT_EQ(message["content"], content) << text;
    EXPECT_EQ(message["reasoning_content"].is_null() ? Json("") : message["reasoning_content"],
              reasoning)
        << text;
  }
}

}  // namespace
}  // namespace hyper::server
