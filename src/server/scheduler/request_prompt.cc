#include "src/server/scheduler/request_prompt.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace hyper::server {
namespace {

// The closing tag of the reasoning that the template has opened at the end of `text`.
std::string ClosingTag(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  for (const TagPair& pair : DefaultThinkTags()) {
    if (text.ends_with(pair.open)) {
      return pair.close;
    }
  }
  return "</think>";
}

// Raw text stands behind the control tokens that all prompts begin with, as with llama-server.
// Empty where the text is.
Result<std::vector<Token>> RawTokens(Engine& engine, const std::string& text) {
  Result<std::vector<Token>> tokens = engine.Tokenize(text, /*parse_special=*/false);
  if (!tokens || tokens->empty()) {
    return tokens;
  }
  const Result<std::vector<Token>> first = FirstTokens(engine);
  if (!first) {
    return first.error();
  }
  tokens->insert(tokens->begin(), first->begin(), first->end());
  return tokens;
}

Result<RequestPrompt> RawPrompt(Engine& engine, const ServedRun& request) {
  RequestPrompt raw;
  raw.prompt.tokens = request.prompt_tokens;
  raw.prompt.text = request.prompt_text;
  if (raw.prompt.tokens.empty()) {
    Result<std::vector<Token>> tokens = RawTokens(engine, raw.prompt.text);
    if (!tokens) {
      return tokens.error();
    }
    raw.prompt.tokens = std::move(*tokens);
  }
  if (raw.prompt.tokens.empty()) {
    return InvalidArgument("the prompt is empty; give it some text");
  }
  const size_t begin = request.fork ? request.fork->begin : request.prompt_tokens.size();
  for (size_t i = 0; i < request.prompt_tokens.size(); ++i) {
    const std::string text = engine.TokenText(request.prompt_tokens[i]);
    raw.prompt.text += text;
    raw.start += i < begin ? "" : text;
  }
  if (request.fork) {
    const std::string_view text = raw.prompt.text;
    raw.prompt.question = request.fork->question;
    raw.start_in_reasoning =
        PromptOpensReasoning(text.substr(0, text.size() - raw.start.size()), DefaultThinkTags());
    raw.prompt.reasoning_opened =
        SplitReasoning(raw.start, DefaultThinkTags(), raw.start_in_reasoning).unclosed;
  }
  return raw;
}

}  // namespace

std::vector<StartPiece> StartPieces(const Prompt& rendered, const AssistantStart& start) {
  std::vector<StartPiece> pieces;
  const bool opened = rendered.reasoning_opened;
  if (opened || !start.reasoning.empty()) {
    if (!opened) {
      pieces.push_back({"<think>\n", true});
    }
    pieces.push_back({start.reasoning, false});
    if (!start.content.empty()) {
      const std::string close = opened ? ClosingTag(rendered.text) : "</think>";
      pieces.push_back({"\n" + close + "\n\n", true});
    }
  }
  pieces.push_back({start.content, false});
  return pieces;
}

Result<std::vector<Token>> FirstTokens(Engine& engine) {
  const std::vector<ChatMessage> messages = {{"user", "x"}};
  Result<Prompt> chat = engine.RenderChat(messages, {});
  if (!chat) {
    return chat.error();
  }
  const Result<std::vector<Token>> text = engine.Tokenize(chat->text, /*parse_special=*/true);
  if (!text) {
    return text.error();
  }
  std::vector<Token>& tokens = chat->tokens;
  const auto behind = std::search(tokens.begin(), tokens.end(), text->begin(), text->end());
  if (behind == tokens.end()) {
    return std::vector<Token>();
  }
  tokens.erase(behind, tokens.end());
  return std::move(tokens);
}

Result<RequestPrompt> RenderRequest(Engine& engine, const ServedRun& request) {
  if (request.messages.empty()) {
    return RawPrompt(engine, request);
  }
  Result<Prompt> rendered =
      engine.RenderForm(request.messages, request.template_arguments, request.wish);
  if (!rendered) {
    return rendered.error();
  }
  RequestPrompt chat;
  chat.prompt = std::move(*rendered);
  if (!request.start) {
    return chat;
  }
  chat.start_in_reasoning = chat.prompt.reasoning_opened;
  for (const StartPiece& piece : StartPieces(chat.prompt, *request.start)) {
    const Result<std::vector<Token>> tokens = engine.Tokenize(piece.text, piece.tag);
    if (!tokens) {
      return tokens.error();
    }
    chat.prompt.tokens.insert(chat.prompt.tokens.end(), tokens->begin(), tokens->end());
    chat.start += piece.text;
  }
  chat.prompt.text += chat.start;
  chat.prompt.reasoning_opened =
      SplitReasoning(chat.start, DefaultThinkTags(), chat.start_in_reasoning).unclosed;
  return chat;
}

}  // namespace hyper::server
