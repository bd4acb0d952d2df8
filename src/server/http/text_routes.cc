#include "src/server/http/text_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/utf8.h"
#include "src/server/api/text_json.h"
#include "src/server/http/model_choice.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

Result<Json> TokensOf(Engine& engine, const TokenizeRequest& wanted) {
  Result<std::vector<Token>> tokens = engine.Tokenize(wanted.text, wanted.parse_special);
  if (tokens && wanted.add_special) {
    const Result<std::vector<Token>> first = FirstTokens(engine);
    if (!first) {
      return first.error();
    }
    tokens->insert(tokens->begin(), first->begin(), first->end());
  }
  if (!tokens) {
    return tokens.error();
  }
  Json list = Json::array();
  for (const Token token : *tokens) {
    list.push_back(wanted.with_pieces
                       ? Json({{"id", token}, {"piece", PieceJson(engine.TokenText(token))}})
                       : Json(token));
  }
  return Json({{"tokens", std::move(list)}});
}

Result<Json> TextOf(const Engine& engine, const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) {
    text += engine.TokenText(token);
  }
  return Json({{"content", base::ValidUtf8(text)}});
}

Result<Json> PromptOf(Engine& engine, const ServedRun& run) {
  const Result<RequestPrompt> rendered = RenderRequest(engine, run);
  return rendered ? Result<Json>(Json({{"prompt", rendered->prompt.text}}))
                  : Result<Json>(rendered.error());
}

// Has the engine of the model that is asked for answer what is parsed, and sends that.
template <class Parse, class Answer>
void Reply(ModelHost& host, const std::string& body, Parse parse, Answer answer,
           Response& response) {
  const std::optional<ModelLease> model = ModelFor(
      host, body, [&](const ServerLimits& limits) { return ErrorOf(parse(body, limits)); },
      response);
  if (!model) {
    return;
  }
  const auto parsed = parse(body, model->limits());
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    SendError(response, *error);
    return;
  }
  const Result<Json> told = model->scheduler().AskEngine(
      [&](Engine& engine) { return answer(engine, std::get<0>(parsed)); });
  if (told) {
    Send(response, 200, *told);
  } else {
    SendError(response, FromError(told.error()));
  }
}

}  // namespace

void AddTextRoutes(Routes& routes, ModelHost& host) {
  routes.Post("/tokenize", [&host](const Request& request, Response& response) {
    const auto parse = [](const std::string& body, const ServerLimits& /*limits*/) {
      return ParseTokenize(body);
    };
    Reply(host, request.body, parse, TokensOf, response);
  });
  routes.Post("/detokenize", [&host](const Request& request, Response& response) {
    const auto parse = [](const std::string& body, const ServerLimits& limits) {
      return ParseDetokenize(body, limits.model.vocab_size);
    };
    Reply(host, request.body, parse, TextOf, response);
  });
  routes.Post("/apply-template", [&host](const Request& request, Response& response) {
    const auto parse = [](const std::string& body, const ServerLimits& /*limits*/) {
      return ParseApplyTemplate(body);
    };
    Reply(host, request.body, parse, PromptOf, response);
  });
}

}  // namespace hyper::server
