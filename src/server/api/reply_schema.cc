#include "src/server/api/reply_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace hyper::server {
namespace {

using Names = std::span<const std::string_view>;

constexpr auto kMaps = std::to_array<std::string_view>({"properties", "$defs", "definitions"});
constexpr auto kLists = std::to_array<std::string_view>({"anyOf", "oneOf", "allOf", "prefixItems"});
constexpr auto kSingles =
    std::to_array<std::string_view>({"items", "additionalProperties", "not", "contains"});
constexpr auto kCounts =
    std::to_array<std::string_view>({"minItems", "maxItems", "minLength", "maxLength"});
// What describes a value and forbids none.
constexpr auto kDescribes = std::to_array<std::string_view>(
    {"title", "description", "default", "examples", "$schema", "$id", "$comment", "deprecated",
     "readOnly", "writeOnly", "format", "$defs", "definitions", "strict"});

bool IsIn(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The schema in `root` that "#/$defs/NAME" names; null: none.
const Json* Referred(const Json& root, const Json& reference) {
  const std::string text = reference.is_string() ? reference.get<std::string>() : "";
  for (const char* map : {"$defs", "definitions"}) {
    const std::string prefix = fmt::format("#/{}/", map);
    const auto definitions = root.is_object() ? root.find(map) : root.end();
    if (text.starts_with(prefix) && definitions != root.end() && definitions->is_object()) {
      const auto found = definitions->find(text.substr(prefix.size()));
      return found != definitions->end() ? &*found : nullptr;
    }
  }
  return nullptr;
}

// Walks a schema and its parts.
class SchemaCheck {
 public:
  SchemaCheck(const Json& root, bool strict) : root_(root), strict_(strict) {}

  // The first fault of the schema at `place`; empty: none.
  std::string FaultOf(const Json& schema, const std::string& place) {
    if (!schema.is_object()) {
      return schema.is_boolean() && !strict_ ? "" : Fault(place, "is no object");
    }
    if (++parts_ > kMostSchemaParts) {
      return Fault("#", fmt::format("has more than {} parts", kMostSchemaParts));
    }
    std::string fault = Unsafe(schema, place);
    if (fault.empty() && strict_) {
      fault = Unkept(schema, place);
    }
    const auto look = [&](const Json& part, const std::string& where) {
      fault = fault.empty() ? FaultOf(part, place + "/" + where) : fault;
    };
    for (const std::string_view name : kMaps) {
      if (const auto map = schema.find(name); map != schema.end() && map->is_object()) {
        for (const auto& [key, part] : map->items()) {
          look(part, fmt::format("{}/{}", name, ShownText(key)));
        }
      }
    }
    for (const std::string_view name : kLists) {
      if (const auto list = schema.find(name); list != schema.end() && list->is_array()) {
        for (size_t i = 0; i < list->size(); ++i) {
          look((*list)[i], fmt::format("{}/{}", name, i));
        }
      }
    }
    for (const std::string_view name : kSingles) {
      if (const auto part = schema.find(name); part != schema.end() && part->is_object()) {
        look(*part, std::string(name));
      }
    }
    return fault;
  }

 private:
  static std::string Fault(const std::string& place, std::string_view what) {
    return fmt::format("'{}' {}", place, what);
  }

  // What would make the converter work without end.
  std::string Unsafe(const Json& schema, const std::string& place) {
    if (schema.contains("allOf")) {
      return Fault(place, "has 'allOf'");
    }
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      return Reference(*reference, place);
    }
    if (const auto type = schema.find("type"); type != schema.end() && type->is_array()) {
      int structured = 0;
      for (const Json& one : *type) {
        structured += one == "object" || one == "array" ? 1 : 0;
      }
      if (structured > 1 || type->size() > 7) {
        return Fault(place, "has several types with parts");
      }
    }
    for (const std::string_view name : kMaps) {
      if (const auto map = schema.find(name); map != schema.end() && map->is_object()) {
        for (const auto& [key, part] : map->items()) {
          if (key.size() > kMostSchemaName) {
            return Fault(place, fmt::format("has a name of more than {} bytes", kMostSchemaName));
          }
        }
      }
    }
    if (const auto values = schema.find("enum"); values != schema.end()) {
      enum_values_ += static_cast<int>(values->size());
      if (!values->is_array() || values->empty() || enum_values_ > kMostEnumValues) {
        return Fault(place, fmt::format("has an 'enum' without values, or more than {} in all",
                                        kMostEnumValues));
      }
    }
    for (const std::string_view name : kCounts) {
      const auto count = schema.find(name);
      if (count != schema.end() &&
          (!count->is_number_integer() || *count < 0 || *count > kMostRepeats)) {
        return Fault(place,
                     fmt::format("has '{}' that is no number from 0 to {}", name, kMostRepeats));
      }
    }
    const auto pattern = schema.find("pattern");
    if (pattern != schema.end() &&
        (!pattern->is_string() ||
         pattern->get_ref<const std::string&>().size() > kMostSchemaName)) {
      return Fault(place, fmt::format("has a 'pattern' of more than {} bytes", kMostSchemaName));
    }
    return "";
  }

  // A reference must lead to a schema that says something.
  std::string Reference(const Json& reference, const std::string& place) const {
    const Json* found = Referred(root_, reference);
    for (int steps = 0; found != nullptr && found->is_object() && found->contains("$ref");
         ++steps) {
      found = steps < kMostSchemaParts ? Referred(root_, (*found)["$ref"]) : nullptr;
    }
    return found == nullptr ? Fault(place, "has a '$ref' to no schema of its '$defs'") : "";
  }

  // What the grammar would not keep: everything that is not known to be kept.
  static std::string Unkept(const Json& schema, const std::string& place) {
    const auto only = [&](const std::vector<std::string_view>& kept) {
      for (const auto& [name, value] : schema.items()) {
        if (!IsIn(name, kept) && !IsIn(name, kDescribes)) {
          return Fault(place, fmt::format("has '{}'", ShownText(name)));
        }
      }
      return std::string();
    };
    if (schema.contains("$ref")) {
      return only({"$ref"});
    }
    for (const char* alternatives : {"anyOf", "oneOf"}) {
      if (const auto list = schema.find(alternatives); list != schema.end()) {
        return list->is_array() && !list->empty()
                   ? only({alternatives})
                   : Fault(place, fmt::format("has an empty '{}'", alternatives));
      }
    }
    if (schema.contains("enum") || schema.contains("const")) {
      return only({schema.contains("const") ? "const" : "enum", "type"});
    }
    return UnkeptOfType(schema, place, only);
  }

  template <class Only>
  static std::string UnkeptOfType(const Json& schema, const std::string& place, const Only& only) {
    const Json type = schema.value("type", schema.contains("properties") ? Json("object") : Json());
    std::vector<std::string_view> kept = {"type"};
    const Json types = type.is_array() ? type : Json::array({type});
    for (const Json& one : types) {
      if (one == "object") {
        kept.insert(kept.end(), {"properties", "required", "additionalProperties"});
        if (std::string fault = Required(schema, place); !fault.empty()) {
          return fault;
        }
      } else if (one == "array") {
        const bool tuple = schema.contains("prefixItems");
        kept.push_back(tuple ? "prefixItems" : "items");
        if (!tuple && schema.contains("items")) {
          kept.insert(kept.end(), {"minItems", "maxItems"});
        }
      } else if (one == "string") {
        kept.insert(kept.end(), {"minLength", "maxLength"});
      } else if (one == "integer" && !type.is_array()) {
        if (std::string fault = Bounds(schema, place); !fault.empty()) {
          return fault;
        }
        kept.insert(kept.end(), {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"});
      } else if (!one.is_null() && one != "integer" && one != "number" && one != "boolean" &&
                 one != "null") {
        return Fault(place, "has a 'type' that is none of JSON");
      }
    }
    return only(kept);
  }

  // Every required member is one of the properties.
  static std::string Required(const Json& schema, const std::string& place) {
    const Json properties = schema.value("properties", Json::object());
    const Json required = schema.value("required", Json::array());
    const bool known = required.is_array() && properties.is_object() &&
                       std::all_of(required.begin(), required.end(), [&](const Json& name) {
                         return name.is_string() && properties.contains(name.get<std::string>());
                       });
    return known ? "" : Fault(place, "has 'required' names that are no properties");
  }

  static std::string Bounds(const Json& schema, const std::string& place) {
    for (const auto& [bound, other] :
         {std::pair("minimum", "exclusiveMinimum"), std::pair("maximum", "exclusiveMaximum")}) {
      for (const char* name : {bound, other}) {
        if (schema.contains(name) && !schema[name].is_number_integer()) {
          return Fault(place, fmt::format("has '{}' that is no whole number", name));
        }
      }
      if (schema.contains(bound) && schema.contains(other)) {
        return Fault(place, fmt::format("has both '{}' and '{}'", bound, other));
      }
    }
    return "";
  }

  const Json& root_;
  bool strict_;
  int parts_ = 0;
  int enum_values_ = 0;
};

}  // namespace

std::string UnsafePart(const Json& schema) {
  return schema.is_null() ? "" : SchemaCheck(schema, /*strict=*/false).FaultOf(schema, "#");
}

std::string UnkeptKeyword(const Json& schema) {
  return schema.is_null() ? "" : SchemaCheck(schema, /*strict=*/true).FaultOf(schema, "#");
}

}  // namespace hyper::server
