#include "src/engine/llama/chat_text.h"

#include "src/engine/llama/backend.h"
#include "src/engine/llama/chat.h"

namespace hyper::llama {

Result<std::string> RenderChatText(const std::string& template_source,
                                   std::span<const ChatMessage> messages,
                                   std::span<const std::pair<std::string, std::string>> arguments) {
  const LogCapture silence;
  const Result<common_chat_templates_ptr> templates =
      ReadTemplate(/*model=*/nullptr, template_source);
  Result<std::string> text = templates ? ApplyTemplate(templates->get(), messages, arguments)
                                       : Result<std::string>(templates.error());
  if (!text) {
    return Error{text.error().code, "the chat template failed: " + text.error().message};
  }
  return text;
}

}  // namespace hyper::llama
