#include "src/server/api/request_messages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "src/server/api/body_json.h"
#include "src/server/api/reply_wish.h"

namespace hyper::server {
namespace {

constexpr std::array<std::string_view, 5> kRoles{"system", "developer", "user", "assistant",
                                                 "tool"};
constexpr std::array<std::string_view, 3> kTextParts{"text", "input_text", "output_text"};

template <class List>
bool Contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Text of a message; false where it is neither text nor parts of text.
bool ReadContent(const Json& content, std::string& text) {
  if (content.is_null()) {
    return true;
  }
  if (content.is_string()) {
    text = content.get<std::string>();
    return true;
  }
  if (!content.is_array()) {
    return false;
  }
  for (const Json& part : content) {
    const bool typed = part.is_object() && part.contains("type") && part["type"].is_string() &&
                       part.contains("text") && part["text"].is_string();
    if (!typed || !Contains(kTextParts, part["type"].get_ref<const std::string&>())) {
      return false;
    }
    text += part["text"].get<std::string>();
  }
  return true;
}

// What an assistant's message says of its reasoning, under either of the names in use.
std::string ReasoningOf(const Json& item) {
  for (const char* name : {"reasoning_content", "reasoning"}) {
    if (const auto found = item.find(name); found != item.end() && found->is_string()) {
      return found->get<std::string>();
    }
  }
  return "";
}

// The text of an output item of /v1/responses that holds reasoning; nothing where it is another.
std::optional<std::string> ReasoningItem(const Json& item) {
  if (!item.is_object() || item.value("type", Json()) != "reasoning") {
    return std::nullopt;
  }
  std::string text;
  if (const auto content = item.find("content"); content != item.end() && content->is_array()) {
    for (const Json& part : *content) {
      const auto found = part.is_object() ? part.find("text") : part.end();
      text += found != part.end() && found->is_string() ? found->get<std::string>() : "";
    }
  }
  return text;
}

// A message of the conversation; `reasoning` is that of an assistant's.
struct ReadTurn {
  ChatMessage message;
  std::string reasoning;
  bool calls_tools = false;
};

// Whether every name in a value stands for itself: in a prompt, text such as <|im_end|> would be a
// control token.
bool HasPlainNames(const Json& value) {
  if (!value.is_structured()) {
    return true;
  }
  for (const auto& [name, part] : value.items()) {
    if ((value.is_object() && name.find_first_of("<>[]|") != name.npos) || !HasPlainNames(part)) {
      return false;
    }
  }
  return true;
}

// Whether a value is the arguments of a call: JSON as a string, not too deep to be read.
bool IsArguments(const Json& value) {
  if (!value.is_string() || !TooMuch(value.get_ref<const std::string&>()).empty()) {
    return false;
  }
  const Json read = Json::parse(value.get_ref<const std::string&>(), nullptr,
                                /*allow_exceptions=*/false);
  return !read.is_discarded() && HasPlainNames(read);
}

// The calls that an assistant's message makes, and the one that a tool's message answers; false,
// after an error, where they are none.
bool ReadCalls(FieldReader& fields, const std::string& at, const Json& item, ReadTurn& turn) {
  const Json id = item.value("tool_call_id", Json());
  if (!id.is_null() && !IsCallName(id)) {
    fields.Fail(at + ".tool_call_id", "'" + at + ".tool_call_id' takes the id of a call");
    return false;
  }
  turn.message.tool_call_id = id.is_string() ? id.get<std::string>() : "";
  const Json calls = item.value("tool_calls", Json());
  if (turn.message.role != "assistant" || calls.empty()) {
    return true;
  }
  const auto is_call = [](const Json& call) {
    const Json function = call.is_object() ? call.value("function", Json()) : Json();
    const Json own = call.is_object() ? call.value("id", Json()) : Json();
    return function.is_object() && IsCallName(function.value("name", Json())) &&
           (own.is_null() || IsCallName(own)) && IsArguments(function.value("arguments", Json()));
  };
  if (!calls.is_array() || !std::all_of(calls.begin(), calls.end(), is_call)) {
    fields.Fail(at + ".tool_calls", "'" + at +
                                        ".tool_calls' takes an array of {\"function\": "
                                        "{\"name\": .., \"arguments\": JSON as a string}}");
    return false;
  }
  turn.message.tool_calls = DumpJson(calls);
  turn.calls_tools = true;
  return true;
}

std::optional<ReadTurn> ReadMessage(FieldReader& fields, const std::string& at, const Json& item) {
  const auto role = item.is_object() ? item.find("role") : item.end();
  if (!item.is_object() || role == item.end() || !role->is_string() ||
      !Contains(kRoles, role->get_ref<const std::string&>())) {
    fields.Fail(at + ".role", "'" + at + ".role' takes system, developer, user, assistant or tool");
    return std::nullopt;
  }
  ReadTurn turn;
  turn.message.role = *role == "developer" ? "system" : role->get<std::string>();
  const bool assistant = turn.message.role == "assistant";
  if (!ReadCalls(fields, at, item, turn)) {
    return std::nullopt;
  }
  const auto content = item.find("content");
  const bool missing = content == item.end() ? !turn.calls_tools : content->is_null() && !assistant;
  if (missing || (content != item.end() && !ReadContent(*content, turn.message.content))) {
    fields.Fail(at + ".content",
                "'" + at + ".content' takes text or an array of parts of type \"text\"");
    return std::nullopt;
  }
  turn.reasoning = assistant ? ReasoningOf(item) : "";
  return turn;
}

// Takes an assistant's last message off the conversation: the model continues it.
void TakeStart(FieldReader& fields, const char* name, ReadTurn last, ServedRun& run) {
  std::vector<ChatMessage>& messages = run.messages;
  if (messages.empty()) {
    fields.Fail(name, fmt::format("'{}' needs a message before the assistant's", name));
  } else if (messages.back().role == "assistant") {
    fields.Fail(name, fmt::format("'{}' ends in two messages of the assistant; only one can be "
                                  "continued",
                                  name));
  } else if (last.calls_tools) {
    fields.Fail(name,
                fmt::format("'{}' ends in a call of a tool, which cannot be continued", name));
  } else {
    run.start = {std::move(last.reasoning), std::move(last.message.content)};
  }
}

// The fields that other servers have for the same.
void CheckContinuation(FieldReader& fields, bool continued) {
  bool wanted = continued;
  bool own_turn = !continued;
  fields.Take("continue_final_message", wanted);
  fields.Take("add_generation_prompt", own_turn);
  if (wanted && !continued) {
    fields.Fail("continue_final_message",
                "'continue_final_message' needs a last message of the assistant");
  } else if (!wanted && continued && fields.Find("continue_final_message") != nullptr) {
    fields.Refuse("continue_final_message", "a last message of the assistant is continued");
  } else if (!own_turn && !continued) {
    fields.Refuse("add_generation_prompt", "the reply is a turn of the assistant");
  }
}

bool ReadTokens(const Json& list, int vocab_size, std::vector<Token>& tokens) {
  for (const Json& token : list) {
    if (!Holds<int>(token) || token.get<int>() < 0 || token.get<int>() >= vocab_size) {
      return false;
    }
    tokens.push_back(token.get<int>());
  }
  return !tokens.empty();
}

}  // namespace

void ReadMessages(FieldReader& fields, const char* name, bool keep_reasoning, ServedRun& run) {
  const Json* list = fields.Find(name);
  if (list == nullptr || !list->is_array() || list->empty()) {
    fields.Fail(name, fmt::format("'{}' takes an array of at least one message", name));
    return;
  }
  std::string reasoning;  // of items before the next message
  std::optional<ReadTurn> last;
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& item = (*list)[i];
    if (const std::optional<std::string> text = ReasoningItem(item)) {
      reasoning += *text;
      last.reset();
      continue;
    }
    last = ReadMessage(fields, fmt::format("{}[{}]", name, i), item);
    if (!last) {
      return;
    }
    last->reasoning = std::exchange(reasoning, "") + last->reasoning;
    if (i + 1 == list->size() && last->message.role == "assistant") {
      break;
    }
    ChatMessage message = last->message;
    if (keep_reasoning && message.role == "assistant" && !last->reasoning.empty()) {
      message.content = "<think>\n" + last->reasoning + "\n</think>\n\n" + message.content;
    }
    run.messages.push_back(std::move(message));
  }
  const bool continued = last && last->message.role == "assistant";
  if (continued) {
    TakeStart(fields, name, std::move(*last), run);
  }
  CheckContinuation(fields, continued);
}

void ReadInput(FieldReader& fields, bool keep_reasoning, ServedRun& run) {
  std::string instructions;
  if (fields.Take("instructions", instructions) && !instructions.empty()) {
    run.messages.push_back({"system", instructions});
  }
  const Json* input = fields.Find("input");
  if (input != nullptr && input->is_string() && !input->get_ref<const std::string&>().empty()) {
    run.messages.push_back({"user", input->get<std::string>()});
    return;
  }
  ReadMessages(fields, "input", keep_reasoning, run);
}

void ReadPrompts(FieldReader& fields, int vocab_size, int most_prompts, const ServedRun& run,
                 std::vector<ServedRun>& runs) {
  const Json* given = fields.Find("prompt");
  const bool single =
      given != nullptr &&
      (given->is_string() || (given->is_array() && !given->empty() && given->front().is_number()));
  const Json prompts = single ? Json::array({*given}) : given != nullptr ? *given : Json();
  bool good =
      prompts.is_array() && !prompts.empty() && prompts.size() <= static_cast<size_t>(most_prompts);
  for (size_t i = 0; good && i < prompts.size(); ++i) {
    ServedRun one = run;
    if (prompts[i].is_string()) {
      one.prompt_text = prompts[i].get<std::string>();
      good = !one.prompt_text.empty();
    } else {
      good = prompts[i].is_array() && ReadTokens(prompts[i], vocab_size, one.prompt_tokens);
    }
    runs.push_back(std::move(one));
  }
  if (!good) {
    fields.Fail("prompt", fmt::format("'prompt' takes a text, an array of token numbers, or at "
                                      "most {} of either, none empty",
                                      most_prompts));
  }
}

void ReadTemplateArguments(FieldReader& fields,
                           std::vector<std::pair<std::string, std::string>>& arguments) {
  std::string effort;
  fields.Take("reasoning_effort", effort);
  if (const Json* reasoning = fields.Find("reasoning")) {  // of /v1/responses
    if (!reasoning->is_object()) {
      fields.Fail("reasoning", "'reasoning' takes an object");
      return;
    }
    FieldReader reader(*reasoning);
    reader.Take("effort", effort);
    if (reader.error()) {
      fields.Fail("reasoning.effort", reader.error()->message);
    }
    for (const auto& [name, value] : reasoning->items()) {
      // Reasoning is sent whole, which is more than a summary of it.
      const bool known = name == "effort" || name == "summary" || name == "generate_summary";
      if (!known && !value.is_null()) {
        fields.Refuse(("reasoning." + name).c_str(), "only the effort is passed on");
      }
    }
  }
  Json values = Json::object();
  if (effort == "none") {
    values["enable_thinking"] = false;
  } else if (!effort.empty()) {
    values["reasoning_effort"] = effort;
  }
  if (const Json* given = fields.Find("chat_template_kwargs")) {
    if (!given->is_object()) {
      fields.Fail("chat_template_kwargs", "'chat_template_kwargs' takes an object");
      return;
    }
    values.update(*given);
  }
  for (const auto& [name, value] : values.items()) {
    arguments.emplace_back(name, DumpJson(value));
  }
}

void AddInstructions(const std::string& system, const std::string& instruction,
                     std::vector<ChatMessage>& messages) {
  if (messages.empty()) {
    return;
  }
  if (!system.empty()) {
    messages.insert(messages.begin(), {"system", system});
  }
  if (!instruction.empty()) {
    const auto last =
        std::find_if(messages.rbegin(), messages.rend(),
                     [](const ChatMessage& message) { return message.role == "user"; });
    if (last != messages.rend()) {
      last->content += "\n\n" + instruction;
    }
  }
}

}  // namespace hyper::server
