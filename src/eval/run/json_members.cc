#include "src/eval/run/json_members.h"

#include <limits>
#include <optional>

namespace hyper::eval {

std::string TextOf(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) {
    return "";
  }
  if (at->is_string()) {
    return at->get<std::string>();
  }
  return at->is_number() ? at->dump() : "";
}

PathStatus StatusOf(const nlohmann::json& object) {
  const std::optional<PathStatus> status = ValueOf<PathStatus>(TextOf(object, "status"));
  const bool known = status && (CameToItsEnd(*status) || *status == PathStatus::kDegenerate);
  return known ? *status : PathStatus::kCancelled;
}

float FloatOf(const nlohmann::json& value) {
  return value.is_number() ? value.get<float>() : std::numeric_limits<float>::quiet_NaN();
}

std::map<std::string, std::string> SettingsOf(const nlohmann::json& object) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : object.items()) {
    settings[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return settings;
}

}  // namespace hyper::eval
