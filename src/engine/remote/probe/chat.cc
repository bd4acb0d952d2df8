#include "src/engine/remote/probe/chat.h"

#include "src/engine/remote/probe/continuation.h"
#include "src/engine/remote/wire/endpoint.h"
#include "src/engine/remote/wire/json_call.h"

namespace hyper::remote {
namespace {

Abilities::Template TemplateEndpoint(base::HttpLoop& loop, const std::string& root,
                                     const std::string& model, const WireJson& messages) {
  const JsonAnswer applied =
      PostJson(loop, root + "/apply-template", {{"messages", messages}}, kChatSeconds);
  if (applied.ok() && applied.body.contains("prompt")) {
    return Abilities::Template::kApplyTemplate;
  }
  const JsonAnswer tokens = PostJson(
      loop, root + "/tokenize",
      {{"model", model}, {"messages", messages}, {"add_generation_prompt", true}}, kChatSeconds);
  const bool told = tokens.ok() && !tokens.body.value("tokens", WireJson::array()).empty();
  return told ? Abilities::Template::kTokenizeMessages : Abilities::Template::kNone;
}

// No endpoint applies the template: does the server continue an assistant's message?
void FindPrefill(base::HttpLoop& loop, const std::string& base, Abilities& can) {
  Result<Continuation> continuation = FindContinuation(loop, base, can, "");
  if (continuation) {
    can.chat = Abilities::Template::kPrefill;
    can.continuation = *continuation;
    can.workarounds.emplace_back(
        "no endpoint applies the chat template; lanes are chats that the server continues from an "
        "assistant's message");
    return;
  }
  const bool answers = continuation.error().code == ErrorCode::kUnsupported;
  can.no_continuation = answers ? continuation.error().message : "";
  can.workarounds.push_back(
      "no endpoint applies the chat template; --chat-template FILE gives one" +
      (answers ? ", which chats need here: " + can.no_continuation : std::string()));
}

}  // namespace

void FindChat(base::HttpLoop& loop, const std::string& base, Abilities& can) {
  const WireJson messages = {{{"role", "user"}, {"content", "1 + 1 = ?"}}};
  can.chat = TemplateEndpoint(loop, RootUrl(base), can.model, messages);
  if (can.chat == Abilities::Template::kNone) {
    FindPrefill(loop, base, can);
  }
  const JsonAnswer chat =
      PostJson(loop, base + "/chat/completions",
               {{"model", can.model}, {"messages", messages}, {"max_tokens", 16}}, kChatSeconds);
  const WireJson choices = chat.body.value("choices", WireJson::array());
  const WireJson message = choices.empty() ? WireJson() : choices[0].value("message", WireJson());
  for (const char* field : {"reasoning_content", "reasoning"}) {
    if (message.is_object() && can.reasoning_field.empty() && message.contains(field) &&
        message[field].is_string()) {
      can.reasoning_field = field;
    }
  }
}

}  // namespace hyper::remote
