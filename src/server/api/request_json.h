// JSON bodies of the OpenAI API as typed requests. A field that is unknown (unserved_fields.h), of
// a wrong type or out of its range is an error that names it.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "src/server/api/api_error.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

inline constexpr int kMostRoutes = 64;  // of hyper.route

// What the operator allows and what the engine is.
struct ServerLimits {
  std::string model_name;  // base name; requests may append ":METHOD"
  std::string default_method = "hyper";
  std::string preset;  // where a request names none; empty: the model's
  ModelInfo model;
  OptionValues profile;     // calibrated for the model, for preset `auto`
  int most_lanes = 0;       // paths that the engine holds at once
  int most_width = 0;       // paths of one request that the client may have; 0: no limit
  int most_choices = 128;   // n
  int most_prompts = 64;    // of one /v1/completions request
  int most_tokens = 32768;  // max_tokens of a path; larger wishes are cut to it
  int plain_tokens = 2048;  // max_tokens of plain decoding where the request gives none
  double most_time_s = 0;   // of one run; 0: none
  bool routing = false;     // the engine can refine tokens
  std::vector<std::string> plain_names;  // other names, for plain decoding
};

// A body, read: one run for each prompt, and how the reply is to look.
struct ApiRequest {
  std::vector<ServedRun> runs;
  std::string model;  // as asked, for the reply
  bool stream = false;
  bool include_usage = false;
  bool echo = false;  // /v1/completions: the prompt comes before the text
};

using ParsedRequest = std::variant<ApiRequest, ApiError>;

ParsedRequest ParseChatRequest(const std::string& body, const ServerLimits& limits);
ParsedRequest ParseCompletionRequest(const std::string& body, const ServerLimits& limits);
// /v1/responses.
ParsedRequest ParseResponsesRequest(const std::string& body, const ServerLimits& limits);

}  // namespace hyper::server
