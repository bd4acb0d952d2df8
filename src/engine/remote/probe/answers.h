// What a probe reads out of a server's answers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/remote/wire/abilities.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/json_call.h"

namespace hyper::remote {

// What a server that does not answer as it should is called. Pure.
Error Refusal(const std::string& base, const JsonAnswer& answer);

// Reads the model that is `wanted` (empty: the first) and the kind of the server at `base` out of
// its /models. Errors: kUnavailable (no list), kNotFound (not in it). Throws WireJson::exception
// where members are of other types. Pure but for `can`.
Status ReadModels(const std::string& base, const JsonAnswer& answer, const std::string& wanted,
                  Abilities& can);

// Reads a llama-server's slots and context out of its /props; other answers change nothing.
// Throws as ReadModels. Pure but for `can`.
void ReadProps(const JsonAnswer& props, Abilities& can);

// Reads what a vLLM's add-on says of refinement out of its /hyper/capabilities; other answers
// change nothing. Throws as ReadModels. Pure but for `can`.
void ReadRouting(const JsonAnswer& answer, Abilities& can);

// The first token's list out of an answer, by name; the whole answer comes out in `chunk`. Pure.
std::map<std::string, float> FirstList(const JsonAnswer& answer, Chunk& chunk);

// Log-probabilities of the prompt's last `scored` tokens of `prompt`, where the answer echoes them
// in parallel lists; empty where it does not. Values that are no numbers count as -9999. Pure.
std::vector<float> EchoedLogprobs(const WireJson& body, size_t prompt, size_t scored);

// The text of the first choice. Throws WireJson::exception where it is no string. Pure.
std::string FirstText(const WireJson& body);

// Tokens of the prompt that were not computed again, as usage or llama-server's timings tell; 0
// where neither does. Pure.
int CachedTokens(const JsonAnswer& answer);

// Tokens that were found in the prefix cache since the server's start, out of its metrics in
// Prometheus' text form (vLLM, SGLang); 0 where they do not tell. Pure.
double CacheHits(std::string_view metrics);

}  // namespace hyper::remote
