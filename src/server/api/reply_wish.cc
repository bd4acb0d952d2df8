#include "src/server/api/reply_wish.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hyper/extract.h"
#include "src/server/api/reply_schema.h"

namespace hyper::server {
namespace {

// Whole numbers as integers: 2.0 and 2 are the same value.
void Normalise(nlohmann::json& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_structured()) {
    for (nlohmann::json& part : value) {
      Normalise(part);
    }
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::trunc(number) && std::abs(number) <= kExact) {
      value = static_cast<int64_t>(number);
    }
  }
}

}  // namespace

bool IsCallName(const Json& name) {
  constexpr size_t kMost = 64;
  const std::string text = name.is_string() ? name.get<std::string>() : "";
  return !text.empty() && text.size() <= kMost && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:").find(c) != std::string_view::npos;
  });
}

void ReadResponseFormat(FieldReader& fields, const char* name, const Json& format, ServedRun& run) {
  const Json type = format.is_object() ? format.value("type", Json()) : Json();
  if (type == "text") {
    return;
  }
  const Json* schema = nullptr;
  const Json any_object = {{"type", "object"}};
  if (type == "json_object") {
    schema = &any_object;
  } else if (type == "json_schema") {
    const auto member = format.find("json_schema");
    const Json& holder = member != format.end() ? *member : format;
    const auto found = holder.is_object() ? holder.find("schema") : holder.end();
    schema = holder.is_object() && found != holder.end() && found->is_object() ? &*found : nullptr;
  } else {
    fields.Fail(name, fmt::format("'{}' takes an object with the type text, json_object or "
                                  "json_schema",
                                  name));
    return;
  }
  if (schema == nullptr) {
    fields.Fail(name, fmt::format("'{}' of type json_schema needs a 'schema', an object", name));
  } else if (const std::string reason = UnkeptKeyword(*schema); !reason.empty()) {
    fields.Fail(name, fmt::format("'{}': the schema cannot be kept to: {}; leave it out and check "
                                  "the reply for it",
                                  name, reason));
  } else if (schema->value("type", Json()) != "object") {
    fields.Fail(name, fmt::format("'{}': the schema needs \"type\": \"object\"; put another value "
                                  "into a member of it",
                                  name));
  } else if (run.start) {
    fields.Fail(name, fmt::format("'{}' is the form of a whole reply, so the last message cannot "
                                  "be the assistant's",
                                  name));
  }
  run.wish.json_schema = schema != nullptr ? DumpJson(*schema) : "";
  run.wish_field = name;
}

namespace {

// The function of an entry of `tools`, null where it is none.
const Json* FunctionOf(const Json& tool) {
  if (!tool.is_object() || tool.value("type", Json()) != "function") {
    return nullptr;
  }
  const auto function = tool.find("function");
  const bool named = function != tool.end() && function->is_object() &&
                     IsCallName(function->value("name", Json()));
  const Json parameters = named ? function->value("parameters", Json()) : Json();
  return named && (parameters.is_null() || parameters.is_object()) ? &*function : nullptr;
}

bool IsTool(const Json& tool) { return FunctionOf(tool) != nullptr; }

// The function that `choice` names; empty: it names none.
std::string ChosenName(const Json& choice) {
  const Json* function = FunctionOf(choice);
  return function != nullptr ? (*function)["name"].get<std::string>() : "";
}

// What else of the request does not go with functions, and what a call could not be kept to.
void CheckTools(FieldReader& fields, const Json& tools, const ServedRun& run) {
  if (run.start) {
    fields.Fail("tools", "'tools' needs a last message that is not the assistant's");
  } else if (!run.wish.json_schema.empty()) {
    fields.Refuse("tools", "a reply is JSON of 'response_format' or a call; leave out either");
  } else if (run.top_logprobs) {
    fields.Refuse("logprobs", "calls are no text; leave out 'tools' or 'logprobs'");
  }
  for (const Json& tool : tools) {
    const Json parameters = tool["function"].value("parameters", Json());
    const std::string reason =
        run.wish.call_required ? UnkeptKeyword(parameters) : UnsafePart(parameters);
    if (!reason.empty()) {
      fields.Fail("tools", fmt::format("'tools': the parameters of {} cannot be kept to: {}; leave "
                                       "it out and check the call for it",
                                       Shown(tool["function"]["name"]), reason));
    }
  }
}

}  // namespace

void ReadTools(FieldReader& fields, ServedRun& run) {
  const Json* tools = fields.Find("tools");
  const Json* given = fields.Find("tool_choice");
  bool parallel = true;
  fields.Take("parallel_tool_calls", parallel);
  Json list = tools != nullptr ? *tools : Json::array();
  const Json choice = given != nullptr ? *given : Json("auto");
  const std::string chosen = ChosenName(choice);
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), IsTool)) {
    fields.Fail("tools",
                "'tools' takes an array of {\"type\": \"function\", \"function\": {\"name\": .., "
                "\"parameters\": a schema}}");
    return;
  }
  if (choice == "none") {
    return;
  }
  if (choice != "auto" && choice != "required" && chosen.empty()) {
    fields.Fail("tool_choice",
                "'tool_choice' takes none, auto, required or {\"type\": \"function\", "
                "\"function\": {\"name\": ..}}");
    return;
  }
  if (!chosen.empty()) {  // no other may be called
    Json only = Json::array();
    std::copy_if(list.begin(), list.end(), std::back_inserter(only),
                 [&](const Json& tool) { return tool["function"]["name"] == chosen; });
    list = std::move(only);
  }
  if (choice != "auto" && list.empty()) {
    fields.Fail("tool_choice", "'tool_choice' asks for a call of a function that 'tools' lacks");
  }
  run.wish.call_required = choice != "auto";
  run.wish.parallel_calls = parallel && chosen.empty();
  if (!list.empty()) {
    run.wish.tools = DumpJson(list);
    run.wish_field = "tools";
    CheckTools(fields, list, run);
  }
}

std::string CanonicalJson(std::string_view text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return "";
  }
  Normalise(value);
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

AnswerExtractor JsonExtractor() {
  return [](std::string_view text, bool finished, bool reasoning_opened) {
    ExtractedAnswer read;
    const ReasoningSplit split = SplitReasoning(text, DefaultThinkTags(), reasoning_opened);
    if (finished && !split.unclosed) {
      read.raw = JoinSpans(text, split.content);
      read.answer = CanonicalJson(read.raw);
    }
    return read;
  };
}

AnswerExtractor CallExtractor(std::shared_ptr<const ReplyForm> form, AnswerExtractor otherwise) {
  return [form = std::move(form), otherwise = std::move(otherwise)](
             std::string_view text, bool finished, bool reasoning_opened) {
    const ReadReply reply = finished ? form->read(text, /*whole=*/true) : ReadReply();
    if (reply.calls.empty()) {
      return otherwise(text, finished, reasoning_opened);
    }
    Json calls = Json::array();
    for (const ToolCall& call : reply.calls) {
      const Json arguments = Json::parse(call.arguments, nullptr, /*allow_exceptions=*/false);
      calls.push_back({{"name", call.name},
                       {"arguments", arguments.is_discarded() ? Json(call.arguments) : arguments}});
    }
    return ExtractedAnswer{CanonicalJson(DumpJson(calls)), DumpJson(calls), false};
  };
}

}  // namespace hyper::server
