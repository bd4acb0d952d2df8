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
           {"functions", Json::array({kTool})},
           {"typical", 0.9},
           {"min_length", 5},
           {"grammar_type", "regex"},
           {"guidance_scale", 2},
           {"encoder_repetition_penalty", 1.2},
           {"prompt_logprobs", 1},
           {"include_reasoning", false},
           {"reasoning_format", "none"},
           {"background", true},
           {"do_sample", false},
           {"extra_body", {{"top_k", 3}}}}) {
    EXPECT_EQ(Refused({{name, value}}), name) << value;
  }
}

// Nobody can list what other servers will think of.
TEST(UnservedFields, WhatNobodyKnowsIsRefusedToo) {
  for (const Json& value : std::vector<Json>{1, 0, true, false, "red", {{"a", 1}}, {1, 2}}) {
    EXPECT_EQ(Refused({{"colour", value}}), "colour") << value;
  }
  for (const Json& value : std::vector<Json>{nullptr, "", Json::array(), Json::object()}) {
    EXPECT_EQ(Refused({{"colour", value}}), "") << value;
  }
}

std::string MessageFor(const Json& fields) {
  ServerLimits limits;
  limits.model_name = "m";
  limits.most_lanes = 64;
  Json body = {{"model", "m:plain"}, {"messages", {{{"role", "user"}, {"content", "x"}}}}};
  body.update(fields);
  const ParsedRequest parsed = ParseChatRequest(body.dump(), limits);
  const auto* error = std::get_if<ApiError>(&parsed);
  return error != nullptr ? error->message : "";
}

TEST(UnservedFields, TheMessageSaysWhatMayHaveBeenMeant) {
  EXPECT_EQ(MessageFor({{"temprature", 0.5}}),
            "'temprature' is not known here, and might change the text; leave it out; did you "
            "mean temperature?");
  EXPECT_EQ(MessageFor({{"colour", "red"}}),
            "'colour' is not known here, and might change the text; leave it out");
  EXPECT_EQ(MessageFor({{"token_records", true}}),
            "'token_records' belongs inside \"hyper\": {\"token-records\": ...}");
  EXPECT_EQ(MessageFor({{std::string(300, 'x'), 1}}),
            "'too long to show' is not known here, and might change the text; leave it out");
}

// A field of one endpoint is none of another.
TEST(UnservedFields, EachEndpointHasItsOwnFields) {
  ServerLimits limits;
  limits.model_name = "m";
  limits.most_lanes = 64;
  const auto field = [](const ParsedRequest& parsed) {
    const auto* error = std::get_if<ApiError>(&parsed);
    return error != nullptr ? error->param : "";
  };
  const Json chat = {{"model", "m:plain"}, {"messages", {{{"role", "user"}, {"content", "x"}}}}};
  const Json text = {{"model", "m:plain"}, {"prompt", "x"}};
  const Json response = {{"model", "m:plain"}, {"input", "x"}};
  const auto with = [](Json body, const char* name, const Json& value) {
    body[name] = value;
    return body.dump();
  };
  for (const auto& [name, value] : std::vector<std::pair<const char*, Json>>{
           {"prompt", "y"}, {"input", "y"}, {"max_output_tokens", 5}, {"echo", true}}) {
    EXPECT_EQ(field(ParseChatRequest(with(chat, name, value), limits)), name);
  }
  EXPECT_EQ(field(ParseCompletionRequest(with(text, "echo", true), limits)), "");
  EXPECT_EQ(field(ParseCompletionRequest(with(text, "messages", chat["messages"]), limits)),
            "messages");
  EXPECT_EQ(field(ParseCompletionRequest(with(text, "top_logprobs", 2), limits)), "top_logprobs");
  EXPECT_EQ(field(ParseResponsesRequest(with(response, "max_tokens", 5), limits)), "max_tokens");
  EXPECT_EQ(field(ParseResponsesRequest(with(response, "max_output_tokens", 5), limits)), "");
  EXPECT_EQ(field(ParseResponsesRequest(with(response, "text", {{"verbosity", "low"}}), limits)),
            "text.verbosity");
  const Json reasoning = {{"effort", "low"}, {"summary", "auto"}};
  EXPECT_EQ(field(ParseResponsesRequest(with(response, "reasoning", reasoning), limits)), "");
  EXPECT_EQ(field(ParseResponsesRequest(with(response, "reasoning", {{"max_tokens", 9}}), limits)),
            "reasoning.max_tokens");
}

// What the clients of the field send although it changes nothing.
TEST(UnservedFields, RequestsOfStockClientsAreTaken) {
  for (const char* fields :
       {// the official client and the frameworks on it
        R"({"user": "u", "metadata": {"a": "b"}, "store": false, "service_tier": "auto", "n": 1,
            "parallel_tool_calls": true, "safety_identifier": "s", "prompt_cache_key": "k",
            "prompt_cache_retention": "24h", "top_p": 1, "presence_penalty": 0.0,
            "frequency_penalty": 0.0, "logit_bias": {}, "stop": null, "seed": 1, "tools": []})",
        // a web page of llama-server
        R"({"stream": true, "reasoning_format": "auto", "temperature": 0.8, "dynatemp_range": 0,
            "dynatemp_exponent": 1, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "typ_p": 1,
            "xtc_probability": 0, "xtc_threshold": 0.1, "repeat_last_n": 64, "repeat_penalty": 1,
            "presence_penalty": 0, "frequency_penalty": 0, "dry_multiplier": 0, "dry_base": 1.75,
            "dry_allowed_length": 2, "dry_penalty_last_n": -1, "timings_per_token": true,
            "return_progress": true, "cache_prompt": true, "backend_sampling": false})",
        // chat front ends
        R"({"stream": true, "stream_options": {"include_usage": true}, "chat_id": "c",
            "session_id": "s", "id": "i", "user": {"name": "n", "role": "admin"},
            "keep_alive": "5m", "include_reasoning": true, "usage": {"include": true}})",
        // gateways
        R"({"provider": {"order": ["a"]}, "models": ["a", "b"], "transforms": [], "plugins": [],
            "priority": 1, "request_id": "r", "cache_salt": "s"})",
        // evaluation harnesses
        R"({"temperature": 0, "stop": ["\n\n"], "seed": 1234, "do_sample": true,
            "min_tokens": 0, "skip_special_tokens": true})"}) {
    EXPECT_EQ(Refused(Json::parse(fields)), "") << fields;
  }
}

TEST(UnservedFields, AnOptionOfHyperBesideItIsRefused) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"width", 8},
                                                 {"method", "sc"},
                                                 {"preset", "short"},
                                                 {"max-tokens", 5},
                                                 {"window", 9},
                                                 {"route", 2},
                                                 {"answer-kind", "integer"},
                                                 {"vote_tentative", false}}) {
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
                                              {{"typ_p", 1}},
                                              {{"do_sample", true}},
                                              {{"reasoning_format", "deepseek"}},
                                              {{"seed", 3}}}) {
    EXPECT_EQ(Refused(fields), "") << fields;
  }
}

TEST(UnservedFields, ToolsThatMayNotBeCalledAreTaken) {
  EXPECT_EQ(Refused({{"tools", Json::array({kTool})}, {"tool_choice", "none"}}), "");
  EXPECT_EQ(Refused({{"functions", Json::array({kTool})}, {"function_call", "none"}}), "");
  EXPECT_EQ(Refused({{"tools", Json::array()}, {"tool_choice", "required"}}), "tool_choice");
  EXPECT_EQ(Refused({{"tools", 3}, {"tool_choice", "none"}}), "tools");
}

}  // namespace
}  // namespace hyper::server
