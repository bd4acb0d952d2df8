// Servers that render chats only inside /chat/completions: lanes as assistant prefills.
#include "src/engine/remote/probe/continuation.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hyper/remote_engine.h"
#include "tests/support/scripted_model.h"

namespace hyper {
namespace {

using test::ScriptedModel;
using test::ScriptedServer;
using Dialect = ScriptedModel::Dialect;
using Prefill = ScriptedModel::Prefill;

constexpr const char* kQuestion = "1 < 2?";
constexpr const char* kRendered = "user: 1 < 2?\n";

// Letters out of a hash of all that went before: another prompt gives another distribution.
void WriteLetters(uint64_t /*key*/, std::span<const Token> history, std::span<float> logits) {
  uint64_t hash = 1469598103934665603U;
  for (const Token token : history) {
    hash = (hash ^ static_cast<uint64_t>(token)) * 1099511628211U;
  }
  for (Token letter = 'a'; letter <= 'z'; ++letter) {
    hash = hash * 6364136223846793005U + 1442695040888963407U;
    logits[static_cast<size_t>(letter)] = 2.0F + static_cast<float>(hash >> 40U) / 4.0e6F;
  }
}

// What that model writes behind `text` at temperature 0.
std::string Greedy(std::string text, size_t count) {
  const size_t begin = text.size();
  while (text.size() < begin + count) {
    const std::vector<Token> history(text.begin(), text.end());
    std::vector<float> logits(128, 0.0F);
    WriteLetters(0, history, logits);
    text += static_cast<char>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  return text.substr(begin);
}

// A server that renders no chats, and an engine on it.
class PrefillServer {
 public:
  PrefillServer(Prefill prefill, const std::string& opener, Dialect dialect = Dialect::kVllm)
      : model(WriteLetters), server_(model.handler()) {
    model.renders = false;
    model.prefill = prefill;
    model.opener = opener;
    model.dialect = dialect;
  }

  Result<std::unique_ptr<Engine>> Connect(const std::string& local_template = "") {
    RemoteOptions options;
    options.urls = {server_.url()};
    options.chat_template = local_template;
    return MakeRemoteEngine(options);
  }
  std::string Finding(const std::string& name) {
    const Result<ServerReport> report = ProbeServer(server_.url(), {});
    EXPECT_TRUE(report.has_value()) << report.error().message;
    for (const ServerFinding& finding : report->findings) {
      if (finding.name == name) {
        return finding.value;
      }
    }
    return "";
  }

  ScriptedModel model;

 private:
  ScriptedServer server_;
};

Result<Prompt> Render(Engine& engine,
                      const std::vector<std::pair<std::string, std::string>>& arguments = {}) {
  const std::vector<ChatMessage> messages = {{"user", kQuestion}};
  return engine.RenderChat(messages, arguments);
}

LaneSpec GreedySpec() {
  LaneSpec spec;
  spec.path_key = 5;
  spec.sampler.temperature = 0;
  return spec;
}

// Grants a lane `count` tokens; their text.
std::string Write(Engine& engine, LaneId lane, int count) {
  EXPECT_TRUE(engine.Grant(lane, count).ok());
  std::string text;
  for (int polls = 0; polls < 1000; ++polls) {
    const Result<std::span<const Event>> events = engine.Poll(0.05);
    EXPECT_TRUE(events.has_value());
    for (const Event& event : *events) {
      if (event.kind == EventKind::kToken) {
        text += engine.TokenText(event.token);
        EXPECT_EQ(event.top.size(), 20U) << "chats tell log-probabilities too";
      }
      EXPECT_NE(event.kind, EventKind::kFailed) << event.error.message;
      if (event.kind != EventKind::kToken) {
        return text;
      }
    }
  }
  return text + " (no end)";
}

class PrefillWays : public ::testing::TestWithParam<std::tuple<Prefill, const char*, Dialect>> {};

TEST_P(PrefillWays, LanesForksAndReopenedLanesGoOnExactly) {
  const auto [prefill, opener, dialect] = GetParam();
  PrefillServer server(prefill, opener, dialect);
  EXPECT_EQ(server.Finding("chat template"), prefill == Prefill::kFlag
                                                 ? "assistant prefill (continue_final_message)"
                                                 : "assistant prefill (trailing message)");
  const std::unique_ptr<Engine> engine = std::move(*server.Connect());
  EXPECT_TRUE(engine->model().has_chat_template);
  const Result<Prompt> prompt = Render(*engine);
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  const std::string rendered = std::string(kRendered) + opener;
  EXPECT_EQ(prompt->tokens.size(), rendered.size()) << "as many as the server counts";
  EXPECT_EQ(prompt->question, kQuestion);
  EXPECT_EQ(prompt->reasoning_opened, !std::string(opener).empty());
  const std::string expected = Greedy(rendered, 24);
  const LaneId lane = *engine->Open(prompt->tokens, GreedySpec());
  EXPECT_EQ(Write(*engine, lane, 12), expected.substr(0, 12));
  const int prompt_tokens = static_cast<int>(prompt->tokens.size());
  const LaneId child = *engine->Fork(lane, prompt_tokens + 5, GreedySpec());
  EXPECT_EQ(Write(*engine, child, 10), expected.substr(5, 10));
  ASSERT_TRUE(engine->Evict(lane).ok());
  EXPECT_EQ(Write(*engine, lane, 12), expected.substr(12, 12));
  ASSERT_TRUE(engine->Extend(child, *engine->Tokenize("so ", false)).ok());
  EXPECT_EQ(Write(*engine, child, 4), Greedy(rendered + expected.substr(0, 15) + "so ", 4));
  const LaneId fresh = *engine->Fork(lane, prompt_tokens, GreedySpec());
  EXPECT_EQ(Write(*engine, fresh, 3), expected.substr(0, 3));
  EXPECT_FALSE(engine->Fork(lane, prompt_tokens - 1, GreedySpec()).has_value());
}

INSTANTIATE_TEST_SUITE_P(
    All, PrefillWays,
    ::testing::Values(std::tuple{Prefill::kFlag, "", Dialect::kVllm},
                      std::tuple{Prefill::kFlag, "<think>\n", Dialect::kVllm},
                      std::tuple{Prefill::kTrailing, "", Dialect::kLlamaServer},
                      std::tuple{Prefill::kTrailing, "<think>", Dialect::kVllm}));

TEST(PrefillRefusal, AServerThatOpensAnotherTurn) {
  PrefillServer server(Prefill::kNone, "");
  EXPECT_EQ(server.Finding("chat template"), "none");
  const std::unique_ptr<Engine> engine = std::move(*server.Connect());
  const Result<Prompt> prompt = Render(*engine);
  ASSERT_FALSE(prompt.has_value());
  EXPECT_EQ(prompt.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(prompt.error().message.find("begins another turn"), std::string::npos);
  EXPECT_NE(prompt.error().message.find("--chat-template"), std::string::npos);
  const std::unique_ptr<Engine> local = std::move(
      *server.Connect("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"));
  EXPECT_EQ(Render(*local)->text, kRendered);
}

TEST(PrefillRefusal, ATemplateThatForgetsClosedReasoning) {
  PrefillServer server(Prefill::kDropsReasoning, "<think>\n");
  const std::unique_ptr<Engine> engine = std::move(*server.Connect());
  const Result<Prompt> prompt = Render(*engine);
  ASSERT_FALSE(prompt.has_value());
  EXPECT_NE(prompt.error().message.find("leaves out the reasoning"), std::string::npos)
      << prompt.error().message;
}

TEST(PrefillArguments, TheWayToGoOnIsFoundForThem) {
  PrefillServer server(Prefill::kFlag, "<think>\n");
  const std::unique_ptr<Engine> engine = std::move(*server.Connect());
  const Prompt thinking = *Render(*engine);
  const Prompt plain = *Render(*engine, {{"opener", "\"\""}});
  EXPECT_NE(thinking.tokens, plain.tokens);
  EXPECT_TRUE(thinking.reasoning_opened);
  EXPECT_FALSE(plain.reasoning_opened);
  const LaneId lane = *engine->Open(plain.tokens, GreedySpec());
  std::string text = Write(*engine, lane, 4);
  ASSERT_TRUE(engine->Evict(lane).ok());
  text += Write(*engine, lane, 4);
  EXPECT_EQ(text, Greedy(kRendered, 8));
  const Result<Prompt> other = Render(*engine, {{"opener", "\"<turn>\""}});
  ASSERT_FALSE(other.has_value()) << "no way repeats this opener";
  EXPECT_NE(other.error().message.find("<turn>"), std::string::npos) << other.error().message;
  EXPECT_EQ(Render(*engine)->tokens, thinking.tokens) << "the same chat, the same prompt";
}

TEST(PrefillChatsOnly, AServerWithoutCompletionsServesLanesOfChats) {
  PrefillServer server(Prefill::kFlag, "");
  server.model.completions = false;
  const std::unique_ptr<Engine> engine = std::move(*server.Connect());
  EXPECT_EQ(engine->capabilities().max_top_count, 20);
  const LaneId lane = *engine->Open(Render(*engine)->tokens, GreedySpec());
  EXPECT_EQ(Write(*engine, lane, 4), Greedy(kRendered, 4));
  const Result<LaneId> text = engine->Open(*engine->Tokenize("q", false), GreedySpec());
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kUnsupported);
}

TEST(PrefillChatsOnly, WithoutPrefillItIsRefused) {
  PrefillServer server(Prefill::kNone, "");
  server.model.completions = false;
  const Result<std::unique_ptr<Engine>> engine = server.Connect();
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(engine.error().message.find("--chat-template"), std::string::npos)
      << engine.error().message;
}

}  // namespace
}  // namespace hyper
