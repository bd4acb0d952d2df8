#include "src/engine/llama/tools.h"

#include <algorithm>
#include <exception>
#include <memory>

namespace hyper::llama {
namespace {

// Whether a text has more open brackets than the reader, which recurses, should follow.
bool IsTooDeep(std::string_view text) {
  constexpr int kMostLevels = 256;
  int level = 0;
  for (const char c : text) {
    level += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    level = std::max(level, 0);
    if (level > kMostLevels) {
      return true;
    }
  }
  return false;
}

// Reads replies in the notation that llama.cpp found for the template.
std::function<ReadReply(std::string_view, bool)> ReaderOf(const common_chat_params& params) {
  auto syntax = std::make_shared<common_chat_parser_params>(params);
  syntax->reasoning_format = COMMON_REASONING_FORMAT_AUTO;
  if (!params.parser.empty()) {
    syntax->parser.load(params.parser);
  }
  return [syntax = std::move(syntax)](std::string_view text, bool whole) {
    ReadReply as_content{"", std::string(text), {}};
    if (IsTooDeep(text)) {
      return whole ? as_content : ReadReply();
    }
    for (const bool partial : {!whole, true}) {  // what was cut off is read as far as it goes
      try {
        const common_chat_msg message = common_chat_parse(std::string(text), partial, *syntax);
        ReadReply reply{message.reasoning_content, message.content, {}};
        for (const common_chat_tool_call& call : message.tool_calls) {
          if (whole &&
              (call.name.empty() || common_json::parse_no_throw(call.arguments).is_discarded())) {
            return as_content;  // it broke off within a call
          }
          reply.calls.push_back({call.name, call.arguments});
        }
        return reply;
      } catch (const std::exception&) {
        continue;  // no call in that notation
      }
    }
    return whole ? as_content : ReadReply();
  };
}

}  // namespace

Result<RenderedChat> ApplyWithTools(const common_chat_templates* templates,
                                    std::span<const ChatMessage> messages,
                                    std::span<const std::pair<std::string, std::string>> arguments,
                                    const ReplyWish& wish) {
  const std::map<std::string, bool> can = common_chat_templates_get_caps(templates);
  if (!can.at("supports_tools") || !can.at("supports_tool_calls")) {
    return Error{ErrorCode::kUnsupported,
                 "the model's chat template knows no calls of functions; leave them out, or give a "
                 "template that does with --chat-template"};
  }
  try {
    common_chat_templates_inputs inputs = TemplateInputs(messages, arguments);
    inputs.tools = common_chat_tools_parse_oaicompat(common_json::parse(wish.tools));
    inputs.tool_choice =
        wish.call_required ? COMMON_CHAT_TOOL_CHOICE_REQUIRED : COMMON_CHAT_TOOL_CHOICE_AUTO;
    inputs.parallel_tool_calls = wish.parallel_calls;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
    const common_chat_params params = common_chat_templates_apply(templates, inputs);
    if (wish.call_required && params.grammar.empty()) {
      return Error{ErrorCode::kUnsupported,
                   "llama.cpp finds no notation of calls in the model's chat template; let the "
                   "model choose whether it calls, or give another --chat-template"};
    }
    ReplyForm form;
    form.read = ReaderOf(params);
    // A model that may answer in words is not kept to a call that it begins: such a grammar would
    // have to wait for the beginning, and only what is read as a call is one.
    if (wish.call_required) {
      form.grammar =
          std::make_shared<const Grammar>(Grammar{params.grammar, params.generation_prompt});
    }
    return RenderedChat{params.prompt, std::make_shared<const ReplyForm>(std::move(form))};
  } catch (const std::exception& failure) {
    return InOneLine(failure);
  }
}

}  // namespace hyper::llama
