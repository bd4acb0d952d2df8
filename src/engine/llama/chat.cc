#include "src/engine/llama/chat.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "hyper/think_tags.h"
#include "src/engine/llama/backend.h"
#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/grammar.h"
#include "src/engine/llama/tools.h"

namespace hyper::llama {
namespace {

// Tags that templates look for inside messages, to cut old reasoning out of them; they stay
// template text so that the template still finds them.
constexpr std::array<std::string_view, 2> kReasoningTags = {"<think>", "</think>"};
constexpr std::string_view kSpaces = " \t\r\n";

// Messages whose contents are replaced by marks, and what each mark stands for.
struct MarkedMessages {
  std::vector<ChatMessage> messages;
  std::vector<std::string> contents;
  size_t first_argument = SIZE_MAX;  // from here on, contents are texts in arguments of calls
  std::string mark;                  // a mark is this, the number of its content, and 'x'
};

std::string Mark(const MarkedMessages& marked, size_t index) {
  return marked.mark + std::to_string(index) + "x";
}

// A text that occurs in no message.
std::string UnusedText(std::span<const ChatMessage> messages) {
  std::string text = "HyperMessage";
  const auto used = [&](const ChatMessage& message) {
    return message.content.find(text) != std::string::npos ||
           message.role.find(text) != std::string::npos ||
           message.tool_calls.find(text) != std::string::npos;
  };
  while (std::any_of(messages.begin(), messages.end(), used)) {
    text += 'q';
  }
  return text;
}

// `content` with everything but its outer white space (which templates trim) replaced by a mark.
std::string MarkContent(std::string_view content, MarkedMessages* marked) {
  const size_t begin = content.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) {
    return std::string(content);
  }
  const size_t end = content.find_last_not_of(kSpaces) + 1;
  const std::string mark = Mark(*marked, marked->contents.size());
  marked->contents.emplace_back(content.substr(begin, end - begin));
  return std::string(content.substr(0, begin)) + mark + std::string(content.substr(end));
}

// The same for a reply of the model, whose reasoning tags the template may look for.
std::string MarkReply(std::string_view content, MarkedMessages* marked) {
  std::string out;
  while (!content.empty()) {
    size_t tag_begin = std::string_view::npos;
    size_t tag_size = 0;
    for (const std::string_view tag : kReasoningTags) {
      if (const size_t found = content.find(tag); found < tag_begin) {
        tag_begin = found;
        tag_size = tag.size();
      }
    }
    out += MarkContent(content.substr(0, tag_begin), marked);
    if (tag_begin == std::string_view::npos) {
      break;
    }
    out += content.substr(tag_begin, tag_size);
    content.remove_prefix(tag_begin + tag_size);
  }
  return out;
}

// Replaces the texts in the arguments of a call by marks.
void MarkArguments(common_json& value, MarkedMessages* marked) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (!text.empty()) {
      value = common_json::make(Mark(*marked, marked->contents.size()));
      marked->contents.push_back(text);
    }
  } else if (value.is_object() || value.is_array()) {
    for (auto part = value.begin(); part != value.end(); ++part) {
      MarkArguments(part.value(), marked);
    }
  }
}

// The calls of a message, an array as the OpenAI API has it, with marks in their arguments.
std::string MarkCalls(const std::string& tool_calls, MarkedMessages* marked) {
  common_json calls = common_json::parse(tool_calls);
  for (auto call = calls.begin(); call != calls.end(); ++call) {
    common_json& function = call.value().at("function");
    common_json arguments = common_json::parse(function.at("arguments").get<std::string>());
    MarkArguments(arguments, marked);
    function["arguments"] = arguments.dump();
  }
  return calls.dump();
}

MarkedMessages MarkMessages(std::span<const ChatMessage> messages) {
  MarkedMessages marked;
  marked.mark = UnusedText(messages);
  for (const ChatMessage& message : messages) {
    std::string content = message.role == "assistant" ? MarkReply(message.content, &marked)
                                                      : MarkContent(message.content, &marked);
    marked.messages.push_back(message);
    marked.messages.back().content = std::move(content);
  }
  marked.first_argument = marked.contents.size();
  for (ChatMessage& message : marked.messages) {
    if (!message.tool_calls.empty()) {
      message.tool_calls = MarkCalls(message.tool_calls, &marked);
    }
  }
  return marked;
}

// Cuts a rendered text at the marks and puts the contents back.
std::vector<PromptPiece> Unmark(const std::string& rendered, const MarkedMessages& marked) {
  std::vector<PromptPiece> pieces;
  size_t begin = 0;
  while (true) {
    const size_t found = rendered.find(marked.mark, begin);
    if (found > begin) {
      pieces.push_back({rendered.substr(begin, found - begin), false});
    }
    if (found == std::string::npos) {
      return pieces;
    }
    const size_t digits = found + marked.mark.size();
    const size_t end = rendered.find('x', digits);
    const size_t index = std::strtoul(rendered.c_str() + digits, nullptr, 10);
    if (end == std::string::npos || index >= marked.contents.size()) {
      return pieces;
    }
    std::string content = marked.contents[index];
    if (index >= marked.first_argument && found > 0 && rendered[found - 1] == '"') {
      const std::string quoted = common_json::make(content).dump_safe();  // it stands in JSON
      content = quoted.substr(1, quoted.size() - 2);
    }
    pieces.push_back({std::move(content), true});
    begin = end + 1;
    if (begin == rendered.size()) {
      return pieces;
    }
  }
}

// The tag that closes the reasoning in which `text` leaves the model; empty: it leaves it in none.
std::string ClosingTag(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  for (TagPair& pair : DefaultThinkTags()) {
    if (text.ends_with(pair.open)) {
      return std::move(pair.close);
    }
  }
  return "";
}

int64_t CountControl(const llama_vocab* vocab, std::span<const Token> tokens) {
  return std::count_if(tokens.begin(), tokens.end(), [&](Token token) {
    return (llama_vocab_get_attr(vocab, token) &
            (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
  });
}

Error Refused(const Error& reason) {
  return {reason.code,
          "the model's chat template failed: " + reason.message + "; give another chat template"};
}

}  // namespace

Error InOneLine(const std::exception& failure) {
  std::string line = failure.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return InvalidArgument(std::move(line));
}

std::vector<Token> TokenizeText(const llama_vocab* vocab, std::string_view text, bool add_special,
                                bool parse_special) {
  std::vector<Token> tokens(text.size() + 8);
  const auto size = static_cast<int32_t>(text.size());
  int32_t count = llama_tokenize(vocab, text.data(), size, tokens.data(),
                                 static_cast<int32_t>(tokens.size()), add_special, parse_special);
  if (count < 0) {
    tokens.resize(static_cast<size_t>(-count));
    count = llama_tokenize(vocab, text.data(), size, tokens.data(),
                           static_cast<int32_t>(tokens.size()), add_special, parse_special);
  }
  tokens.resize(static_cast<size_t>(std::max(count, 0)));
  return tokens;
}

ChatRenderer::ChatRenderer(const llama_model* model, std::string template_source)
    : model_(model), vocab_(llama_model_get_vocab(model)), source_(std::move(template_source)) {
  if (source_.empty()) {
    const char* own = llama_model_chat_template(model, nullptr);
    source_ = own == nullptr ? "" : own;
  }
}

Result<common_chat_templates_ptr> ReadTemplate(const llama_model* model,
                                               const std::string& source) {
  try {
    // llama.cpp slices the exception of a template that it cannot read; this one keeps its words.
    const common_chat_template check(source, "", "");
    return common_chat_templates_init(model, source);
  } catch (const std::exception& failure) {
    return InOneLine(failure);
  }
}

common_chat_templates_inputs TemplateInputs(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> arguments) {
  common_chat_templates_inputs inputs;
  for (const ChatMessage& message : messages) {
    common_chat_msg entry;
    entry.role = message.role;
    entry.content = message.content;
    entry.tool_call_id = message.tool_call_id;
    if (!message.tool_calls.empty()) {
      const common_json calls = common_json::parse(message.tool_calls);
      for (size_t i = 0; i < calls.size(); ++i) {
        const common_json& function = calls.at(i).at("function");
        entry.tool_calls.push_back({function.at("name").get<std::string>(),
                                    function.at("arguments").get<std::string>(),
                                    calls.at(i).value("id", "")});
      }
    }
    inputs.messages.push_back(std::move(entry));
  }
  for (const auto& [name, value] : arguments) {
    inputs.chat_template_kwargs[name] = value;
    if (name == "enable_thinking") {
      inputs.enable_thinking = value != "false";
    }
  }
  return inputs;
}

Result<std::string> ApplyTemplate(const common_chat_templates* templates,
                                  std::span<const ChatMessage> messages,
                                  std::span<const std::pair<std::string, std::string>> arguments) {
  try {
    common_chat_templates_inputs inputs = TemplateInputs(messages, arguments);
    // Only the text is wanted, not a parser for tool calls: deriving one fails for some templates.
    inputs.force_pure_content = true;
    return common_chat_templates_apply(templates, inputs).prompt;
  } catch (const std::exception& failure) {
    return InOneLine(failure);
  }
}

Status ChatRenderer::Prepare() {
  if (templates_ != nullptr) {
    return {};
  }
  Result<common_chat_templates_ptr> templates = ReadTemplate(model_, source_);
  if (!templates) {
    return Refused(templates.error());
  }
  templates_ = std::move(*templates);
  return {};
}

std::vector<Token> ChatRenderer::Tokenize(const std::string& text,
                                          std::span<const PromptPiece> pieces) const {
  std::vector<Token> whole = TokenizeText(vocab_, text, true, true);
  std::vector<Token> apart;
  for (const PromptPiece& piece : pieces) {
    const std::vector<Token> tokens =
        TokenizeText(vocab_, piece.text, apart.empty(), !piece.from_message);
    apart.insert(apart.end(), tokens.begin(), tokens.end());
  }
  // Ordinary text is tokenised in one go, as the model was trained: cut at the messages' borders it
  // could differ there. That is the lesser evil where a message would bring in control tokens.
  return CountControl(vocab_, whole) == CountControl(vocab_, apart) ? whole : apart;
}

Result<Prompt> ChatRenderer::Render(std::span<const ChatMessage> messages,
                                    std::span<const std::pair<std::string, std::string>> arguments,
                                    const ReplyWish& wish) {
  Prompt prompt;
  for (const ChatMessage& message : messages) {
    prompt.question = message.role == "user" ? message.content : prompt.question;
  }
  std::vector<PromptPiece> pieces;
  if (source_.empty()) {
    prompt.warning = "the model has no chat template; the messages are given to it as plain text";
    for (const ChatMessage& message : messages) {
      pieces.push_back({(pieces.empty() ? "" : "\n\n") + message.content, true});
    }
  } else {
    if (Status status = Prepare(); !status) {
      return status.error();
    }
    const MarkedMessages marked = MarkMessages(messages);
    if (wish.tools.empty()) {
      const Result<std::string> rendered =
          ApplyTemplate(templates_.get(), marked.messages, arguments);
      if (!rendered) {
        return Refused(rendered.error());
      }
      pieces = Unmark(*rendered, marked);
    } else {
      Result<RenderedChat> rendered =
          ApplyWithTools(templates_.get(), marked.messages, arguments, wish);
      if (!rendered) {
        return rendered.error();
      }
      pieces = Unmark(rendered->text, marked);
      prompt.form = std::move(rendered->form);
    }
  }
  for (const PromptPiece& piece : pieces) {
    prompt.text += piece.text;
  }
  prompt.tokens = Tokenize(prompt.text, pieces);
  prompt.reasoning_opened =
      !pieces.empty() && !pieces.back().from_message && !ClosingTag(pieces.back().text).empty();
  if (!wish.json_schema.empty()) {
    Result<std::shared_ptr<const ReplyForm>> form = JsonForm(wish.json_schema, prompt);
    if (!form) {
      return form.error();
    }
    prompt.form = std::move(*form);
  }
  if (prompt.form != nullptr && prompt.form->grammar != nullptr) {
    const Result<GrammarState> state = GrammarState::Make(vocab_, *prompt.form->grammar);
    if (!state) {
      return state.error();
    }
  }
  return prompt;
}

Result<std::shared_ptr<const ReplyForm>> ChatRenderer::JsonForm(const std::string& json_schema,
                                                                const Prompt& prompt) const {
  std::vector<std::pair<std::string, std::string>> tags;
  for (const auto& [open, close] : DefaultThinkTags()) {
    if (source_.find(open) != std::string::npos) {
      tags.emplace_back(open, close);
    }
  }
  Result<std::string> rules =
      JsonGrammar(json_schema, prompt.reasoning_opened ? ClosingTag(prompt.text) : "", tags);
  if (!rules) {
    return rules.error();
  }
  ReplyForm form;
  form.grammar = std::make_shared<const Grammar>(Grammar{std::move(*rules)});
  return std::make_shared<const ReplyForm>(std::move(form));
}

}  // namespace hyper::llama
