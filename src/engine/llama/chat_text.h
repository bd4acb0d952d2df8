// The text of a chat by a Jinja template alone, where the model is elsewhere.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "hyper/engine.h"

namespace hyper::llama {

// What `template_source` makes of the messages, the model's turn opened; BOS and EOS are empty
// texts. `arguments`: JSON values by name, as Engine::RenderChat takes them.
// Errors: kInvalidArgument (the template cannot be read, or refuses the messages). Pure.
Result<std::string> RenderChatText(const std::string& template_source,
                                   std::span<const ChatMessage> messages,
                                   std::span<const std::pair<std::string, std::string>> arguments);

}  // namespace hyper::llama
