// What one server can do, as the probe found it.
#pragma once

#include <string>
#include <vector>

#include "hyper/remote_engine.h"

namespace hyper::remote {

// Length of the lists of log-probabilities that a probe asks for.
inline constexpr int kWantedTop = 20;

enum class ServerKind { kUnknown, kLlamaServer, kVllm, kSglang };

// How a server goes on with an assistant's message (an assistant prefill).
struct Continuation {
  bool flagged = false;  // with continue_final_message; else where the assistant's message is last
  std::string opener;    // what the template opens a turn with, and a continued message must repeat
};

// Refinement of tokens inside a server: vLLM with the add-on of integrations/vllm.
struct ServerRouting {
  int most_routes = 0;  // K of one token; 0: tokens are not refined
  int extra_rows = 0;   // of one forward, over all requests
  int moe_layers = 0;
  int experts = 0;
  int experts_used = 0;
};

struct Abilities {
  ServerKind kind = ServerKind::kUnknown;
  std::string model;           // as requests name it
  int context_tokens = 0;      // 0: not known
  int slots = 0;               // sequences decoded at once; 0: not known
  bool completions = true;     // /completions; else chats only
  int top_logprobs = 0;        // longest list of alternatives, up to what was asked for
  bool raw_logprobs = true;    // the same at every temperature
  bool logprobs_sound = true;  // no positive values, no sum above 1
  bool prompt_ids = false;     // prompts as token ids
  bool mixed_prompts = false;  // prompts as token ids with a text behind them
  bool output_ids = false;     // generated tokens come with ids
  bool filters = true;         // takes top_k and min_p
  bool seeds = false;          // equal seeds give equal texts
  bool echo = false;           // log-probabilities of the prompt
  bool several = false;        // n > 1
  bool prefix_cache = false;   // a second equal prompt was not computed again
  bool tokenizes = false;      // POST /tokenize with a text
  bool token_pieces = false;   // and tells each token's text
  enum class Template { kNone, kApplyTemplate, kTokenizeMessages, kPrefill } chat = Template::kNone;
  ServerRouting routing;
  Continuation continuation;             // with kPrefill
  std::string no_continuation;           // why chats are answered but not continued; else empty
  std::string reasoning_field;           // where chat answers put the reasoning; empty: nowhere
  std::string error_style;               // in words
  std::vector<std::string> workarounds;  // in words
};

// The findings in words.
ServerReport Describe(const std::string& url, const Abilities& can);

const char* ServerKindName(ServerKind kind);

}  // namespace hyper::remote
