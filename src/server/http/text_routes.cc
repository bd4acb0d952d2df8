#include "src/server/http/text_routes.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/utf8.h"
#include "src/server/api/text_json.h"
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

// Has the engine answer what was parsed, and sends that.
template <class Parsed, class Answer>
void Reply(Scheduler& scheduler, const std::variant<Parsed, ApiError>& parsed, Answer answer,
           Response& response) {
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    SendError(response, *error);
    return;
  }
  const Result<Json> body =
      scheduler.AskEngine([&](Engine& engine) { return answer(engine, std::get<Parsed>(parsed)); });
  if (body) {
    Send(response, 200, *body);
  } else {
    SendError(response, FromError(body.error()));
  }
}

}  // namespace

void AddTextRoutes(Routes& routes, Scheduler& scheduler, const ServerLimits& limits) {
  routes.Post("/tokenize", [&scheduler](const Request& request, Response& response) {
    Reply(scheduler, ParseTokenize(request.body), TokensOf, response);
  });
  routes.Post("/detokenize", [&scheduler, &limits](const Request& request, Response& response) {
    Reply(scheduler, ParseDetokenize(request.body, limits.model.vocab_size), TextOf, response);
  });
  routes.Post("/apply-template", [&scheduler](const Request& request, Response& response) {
    Reply(scheduler, ParseApplyTemplate(request.body), PromptOf, response);
  });
}

}  // namespace hyper::server
