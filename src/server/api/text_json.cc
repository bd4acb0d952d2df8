#include "src/server/api/text_json.h"

#include <utility>

#include "src/base/utf8.h"
#include "src/server/api/parse_fields.h"
#include "src/server/api/request_messages.h"
#include "src/server/api/request_options.h"

namespace hyper::server {
namespace {

// Of fields that nobody looked for each is wrong.
template <class Request, class Read>
std::variant<Request, ApiError> ParseKnown(const std::string& body, Read read) {
  return ParseFields<Request>(body, [&read](FieldReader& fields, Request& request) {
    fields.Find("model");  // there is one
    read(fields, request);
    fields.RefuseOthers("is not known here");
  });
}

}  // namespace

std::variant<TokenizeRequest, ApiError> ParseTokenize(const std::string& body) {
  return ParseKnown<TokenizeRequest>(body, [](FieldReader& fields, TokenizeRequest& request) {
    const bool vllm = fields.Take("prompt", request.text);
    if (!fields.Take("content", request.text) && !vllm) {
      fields.Fail("content", "'content' is missing; it takes a text");
    }
    fields.Take("add_special_tokens", request.add_special);
    fields.Take("add_special", request.add_special);
    fields.Take("parse_special", request.parse_special);
    fields.Take("return_token_strs", request.with_pieces);
    fields.Take("with_pieces", request.with_pieces);
  });
}

std::variant<std::vector<Token>, ApiError> ParseDetokenize(const std::string& body,
                                                           int vocab_size) {
  return ParseKnown<std::vector<Token>>(
      body, [vocab_size](FieldReader& fields, std::vector<Token>& tokens) {
        bool skip = false;
        if (fields.Take("skip_special_tokens", skip) && skip) {
          fields.Refuse("skip_special_tokens", "control tokens are shown by their names");
        }
        const Json* given = fields.Find("tokens");
        bool good = given != nullptr && given->is_array();
        for (size_t i = 0; good && i < given->size(); ++i) {
          const Json& number = (*given)[i];
          good = Holds<int>(number) && number >= 0 && number < vocab_size;
          if (good) {
            tokens.push_back(number.get<Token>());
          }
        }
        if (!good) {
          fields.Fail("tokens", fmt::format("'tokens' takes an array of token numbers, 0 to {}",
                                            vocab_size - 1));
        }
      });
}

std::variant<ServedRun, ApiError> ParseApplyTemplate(const std::string& body) {
  return ParseKnown<ServedRun>(body, [](FieldReader& fields, ServedRun& run) {
    ReadMessages(fields, "messages", KeepsReasoning(fields), run);
    ReadTemplateArguments(fields, run.template_arguments);
    bool prompt_follows = true;
    if (fields.Take("add_generation_prompt", prompt_follows) && !prompt_follows) {
      fields.Refuse("add_generation_prompt", "the prompt of a reply is what is made here");
    }
  });
}

Json PieceJson(const std::string& bytes) {
  if (base::ValidUtf8(bytes) == bytes) {
    return bytes;
  }
  Json array = Json::array();
  for (const char byte : bytes) {
    array.push_back(static_cast<unsigned char>(byte));
  }
  return array;
}

}  // namespace hyper::server
