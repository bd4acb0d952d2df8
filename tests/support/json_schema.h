// Test support: checks a JSON value against the part of JSON Schema that this project's schemas
// use: type, enum, minimum, properties, required, additionalProperties, items, anyOf, $ref.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hyper::test {

// The first place where `value` does not fit `schema`, in words; empty where all fits. A keyword
// that is not supported is an error too, so that no rule is passed over.
std::string SchemaViolation(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace hyper::test
