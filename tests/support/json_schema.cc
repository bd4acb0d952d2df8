#include "tests/support/json_schema.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hyper::test {
namespace {

using nlohmann::json;

bool HasType(const json& value, const std::string& type) {
  if (type == "integer") {
    return value.is_number_integer();
  }
  if (type == "number") {
    return value.is_number();
  }
  return type == (value.is_boolean() ? "boolean" : value.type_name());
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  std::string Check(const json& schema, const json& value, const std::string& place) const {
    if (schema.contains("$ref")) {
      const std::string reference = schema["$ref"];
      return Check(root_.at(json::json_pointer(reference.substr(1))), value, place);
    }
    for (const auto& [keyword, rule] : schema.items()) {
      std::string violation = CheckKeyword(schema, keyword, rule, value, place);
      if (!violation.empty()) {
        return violation;
      }
    }
    return "";
  }

 private:
  std::string CheckKeyword(const json& schema, const std::string& keyword, const json& rule,
                           const json& value, const std::string& place) const {
    if (keyword == "type") {
      const json types = rule.is_array() ? rule : json::array({rule});
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&value](const json& type) { return HasType(value, type); });
      return fits ? "" : place + " is " + value.dump() + ", not of type " + rule.dump();
    }
    if (keyword == "enum") {
      const bool known = std::find(rule.begin(), rule.end(), value) != rule.end();
      return known ? "" : place + " is " + value.dump() + ", not one of " + rule.dump();
    }
    if (keyword == "minimum") {
      return value.is_number() && value < rule ? place + " is below " + rule.dump() : "";
    }
    if (keyword == "anyOf") {
      return CheckAnyOf(rule, value, place);
    }
    if (keyword == "required") {
      return CheckRequired(rule, value, place);
    }
    if (keyword == "properties" || keyword == "additionalProperties") {
      return CheckMembers(schema, value, place);
    }
    if (keyword == "items") {
      return CheckItems(rule, value, place);
    }
    constexpr std::array<std::string_view, 4> kNotes{"$schema", "$defs", "title", "description"};
    const bool note = std::find(kNotes.begin(), kNotes.end(), keyword) != kNotes.end();
    return note ? "" : "the keyword " + keyword + " is not supported";
  }

  std::string CheckAnyOf(const json& rules, const json& value, const std::string& place) const {
    std::string violations;
    for (const json& rule : rules) {
      const std::string violation = Check(rule, value, place);
      if (violation.empty()) {
        return "";
      }
      violations += (violations.empty() ? "" : "; and ") + violation;
    }
    return violations;
  }

  static std::string CheckRequired(const json& names, const json& value, const std::string& place) {
    for (const json& name : names) {
      if (value.is_object() && !value.contains(name.get<std::string>())) {
        return place + " lacks " + name.dump();
      }
    }
    return "";
  }

  std::string CheckMembers(const json& schema, const json& value, const std::string& place) const {
    const json known = schema.value("properties", json::object());
    const json others = schema.value("additionalProperties", json(true));
    if (!value.is_object()) {
      return "";
    }
    for (const auto& [name, member] : value.items()) {
      std::string inner = place;
      inner.append("/").append(name);
      std::string violation;
      if (known.contains(name)) {
        violation = Check(known[name], member, inner);
      } else if (others.is_object()) {
        violation = Check(others, member, inner);
      } else if (!others.get<bool>()) {
        violation = inner + " is not in the schema";
      }
      if (!violation.empty()) {
        return violation;
      }
    }
    return "";
  }

  std::string CheckItems(const json& rule, const json& value, const std::string& place) const {
    for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
      std::string violation = Check(rule, value[i], place + "/" + std::to_string(i));
      if (!violation.empty()) {
        return violation;
      }
    }
    return "";
  }

  const json& root_;
};

}  // namespace

std::string SchemaViolation(const nlohmann::json& schema, const nlohmann::json& value) {
  return Validator(schema).Check(schema, value, "");
}

}  // namespace hyper::test
