// Fields that would change the text: served, or refused by their name.
#include "src/server/api/unserved_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/server/api/request_json.h"

namespace hyper::server {
namespace {

const Json kTool = {{"type", "function"}, {"function", {{"name", "f"}}}};

// The field that the endpoints refuse, or "" where all take the request.
std::string Refused(const Json& fields) {
  ServerLimits limits;
  limits.model_name = "m";
  limits.model.vocab_size = 128;
  limits.most_lanes = 64;
  Json chat = {{"messages", {{{"role", "user"}, {"content", "x"}}}}};
  Json completion = {{"prompt", "x"}};
  Json response = {{"input", "x"}};
  const std::pair<Json*, ParsedRequest (*)(const std::string&, const ServerLimits&)> endpoints[] = {
      {&chat, ParseChatRequest},
      {&completion, ParseCompletionRequest},
      {&response, ParseResponsesRequest}};
  std::vector<std::string> refused;
  for (const auto& [body, parse] : endpoints) {
    body->update({{"model", "m:plain"}});
    body->update(fields);
    const ParsedRequest parsed = parse(body->dump(), limits);
    const auto* error = std::get_if<ApiError>(&parsed);
    refused.push_back(error != nullptr ? error->param : "");
    if (error != nullptr) {
      EXPECT_EQ(error->status, 400) << fields;
      EXPECT_NE(error->message.find("'" + error->param + "'"), std::string::npos) << error->message;
    }
  }
  EXPECT_EQ(refused[0], refused[1]) << fields;
  EXPECT_EQ(refused[0], refused[2]) << fields;
  return refused[0];
}

TEST(UnservedFields, WhatWouldChangeTheTextIsRefusedByName) {
  const Json schema = {{"type", "object"}};
  for (const auto& [name, value] : std::vector<std::pair<std::string, Json>>{
           {"guided_json", schema},
           {"guided_json", schema.dump()},
           {"guided_regex", "[0-9]+"},
           {"guided_choice", {"yes", "no"}},
           {"guided_grammar", "root ::= \"a\""},
           {"structured_outputs", {{"json", schema}}},
           {"grammar", "root ::= \"a\""},
           {"json_schema", schema},
           {"regex", "a+"},
           {"ebnf", "root ::= \"a\""},
           {"format", "json"},
           {"repetition_penalty", 1.1},
           {"repeat_penalty", 1.1},
           {"typical_p", 0.9},
           {"mirostat", 2},
           {"nsigma", 1.5},
           {"smoothing_factor", 0.3},
           {"t_max_predict_ms", 500},
           {"xtc_probability", 0.5},
           {"dry_multiplier", 0.8},
           {"min_tokens", 10},
           {"ignore_eos", true},
           {"stop_token_ids", {2}},
           {"include_stop_str_in_output", true},
           {"skip_special_tokens", false},
           {"allowed_token_ids", {1, 2}},
           {"bad_words", {"no"}},
           {"use_beam_search", true},
           {"length_penalty", 2},
           {"n_predict", 5},
           {"max_new_tokens", 5},
           {"truncate_prompt_tokens", 5},
           {"chat_template", "{{ messages }}"},
           {"enable_thinking", false},
           {"thinking", {{"type", "enabled"}}},
           {"thinking_budget", 100},
           {"verbosity", "low"},
           {"modalities", {"text", "audio"}},
           {"audio", {{"voice", "alloy"}}},
           {"web_search_options", {{"search_context_size", "low"}}},
           {"options", {{"num_predict", 5}}},
           {"presence_penalty", 0.5},
           {"frequency_penalty", 0.5},
           {"response_format", {{"type", "json_object"}}},
           {"tools", Json::array({kTool})},
           {"functions", Json::array({kTool})}}) {
    EXPECT_EQ(Refused({{name, value}}), name) << value;
  }
}

TEST(UnservedFields, AnOptionOfHyperBesideItIsRefused) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, Json>>{
           {"width", 8}, {"method", "sc"}, {"preset", "short"}, {"max-tokens", 5}, {"window", 9}}) {
    EXPECT_EQ(Refused({{name, value}}), name);
    EXPECT_EQ(Refused({{name, nullptr}}), "");
  }
}

TEST(UnservedFields, WhatChangesNothingIsTaken) {
  for (const Json& fields : std::vector<Json>{{{"guided_json", nullptr}},
                                              {{"guided_choice", Json::array()}},
                                              {{"grammar", ""}},
                                              {{"repetition_penalty", 1.0}},
                                              {{"repeat_penalty", 1}},
                                              {{"min_tokens", 0}},
                                              {{"mirostat", 0}},
                                              {{"nsigma", 0}},
                                              {{"smoothing_factor", 0.0}},
                                              {{"t_max_predict_ms", 0}},
                                              {{"ignore_eos", false}},
                                              {{"skip_special_tokens", true}},
                                              {{"n_predict", -1}},
                                              {{"verbosity", "medium"}},
                                              {{"modalities", Json::array({"text"})}},
                                              {{"presence_penalty", 0}},
                                              {{"user", "u"}},
                                              {{"store", true}},
                                              {{"cache_prompt", true}},
                                              {{"temperature", 0.5}},
                                              {{"seed", 3}},
                                              {{"colour", "red"}}}) {
    EXPECT_EQ(Refused(fields), "") << fields;
  }
}

TEST(UnservedFields, ToolsThatMayNotBeCalledAreTaken) {
  EXPECT_EQ(Refused({{"tools", Json::array({kTool})}, {"tool_choice", "none"}}), "");
  EXPECT_EQ(Refused({{"functions", Json::array({kTool})}, {"function_call", "none"}}), "");
  EXPECT_EQ(Refused({{"tools", Json::array({kTool})}, {"tool_choice", "auto"}}), "tools");
  EXPECT_EQ(Refused({{"tools", Json::array()}, {"tool_choice", "required"}}), "tool_choice");
  EXPECT_EQ(Refused({{"tools", 3}, {"tool_choice", "none"}}), "tools");
}

}  // namespace
}  // namespace hyper::server
