// Functions that a model may call: shown by its chat template, called in its own notation.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "hyper/engine.h"
#include "src/engine/llama/chat.h"

namespace hyper::llama {

// As ApplyTemplate, with the functions of `wish` shown, and the form of the reply.
// Errors also: kUnsupported (the template knows no calls).
Result<RenderedChat> ApplyWithTools(const common_chat_templates* templates,
                                    std::span<const ChatMessage> messages,
                                    std::span<const std::pair<std::string, std::string>> arguments,
                                    const ReplyWish& wish);

}  // namespace hyper::llama
