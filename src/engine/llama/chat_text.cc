#include "src/engine/llama/chat_text.h"

#include <chat.h>

#include <algorithm>
#include <exception>

#include "src/engine/llama/backend.h"

namespace hyper::llama {
namespace {

Error Refused(const std::exception& failure) {
  std::string words = failure.what();
  std::replace(words.begin(), words.end(), '\n', ' ');
  return {ErrorCode::kInvalidArgument, "the chat template failed: " + words};
}

}  // namespace

Result<std::string> RenderChatText(const std::string& template_source,
                                   std::span<const ChatMessage> messages,
                                   std::span<const std::pair<std::string, std::string>> arguments) {
  const LogCapture silence;
  common_chat_templates_inputs inputs;
  inputs.force_pure_content = true;  // no parser for tool calls
  for (const ChatMessage& message : messages) {
    common_chat_msg entry;
    entry.role = message.role;
    entry.content = message.content;
    inputs.messages.push_back(std::move(entry));
  }
  for (const auto& [name, value] : arguments) {
    inputs.chat_template_kwargs[name] = value;
    if (name == "enable_thinking") {
      inputs.enable_thinking = value != "false";
    }
  }
  try {
    // llama.cpp slices the exception of a template that it cannot read; this one keeps its words.
    const common_chat_template check(template_source, "", "");
    const common_chat_templates_ptr templates =
        common_chat_templates_init(/*model=*/nullptr, template_source);
    return common_chat_templates_apply(templates.get(), inputs).prompt;
  } catch (const std::exception& failure) {
    return Refused(failure);
  }
}

}  // namespace hyper::llama
