// Chat templates: the server's, a file's, and none.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hyper/remote_engine.h"
#include "tests/support/scripted_model.h"

namespace hyper {
namespace {

using test::HttpMessage;
using test::ScriptedModel;
using test::ScriptedServer;
using test::ServerConnection;

constexpr const char* kTemplate =
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}"
    "{% endfor %}<assistant>{% if mode %}{{ mode }}{% endif %}<think>";

void WriteNothing(uint64_t /*key*/, std::span<const Token> /*history*/, std::span<float> logits) {
  logits['a'] = 9.0F;
}

// A scripted server that applies no template, unless `templates`.
class Chat {
 public:
  explicit Chat(bool templates, std::string local)
      : model_(WriteNothing),
        server_([this, templates](const HttpMessage& request, ServerConnection& connection) {
          const bool applies = request.path == "/apply-template" ||
                               request.body.find("\"messages\"") != std::string::npos;
          if (applies && !templates) {
            connection.Respond(404, R"({"detail":"Not Found"})");
          } else {
            model_.Handle(request, connection);
          }
        }) {
    RemoteOptions options;
    options.urls = {server_.url()};
    options.chat_template = std::move(local);
    Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(options);
    EXPECT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
  }

  Result<Prompt> Render(const std::vector<std::pair<std::string, std::string>>& arguments = {}) {
    const std::vector<ChatMessage> messages = {{"system", "be short"}, {"user", "1 < 2?"}};
    return engine_->RenderChat(messages, arguments);
  }
  const Engine& engine() const { return *engine_; }

 private:
  ScriptedModel model_;
  ScriptedServer server_;
  std::unique_ptr<Engine> engine_;
};

std::string PromptBytes(const Engine& engine, const Prompt& prompt) {
  std::string text;
  for (const Token token : prompt.tokens) {
    text += engine.TokenText(token);
  }
  return text;
}

TEST(RemoteChat, WithoutAnyTemplateThePromptIsPlainTextWithAWarning) {
  Chat chat(false, "");
  const Result<Prompt> prompt = chat.Render();
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->text, "be short\n\n1 < 2?");
  EXPECT_FALSE(prompt->warning.empty());
  EXPECT_FALSE(chat.engine().model().has_chat_template);
}

TEST(RemoteChat, AFilesTemplateIsAppliedHere) {
  Chat chat(false, kTemplate);
  const Result<Prompt> prompt = chat.Render({{"mode", "\"fast\""}});
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_EQ(prompt->text, "<system>be short<user>1 < 2?<assistant>fast<think>");
  EXPECT_EQ(PromptBytes(chat.engine(), *prompt), prompt->text);
  EXPECT_EQ(prompt->tokens.size(), prompt->text.size()) << "the server's tokens, a byte each";
  EXPECT_EQ(prompt->question, "1 < 2?");
  EXPECT_TRUE(prompt->reasoning_opened);
  EXPECT_EQ(prompt->warning, "");
  EXPECT_TRUE(chat.engine().model().has_chat_template);
}

TEST(RemoteChat, AFilesTemplateStandsBeforeTheServers) {
  Chat chat(true, kTemplate);
  EXPECT_EQ(chat.Render()->text, "<system>be short<user>1 < 2?<assistant><think>");
  EXPECT_EQ(Chat(true, "").Render()->text, "system: be short\nuser: 1 < 2?\n");
}

// vLLM's tokenizer has no switch for them.
TEST(RemoteChat, AControlTokenInAMessageIsSaidWhereItCannotBeHelped) {
  ScriptedModel model(WriteNothing);
  model.dialect = ScriptedModel::Dialect::kVllm;
  ScriptedServer server([&model](const HttpMessage& request, ServerConnection& connection) {
    if (request.path == "/tokenize" &&
        request.body.find(R"("prompt":"<|im_end|>")") != std::string::npos) {
      connection.Respond(200, R"({"tokens":[120]})");
    } else {
      model.Handle(request, connection);
    }
  });
  RemoteOptions options;
  options.urls = {server.url()};
  const std::unique_ptr<Engine> engine = std::move(*MakeRemoteEngine(options));
  engine->TakeNotices();
  const auto said = [&engine](const std::string& question) {
    EXPECT_TRUE(engine->RenderChat(std::vector<ChatMessage>{{"user", question}}, {}).has_value());
    std::string notices;
    for (const std::string& notice : engine->TakeNotices()) {
      notices += notice;
    }
    return notices;
  };
  EXPECT_EQ(said("if 1 < 2 and [3 > 2] is <b>bold</b>?"), "");
  EXPECT_NE(said("stop <|im_end|> here").find("reads <|im_end|> in a message as a control token"),
            std::string::npos);
  EXPECT_EQ(said("again <|im_end|>"), "") << "once";
}

TEST(RemoteChat, ErrorsOfTheTokenizerKeepNoKey) {
  ScriptedModel model(WriteNothing);
  bool broken = false;
  ScriptedServer server([&](const HttpMessage& request, ServerConnection& connection) {
    if (broken) {
      connection.Respond(403, R"({"error":{"message":"sk-secret is locked"}})");
    } else {
      model.Handle(request, connection);
    }
  });
  RemoteOptions options;
  options.urls = {server.url()};
  options.api_key = "sk-secret";
  const std::unique_ptr<Engine> engine = std::move(*MakeRemoteEngine(options));
  broken = true;
  const Result<std::vector<Token>> tokens = engine->Tokenize("text", false);
  ASSERT_FALSE(tokens.has_value());
  EXPECT_NE(tokens.error().message.find("HTTP 403: (key) is locked"), std::string::npos)
      << tokens.error().message;
}

TEST(RemoteChat, ABrokenTemplateIsRefusedInOneLine) {
  Chat chat(false, "{% for %}");
  const Result<Prompt> prompt = chat.Render();
  ASSERT_FALSE(prompt.has_value());
  EXPECT_EQ(prompt.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(prompt.error().message.find('\n'), std::string::npos) << prompt.error().message;
}

}  // namespace
}  // namespace hyper
