// Prompts of a remote engine whose server applies its chat template only inside a chat: such a
// prompt stands for the messages, and what follows it goes out as the assistant's message.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/http/url.h"
#include "src/engine/remote/probe/continuation.h"
#include "src/engine/remote/remote_engine.h"
#include "src/engine/remote/wire/json_call.h"

namespace hyper::remote {
namespace {

// Numbers of tokens that stand for chats count down from here; no server has such.
constexpr int32_t kFirstChatId = -1000;
constexpr int32_t kChatRestId = -999;  // the further tokens of a chat's prompt

}  // namespace

// The chat that a prompt begins with; null: none.
const ChatPrompt* RemoteEngine::ChatOf(std::span<const Token> prompt) const {
  const auto found = chats_.find(prompt.front());
  const bool whole =
      found != chats_.end() && prompt.size() >= static_cast<size_t>(found->second->tokens);
  return whole ? found->second.get() : nullptr;
}

// How the server continues chats with these template arguments, which may open the turn otherwise.
Result<Continuation> RemoteEngine::ContinuationWith(const std::string& arguments) {
  if (arguments.empty()) {
    return can().continuation;
  }
  const auto known = continuations_.find(arguments);
  if (known != continuations_.end()) {
    return known->second;
  }
  Result<Continuation> found = FindContinuation(*loop_, replicas_[probed_].url, can(), arguments);
  if (found) {
    continuations_.emplace(arguments, *found);
    return found;
  }
  return Error{ErrorCode::kUnsupported,
               fmt::format("with the template arguments {} the server does not continue an "
                           "assistant's message: {}; give the template with --chat-template FILE",
                           arguments, found.error().message)};
}

// Tokens of the prompt that the server makes of a chat; it may keep them for the lanes.
Result<int> RemoteEngine::CountChat(const ChatPrompt& chat) {
  const std::string& url = replicas_[probed_].url;
  CompletionRequest request;
  request.chat = &chat;
  request.stream = false;
  const std::string body = CompletionBody(request, can());
  const JsonAnswer answer =
      PostJson(*loop_, url + CompletionPath(request), WireJson::parse(body), kChatSeconds);
  if (!answer.ok()) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{} does not take the chat: {}", url, answer.error_words)};
  }
  Chunk chunk;
  const bool told = parser_.Parse(answer.text, chunk) && chunk.prompt_tokens > 0;
  constexpr size_t kBytesPerToken = 3;  // limits need a number
  return told ? chunk.prompt_tokens : static_cast<int>(1 + chat.messages.size() / kBytesPerToken);
}

Result<Prompt> RemoteEngine::RenderForPrefill(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments) {
  Prompt prompt;
  ChatPrompt chat;
  for (const ChatMessage& message : messages) {
    prompt.question = message.role == "user" ? message.content : prompt.question;
    prompt.text += fmt::format("{}: {}\n", message.role, message.content);
  }
  chat.messages = MessagesJson(messages).dump(-1, ' ', false, WireJson::error_handler_t::replace);
  chat.arguments =
      template_arguments.empty() ? "" : TemplateArgumentsJson(template_arguments).dump();
  const std::pair<std::string, std::string> key = {chat.messages, chat.arguments};
  if (!chat_tokens_.contains(key)) {
    const Result<Continuation> continuation = ContinuationWith(chat.arguments);
    const Result<int> count = continuation ? CountChat(chat) : Result<int>(continuation.error());
    if (!count) {
      return Error{count.error().code, base::WithoutKey(count.error().message, options_.api_key)};
    }
    chat.continuation = *continuation;
    chat.tokens = *count;
    const auto number = static_cast<int32_t>(chats_.size());
    const Token token = table_.Intern(kFirstChatId - number, prompt.text);
    chat_tokens_.emplace(key, token);
    chats_.emplace(token, std::make_unique<ChatPrompt>(std::move(chat)));
  }
  const Token first = chat_tokens_.at(key);
  const ChatPrompt& known = *chats_.at(first);
  prompt.tokens.assign(static_cast<size_t>(known.tokens), table_.Intern(kChatRestId, ""));
  prompt.tokens.front() = first;
  prompt.reasoning_opened = !known.continuation.opener.empty();
  return prompt;
}

}  // namespace hyper::remote
