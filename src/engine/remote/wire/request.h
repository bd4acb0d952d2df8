// Requests for completions, as each kind of server likes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "hyper/types.h"
#include "src/engine/remote/wire/abilities.h"

namespace hyper::remote {

// A chat whose template only the server applies.
struct ChatPrompt {
  std::string messages;   // JSON list of them
  std::string arguments;  // of the template: a JSON object, or empty
  int tokens = 1;         // of the prompt that the server makes of them
  Continuation continuation;
};

struct CompletionRequest {
  // The chat that `text` continues; null: a completion. Must outlive the request.
  const ChatPrompt* chat = nullptr;
  std::string text;          // the prompt, or what follows `ids` or the chat; there maybe nothing
  std::vector<int32_t> ids;  // the prompt as the server's token numbers, or its beginning
  SamplerSpec sampler;
  int top_count = 0;  // alternatives of each token
  int max_tokens = 1;
  uint32_t seed = 0;
  bool stream = true;
  bool stop_at_end = true;
  std::vector<std::pair<int32_t, float>> logit_bias;
  std::optional<RouteSpec> route;  // how the server refines the tokens
  uint64_t route_key = 0;          // of the router noise
};

// Where the request goes, below a server's base URL. Pure.
const char* CompletionPath(const CompletionRequest& request);

// The JSON body. Fields that the server does not know, as `can` says, are left out. Pure.
std::string CompletionBody(const CompletionRequest& request, const Abilities& can);

// Seed of a request: 31 bits out of a lane's key, the position where it starts and the number of
// the try. Pure.
uint32_t RequestSeed(uint64_t path_key, int position, int attempt);

}  // namespace hyper::remote
