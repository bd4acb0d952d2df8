#include "hyper/llama_engine.h"
#include "src/engine/llama/backend.h"
#include "src/engine/llama/chat.h"

namespace hyper {

Result<std::string> RenderChatTemplate(
    const std::string& source, std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> arguments) {
  const llama::LogCapture silence;
  const Result<common_chat_templates_ptr> templates =
      llama::ReadTemplate(/*model=*/nullptr, source);
  Result<std::string> text = templates ? llama::ApplyTemplate(templates->get(), messages, arguments)
                                       : Result<std::string>(templates.error());
  if (!text) {
    return Error{text.error().code, "the chat template failed: " + text.error().message};
  }
  return text;
}

}  // namespace hyper
