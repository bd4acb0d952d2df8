// Bodies of the requests about texts and tokens, in the forms of llama-server; the names that vLLM
// has for the same fields are taken too.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/report/json.h"
#include "src/server/api/request_json.h"

namespace hyper::server {

struct TokenizeRequest {
  std::string text;
  bool add_special = false;   // also the tokens that a prompt of the model begins with
  bool parse_special = true;  // names of control tokens are these tokens
  bool with_pieces = false;   // each token also as its text
};

std::variant<TokenizeRequest, ApiError> ParseTokenize(const std::string& body);
// Numbers below `vocab_size`.
std::variant<std::vector<Token>, ApiError> ParseDetokenize(const std::string& body, int vocab_size);
// A run that has messages and template arguments, and nothing else.
std::variant<ServedRun, ApiError> ParseApplyTemplate(const std::string& body);

// A piece of a text: the text, or its bytes where it is not valid UTF-8. Pure.
Json PieceJson(const std::string& bytes);

}  // namespace hyper::server
