#include "src/server/api/body_json.h"

#include <fmt/format.h>

#include <vector>

namespace hyper::server {

std::string TooMuch(std::string_view body) {
  std::vector<size_t> members;  // of each object or array that is open
  bool in_text = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      members.push_back(0);
    } else if ((c == ']' || c == '}') && !members.empty()) {
      members.pop_back();
    } else if (c == ':' && !members.empty()) {
      ++members.back();
    }
    if (members.size() > kMostJsonLevels) {
      return fmt::format("the body has more than {} levels", kMostJsonLevels);
    }
    if (!members.empty() && members.back() > kMostJsonMembers) {
      return fmt::format("an object of the body has more than {} members", kMostJsonMembers);
    }
  }
  return "";
}

std::variant<Json, ApiError> ParseBody(const std::string& body) {
  if (const std::string reason = TooMuch(body); !reason.empty()) {
    return BadField("", reason);
  }
  try {
    Json json = Json::parse(body);
    if (json.is_object()) {
      return json;
    }
    return BadField("", fmt::format("the body is not a JSON object but {}", json.type_name()));
  } catch (const Json::parse_error& error) {
    return BadField(
        "", fmt::format("the body is not JSON: it ends or goes wrong at byte {}", error.byte));
  } catch (const Json::exception&) {
    return BadField("", "the body is not valid JSON: one of its numbers is out of range");
  }
}

}  // namespace hyper::server
