#include "apps/hyper/input/questions_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/report/json.h"

namespace hyper::app {
namespace {

Error BadLine(int number, const std::string& reason) {
  return InvalidArgument(fmt::format(
      "line {}: {}; a line is a question, an object with \"question\", or a request with "
      "\"custom_id\" and \"body\"",
      number, reason));
}

std::string TextOf(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || at->is_null()) {
    return "";
  }
  return at->is_string() ? at->get<std::string>() : DumpJson(*at);
}

// The text of a message, whose content may be a list of parts.
std::string ContentOf(const Json& message) {
  const auto content = message.find("content");
  if (content == message.end() || !content->is_array()) {
    return TextOf(message, "content");
  }
  std::string text;
  for (const Json& part : *content) {
    text += part.is_object() ? TextOf(part, "text") : "";
  }
  return text;
}

// Whether the object's seed, where it has one, is a seed; it is then the question's.
bool TakeSeed(const Json& object, OneOfMany& one) {
  const auto at = object.find("seed");
  if (at == object.end() || at->is_null()) {
    return true;
  }
  if (at->is_number_unsigned()) {
    one.seed = at->get<uint64_t>();
  }
  return one.seed.has_value();
}

Result<OneOfMany> FromObject(const Json& object, int number) {
  OneOfMany one;
  one.openai = object.contains("body");
  one.id = TextOf(object, one.openai || object.contains("custom_id") ? "custom_id" : "id");
  if (one.id.empty()) {
    one.id = std::to_string(number);
  }
  const Json& body = one.openai ? object["body"] : object;
  if (body.is_object() && !TakeSeed(body, one)) {
    return BadLine(number, "the seed is not a whole number from 0 to 2^64 - 1");
  }
  if (!one.openai) {
    const std::string question =
        TextOf(object, object.contains("question") ? "question" : "prompt");
    one.messages.push_back({"user", question});
    return question.empty() ? Result<OneOfMany>(BadLine(number, "the object has no question"))
                            : Result<OneOfMany>(std::move(one));
  }
  const auto messages = body.is_object() ? body.find("messages") : body.end();
  if (messages == body.end() || !messages->is_array() || messages->empty()) {
    return BadLine(number, "the request's body has no messages");
  }
  for (const Json& message : *messages) {
    if (!message.is_object()) {
      return BadLine(number, "a message is not an object");
    }
    one.messages.push_back({TextOf(message, "role"), ContentOf(message)});
  }
  if (one.messages.back().role != "user") {
    return BadLine(number, fmt::format("the last message is of '{}', not of the user",
                                       one.messages.back().role));
  }
  return one;
}

}  // namespace

Result<std::vector<OneOfMany>> ParseQuestions(std::string_view text) {
  std::vector<OneOfMany> questions;
  std::set<std::string> ids;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      continue;
    }
    line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    Result<OneOfMany> one = OneOfMany{std::to_string(number), {{"user", std::string(line)}}};
    if (line.front() == '{') {
      const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!object.is_object()) {
        return BadLine(number, "it begins with { but is not JSON");
      }
      one = FromObject(object, number);
    }
    if (!one) {
      return one.error();
    }
    if (!ids.insert(one->id).second) {
      return BadLine(number, fmt::format("the id '{}' appears twice", one->id));
    }
    questions.push_back(std::move(*one));
  }
  if (questions.empty()) {
    return InvalidArgument("it contains no questions; write one per line");
  }
  return questions;
}

std::map<std::string, std::string> AnsweredIds(std::string_view text, size_t& whole_bytes) {
  std::map<std::string, std::string> ids;
  whole_bytes = 0;
  for (size_t end = 0; (end = text.find('\n', whole_bytes)) != std::string_view::npos;) {
    const Json object = Json::parse(text.substr(whole_bytes, end - whole_bytes), nullptr,
                                    /*allow_exceptions=*/false);
    if (!object.is_object()) {
      break;
    }
    ids[TextOf(object, object.contains("custom_id") ? "custom_id" : "id")] =
        TextOf(object, "question");
    whole_bytes = end + 1;
  }
  return ids;
}

}  // namespace hyper::app
