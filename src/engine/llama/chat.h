// Prompts from chat messages: the model's own Jinja template, by llama.cpp's engine.
#pragma once

#include <chat.h>
#include <llama.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/engine.h"

namespace hyper::llama {

// Tokens of `text`. `add_special` puts the tokens around it that the model wants, such as BOS.
std::vector<Token> TokenizeText(const llama_vocab* vocab, std::string_view text, bool add_special,
                                bool parse_special);

// The template, read; that of `model`, which may be null, where `source` is empty.
// Errors: kInvalidArgument, with llama.cpp's own words in one line (it cannot be read).
Result<common_chat_templates_ptr> ReadTemplate(const llama_model* model, const std::string& source);

// What llama.cpp's templates take: the messages, and `arguments` as Engine::RenderChat takes them.
common_chat_templates_inputs TemplateInputs(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> arguments);

// llama.cpp's words in one line, as kInvalidArgument.
Error InOneLine(const std::exception& failure);

// Messages as the template writes them, and the form of the reply, null where it has none.
struct RenderedChat {
  std::string text;
  std::shared_ptr<const ReplyForm> form;
};

// What the template makes of the messages, the model's turn opened. `arguments`: JSON values by
// name, as Engine::RenderChat takes them. Errors: as ReadTemplate (it refuses the messages).
Result<std::string> ApplyTemplate(const common_chat_templates* templates,
                                  std::span<const ChatMessage> messages,
                                  std::span<const std::pair<std::string, std::string>> arguments);

// A text that the template made or that a message brought.
struct PromptPiece {
  std::string text;
  bool from_message = false;
};

class ChatRenderer {
 public:
  // `model` outlives the renderer; `template_source` replaces its template unless empty.
  ChatRenderer(const llama_model* model, std::string template_source);

  // The prompt for `messages`; see Engine::RenderForm.
  // Errors: kInvalidArgument (the template refuses or cannot be read, an argument is not JSON, a
  // schema cannot be read), kUnsupported (the template knows no calls).
  Result<Prompt> Render(std::span<const ChatMessage> messages,
                        std::span<const std::pair<std::string, std::string>> arguments,
                        const ReplyWish& wish);

 private:
  // The form of a reply to `prompt` that is JSON of the schema, behind its reasoning if the
  // template knows one.
  Result<std::shared_ptr<const ReplyForm>> JsonForm(const std::string& json_schema,
                                                    const Prompt& prompt) const;
  Status Prepare();
  std::vector<Token> Tokenize(const std::string& text, std::span<const PromptPiece> pieces) const;

  const llama_model* model_;
  const llama_vocab* vocab_;
  std::string source_;
  common_chat_templates_ptr templates_;
};

}  // namespace hyper::llama
