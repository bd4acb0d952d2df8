#include "tests/support/json_schema.h"

#include <gtest/gtest.h>

namespace hyper::test {
namespace {

using nlohmann::json;

const json& SmallSchema() {
  static const json schema = json::parse(R"({
    "type": "object",
    "properties": {
      "count": {"type": "integer", "minimum": 0},
      "name": {"type": ["string", "null"]},
      "kind": {"enum": ["a", "b"]},
      "list": {"type": "array", "items": {"$ref": "#/$defs/flag"}},
      "either": {"anyOf": [{"type": "number"}, {"type": "null"}]}
    },
    "required": ["count"],
    "additionalProperties": false,
    "$defs": {"flag": {"type": "boolean"}}
  })");
  return schema;
}

std::string Violation(const char* text) {
  return SchemaViolation(SmallSchema(), json::parse(text));
}

TEST(JsonSchema, AcceptsWhatFits) {
  EXPECT_EQ(Violation(R"({"count": 3, "name": null, "kind": "b", "list": [true], "either": 0.5})"),
            "");
  EXPECT_EQ(Violation(R"({"count": 0, "list": []})"), "");
}

TEST(JsonSchema, NamesThePlaceOfEachViolation) {
  EXPECT_NE(Violation("[]"), "");
  EXPECT_EQ(Violation("{}"), " lacks \"count\"");
  EXPECT_EQ(Violation(R"({"count": -1})"), "/count is below 0");
  EXPECT_EQ(Violation(R"({"count": 1.5})"), "/count is 1.5, not of type \"integer\"");
  EXPECT_EQ(Violation(R"({"count": 1, "name": 2})"),
            "/name is 2, not of type [\"string\",\"null\"]");
  EXPECT_EQ(Violation(R"({"count": 1, "kind": "c"})"), "/kind is \"c\", not one of [\"a\",\"b\"]");
  EXPECT_EQ(Violation(R"({"count": 1, "list": [true, 0]})"),
            "/list/1 is 0, not of type \"boolean\"");
  EXPECT_NE(Violation(R"({"count": 1, "either": "x"})"), "");
  EXPECT_EQ(Violation(R"({"count": 1, "more": 1})"), "/more is not in the schema");
}

TEST(JsonSchema, RefusesKeywordsItDoesNotCheck) {
  EXPECT_EQ(SchemaViolation(json::parse(R"({"maxLength": 3})"), "abcd"),
            "the keyword maxLength is not supported");
}

}  // namespace
}  // namespace hyper::test
