#include "src/server/api/reply_wish.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/server/api/reply_schema.h"
#include "src/server/api/request_json.h"

namespace hyper::server {
namespace {

ParsedRequest Parsed(ParsedRequest (*parse)(const std::string&, const ServerLimits&), Json body) {
  ServerLimits limits;
  limits.model_name = "m";
  limits.model.vocab_size = 128;
  limits.most_lanes = 64;
  body["model"] = "m:plain";
  return parse(body.dump(), limits);
}

// The schema that a chat with this response_format is kept to, or the error's message.
std::string Read(const Json& format, Json messages = {{{"role", "user"}, {"content", "x"}}}) {
  const ParsedRequest parsed =
      Parsed(ParseChatRequest, {{"messages", std::move(messages)}, {"response_format", format}});
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    EXPECT_EQ(error->param, "response_format");
    return error->message;
  }
  return std::get<ApiRequest>(parsed).runs.front().wish.json_schema;
}

TEST(ReplyWish, ReadsTheFormatOfAChat) {
  const Json schema = Json::parse(R"({"type": "object", "properties": {"z": {}, "a": {}}})");
  EXPECT_EQ(Read({{"type", "text"}}), "");
  EXPECT_EQ(Read({{"type", "json_object"}}), R"({"type":"object"})");
  // The order of members is that in which the model writes them.
  EXPECT_EQ(Read({{"type", "json_schema"}, {"json_schema", {{"name", "n"}, {"schema", schema}}}}),
            R"({"type":"object","properties":{"z":{},"a":{}}})");
}

TEST(ReplyWish, ReadsTheFormatOfAResponse) {
  const Json format = {{"type", "json_schema"}, {"name", "n"}, {"schema", {{"type", "object"}}}};
  const ParsedRequest parsed =
      Parsed(ParseResponsesRequest,
             {{"input", "x"}, {"text", {{"format", format}, {"verbosity", "medium"}}}});
  ASSERT_TRUE(std::holds_alternative<ApiRequest>(parsed));
  const ServedRun& run = std::get<ApiRequest>(parsed).runs.front();
  EXPECT_EQ(run.wish.json_schema, R"({"type":"object"})");
  EXPECT_EQ(run.wish_field, "text.format");
}

TEST(ReplyWish, RefusesWhatIsNoFormat) {
  const std::string types =
      "'response_format' takes an object with the type text, json_object or json_schema";
  EXPECT_EQ(Read("json"), types);
  EXPECT_EQ(Read({{"type", "xml"}}), types);
  const std::string missing = "'response_format' of type json_schema needs a 'schema', an object";
  EXPECT_EQ(Read({{"type", "json_schema"}}), missing);
  EXPECT_EQ(Read({{"type", "json_schema"}, {"json_schema", {{"schema", 3}}}}), missing);
  EXPECT_EQ(Read({{"type", "json_object"}},
                 {{{"role", "user"}, {"content", "x"}}, {{"role", "assistant"}, {"content", "{"}}}),
            "'response_format' is the form of a whole reply, so the last message cannot be the "
            "assistant's");
  EXPECT_EQ(Read({{"type", "json_schema"}, {"json_schema", {{"schema", {{"not", {}}}}}}}),
            "'response_format': the schema cannot be kept to: '#' has 'not'; leave it out and "
            "check the reply for it");
}

TEST(ReplyWish, FindsKeywordsThatAreNotKept) {
  const auto unkept = [](const char* schema) { return UnkeptKeyword(Json::parse(schema)); };
  EXPECT_EQ(unkept(R"({"type": "object", "title": "T", "properties": {"a": {"type": "string",
      "description": "d", "maxLength": 3}, "n": {"type": "integer", "minimum": 0}, "l":
      {"type": "array", "items": {"$ref": "#/$defs/E"}, "minItems": 1}, "o": {"anyOf":
      [{"type": "null"}, {"enum": [1, "two"]}]}, "c": {"const": 7}}, "required": ["a"],
      "additionalProperties": false, "$defs": {"E": {"type": "boolean"}}})"),
            "");
  EXPECT_EQ(unkept(R"({"properties": {"a": {"type": "number", "minimum": 0}}})"),
            "'#/properties/a' has 'minimum'");
  EXPECT_EQ(unkept(R"({"type": "array", "items": {"uniqueItems": true}})"),
            "'#/items' has 'uniqueItems'");
  EXPECT_EQ(unkept(R"({"anyOf": [{}, {"multipleOf": 2}]})"), "'#/anyOf/1' has 'multipleOf'");
  EXPECT_EQ(unkept(R"({"anyOf": [{}], "properties": {}})"), "'#' has 'properties'");
  EXPECT_EQ(unkept(R"({"$defs": {"E": {"if": {}}}})"), "'#/$defs/E' has 'if'");
  EXPECT_EQ(unkept(R"({"type": "array", "maxItems": 3})"), "'#' has 'maxItems'");
  EXPECT_EQ(unkept(R"({"type": "string", "pattern": "a+"})"), "'#' has 'pattern'");
  EXPECT_EQ(unkept(R"({"type": "object", "required": ["a"]})"),
            "'#' has 'required' names that are no properties");
  EXPECT_EQ(unkept(R"({"$ref": "#/$defs/E", "type": "object", "$defs": {"E": {}}})"),
            "'#' has 'type'");
  EXPECT_EQ(unkept(R"({"type": "integer", "minimum": 0.5})"),
            "'#' has 'minimum' that is no whole number");
  EXPECT_EQ(unkept(R"({"type": "integer", "minimum": 1, "exclusiveMinimum": 1})"),
            "'#' has both 'minimum' and 'exclusiveMinimum'");
  EXPECT_EQ(unkept(R"({"type": "array", "prefixItems": [{}], "items": {}})"), "'#' has 'items'");
  EXPECT_EQ(unkept(R"({"type": "record"})"), "'#' has a 'type' that is none of JSON");
  // A member may have the name of a keyword.
  EXPECT_EQ(unkept(R"({"properties": {"not": {"type": "string"}}})"), "");
}

// What would make the converter recurse or grow without end.
TEST(ReplySchema, WhatTheConverterMustNotSeeIsRefused) {
  EXPECT_EQ(UnsafePart(Json::parse(
                R"({"allOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"$ref": "#/$defs/A"}}})")),
            "'#' has 'allOf'");
  const char* nowhere = "'#' has a '$ref' to no schema of its '$defs'";
  for (const char* schema :
       {R"({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B":
           {"$ref": "#/$defs/A"}}})",
        R"({"$ref": "https://example.org/s"})", R"({"$ref": "#/$defs/A"})", R"({"$ref": 3})"}) {
    EXPECT_EQ(UnsafePart(Json::parse(schema)), nowhere) << schema;
  }
  EXPECT_EQ(UnsafePart(Json::parse(R"({"properties": {"a": {"$ref": "#/$defs/T"}}, "$defs":
      {"T": {"properties": {"left": {"$ref": "#/$defs/T"}}}}})")),
            "")
      << "a tree refers to itself";
  const std::string long_name(kMostSchemaName + 1, '_');
  for (const char* map : {"properties", "$defs", "definitions"}) {
    EXPECT_EQ(UnsafePart({{map, {{long_name, Json::object()}}}}),
              "'#' has a name of more than 128 bytes");
  }
  EXPECT_EQ(UnsafePart(Json::parse(R"({"type": ["object", "array"]})")),
            "'#' has several types with parts");
  EXPECT_EQ(UnsafePart(Json::parse(R"({"type": ["object", "null"]})")), "");
  Json values = Json::array();
  Json parts = Json::object();
  for (int i = 0; i <= kMostSchemaParts; ++i) {
    values.push_back(i);
    parts["p" + std::to_string(i)] = Json::object();
  }
  EXPECT_NE(UnsafePart({{"enum", values}}), "");
  EXPECT_EQ(UnsafePart({{"properties", parts}}), "'#' has more than 2000 parts");
  EXPECT_NE(UnsafePart({{"maxItems", 100000}}), "");
  EXPECT_NE(UnsafePart({{"pattern", std::string(1000, '(')}}), "");
  EXPECT_EQ(UnsafePart(Json::parse(R"({"pattern": "a+", "format": "email"})")), "")
      << "a call that the model may leave out need not be kept to it";
}

TEST(ReplyWish, TheValueIsAnObject) {
  EXPECT_EQ(Read({{"type", "json_schema"},
                  {"json_schema", {{"schema", {{"enum", Json::array({"Yes", "yes"})}}}}}}),
            "'response_format': the schema needs \"type\": \"object\"; put another value into a "
            "member of it");
}

TEST(ReplyWish, NamesOfCallsArePlain) {
  EXPECT_TRUE(IsCallName("get_weather-2.x:1"));
  for (const Json& name :
       {Json(""), Json("a b"), Json("f<|im_end|>"), Json(std::string(65, 'a')), Json(3), Json()}) {
    EXPECT_FALSE(IsCallName(name)) << name;
  }
}

TEST(ReplyWish, EqualValuesHaveOneText) {
  EXPECT_EQ(CanonicalJson(R"( {"b": [1.0, 2], "a": -0.0} )"), R"({"a":0,"b":[1,2]})");
  EXPECT_EQ(CanonicalJson(R"({"a":0,"b":[1,2e0]})"), R"({"a":0,"b":[1,2]})");
  EXPECT_NE(CanonicalJson(R"({"a": "1"})"), CanonicalJson(R"({"a": 1})"));
  EXPECT_NE(CanonicalJson("[1, 2]"), CanonicalJson("[2, 1]"));
  EXPECT_EQ(CanonicalJson("0.5"), "0.5");
  EXPECT_EQ(CanonicalJson("1e300"), "1e+300");
  EXPECT_EQ(CanonicalJson(R"("\u00e9")"), "\"\xc3\xa9\"");
  EXPECT_EQ(CanonicalJson("{\"a\": 1"), "");
  EXPECT_EQ(CanonicalJson(""), "");
}

TEST(ReplyWish, OnlyAWholeReplyAnswers) {
  const AnswerExtractor read = JsonExtractor();
  EXPECT_EQ(read("<think>{\"a\": 2}</think>\n{\"a\": 1}", true, false).answer, R"({"a":1})");
  EXPECT_EQ(read("{\"a\": 2}</think>\n{\"a\": 1}", true, true).answer, R"({"a":1})");
  EXPECT_EQ(read("{\"a\": 1}", false, false).answer, "");
  EXPECT_EQ(read("{\"a\": 1}", true, true).answer, "");
  EXPECT_EQ(read("no JSON", true, false).answer, "");
}

}  // namespace
}  // namespace hyper::server
