#include "src/engine/llama/tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/engine/llama/grammar.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr const char* kTools = R"([{"type": "function", "function": {"name": "weather",
    "description": "The weather of a place", "parameters": {"type": "object", "properties":
    {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "stop", "parameters": {"type": "object",
    "properties": {}}}}])";

// A reply that calls weather("Paris", 2), in the notation of a family of models, and its template.
struct Family {
  const char* file;
  const char* call;
};
constexpr Family kFamilies[] = {
    {"Qwen-Qwen2.5-7B-Instruct",
     "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 2}}\n"
     "</tool_call>"},
    {"Qwen-Qwen3-0.6B",
     "<think>\nhm\n</think>\n\n<tool_call>\n{\"name\": \"weather\", \"arguments\": "
     "{\"city\": \"Paris\", \"days\": 2}}\n</tool_call>"},
    {"meta-llama-Llama-3.1-8B-Instruct",
     "{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\", \"days\": 2}}"},
    {"Qwen3-Coder",
     "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n2\n"
     "</parameter>\n</function>\n</tool_call>"}};

class ToolsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not there";
    }
  }
  // The prompt of `messages` in the template of that file, empty: the model's own.
  Result<Prompt> Render(const std::string& file, const std::vector<ChatMessage>& messages,
                        const ReplyWish& wish) {
    LlamaOptions options = BundledOptions();
    if (!file.empty()) {
      std::ifstream in(HYPER_LLAMA_TREE "/models/templates/" + file + ".jinja");
      options.chat_template.assign(std::istreambuf_iterator<char>(in), {});
      EXPECT_FALSE(options.chat_template.empty()) << file;
    }
    engine_ = MakeOrFail(options);
    return engine_->RenderForm(messages, {}, wish);
  }
  static ReplyWish Wish(bool required) {
    ReplyWish wish;
    wish.tools = kTools;
    wish.call_required = required;
    return wish;
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_F(ToolsTest, ReadsTheCallsOfFamilies) {
  for (const Family& family : kFamilies) {
    const Result<Prompt> prompt = Render(family.file, {{"user", "q"}}, Wish(false));
    ASSERT_TRUE(prompt.has_value()) << family.file << prompt.error().message;
    EXPECT_NE(prompt->text.find("The weather of a place"), std::string::npos) << family.file;
    ASSERT_NE(prompt->form, nullptr);
    EXPECT_EQ(prompt->form->grammar, nullptr);
    const ReadReply reply = prompt->form->read(family.call, true);
    ASSERT_EQ(reply.calls.size(), 1U) << family.file;
    EXPECT_EQ(reply.calls[0].name, "weather");
    EXPECT_EQ(nlohmann::json::parse(reply.calls[0].arguments),
              (nlohmann::json{{"city", "Paris"}, {"days", 2}}));
    EXPECT_EQ(reply.content.find_first_not_of('\n'), std::string::npos) << reply.content;
    const ReadReply words = prompt->form->read("It is sunny.", true);
    EXPECT_EQ(words.content, "It is sunny.");
    EXPECT_TRUE(words.calls.empty());
  }
}

// With more text, content and arguments only grow.
TEST_F(ToolsTest, ReadsWhatHasComeSoFar) {
  const Result<Prompt> prompt = Render(kFamilies[0].file, {{"user", "q"}}, Wish(false));
  ASSERT_TRUE(prompt.has_value());
  const std::string text = std::string("I look.\n") + kFamilies[0].call;
  ReadReply before;
  for (size_t size = 1; size <= text.size(); ++size) {
    ReadReply now = prompt->form->read(text.substr(0, size), size == text.size());
    EXPECT_TRUE(now.content.starts_with(before.content)) << now.content;
    ASSERT_GE(now.calls.size(), before.calls.size());
    if (!before.calls.empty()) {
      EXPECT_TRUE(now.calls[0].arguments.starts_with(before.calls[0].arguments));
    }
    before = std::move(now);
  }
  EXPECT_EQ(before.content.find('<'), std::string::npos);
  EXPECT_EQ(before.calls.size(), 1U);
}

TEST_F(ToolsTest, ARequiredCallIsKeptTo) {
  for (const Family& family : kFamilies) {
    const Result<Prompt> prompt = Render(family.file, {{"user", "q"}}, Wish(true));
    ASSERT_TRUE(prompt.has_value()) << family.file << prompt.error().message;
    ASSERT_NE(prompt->form->grammar, nullptr);
    const llama_vocab* vocab =
        llama_model_get_vocab(llama_get_model(EngineProbe::Context(*engine_)));
    const auto takes = [&](const std::string& text) {
      GrammarState state = std::move(*GrammarState::Make(vocab, *prompt->form->grammar));
      return state.AcceptAll(*engine_->Tokenize(text, false)) &&
             state.Allows(llama_vocab_eos(vocab));
    };
    EXPECT_TRUE(takes(family.call)) << family.file;
    EXPECT_FALSE(takes("It is sunny.")) << family.file;
    std::string other = family.call;
    other.replace(other.find("weather"), 7, "climate");
    EXPECT_FALSE(takes(other)) << family.file;
  }
}

TEST_F(ToolsTest, EarlierCallsReachTheTemplate) {
  std::vector<ChatMessage> messages = {{"user", "q"}, {"assistant", ""}, {"tool", "sunny"}};
  messages[1].tool_calls =
      R"([{"id": "c1", "type": "function", "function": {"name": "weather",
          "arguments": "{\"city\": \"a \\\"b\\\" <|im_end|>\"}"}}])";
  messages[2].tool_call_id = "c1";
  const Result<Prompt> prompt = Render(kFamilies[0].file, messages, Wish(false));
  ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
  EXPECT_NE(prompt->text.find(R"({"city": "a \"b\" <|im_end|>"})"), std::string::npos)
      << prompt->text;
  EXPECT_NE(prompt->text.find("<tool_response>\nsunny\n</tool_response>"), std::string::npos);
  // A text in an argument never becomes a control token.
  const auto controls = [this](const std::vector<Token>& tokens) {
    const llama_vocab* vocab =
        llama_model_get_vocab(llama_get_model(EngineProbe::Context(*engine_)));
    return std::count_if(tokens.begin(), tokens.end(), [vocab](Token token) {
      return (llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_CONTROL) != 0;
    });
  };
  const auto with_control_text = controls(prompt->tokens);
  messages[1].tool_calls = R"([{"id": "c1", "type": "function", "function": {"name": "weather",
      "arguments": "{\"city\": \"a\"}"}}])";
  const Result<Prompt> plain = Render(kFamilies[0].file, messages, Wish(false));
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(with_control_text, controls(plain->tokens));
}

TEST_F(ToolsTest, ATemplateWithoutCallsRefuses) {
  const Result<Prompt> prompt = Render("", {{"user", "q"}}, Wish(false));
  ASSERT_FALSE(prompt.has_value());
  EXPECT_EQ(prompt.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hyper::llama
