// What a client asks for, typed: the HTTP threads make it out of JSON, the scheduler runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/engine.h"
#include "hyper/extract.h"
#include "hyper/options.h"
#include "hyper/session.h"
#include "src/server/api/client.h"

namespace hyper::server {

// Name of single-path decoding among the methods of a request.
inline constexpr const char* kPlainMethod = "plain";
// The method whose options it takes.
inline constexpr const char* kPlainPlan = "sc";

// The beginning of the assistant's turn, which the model continues.
struct AssistantStart {
  std::string reasoning;
  std::string content;
};

// What a run goes on from that continues a path of an ended one.
struct ForkStart {
  size_t begin = 0;      // of the path among the tokens of the prompt
  std::string question;  // of the ended run
  std::string notice;    // says where it comes from
};

struct ServedRun {
  std::string method = kPlainMethod;  // or one of Methods()
  RunPlan plan = *ResolveRun(
      {.method = kPlainPlan, .preset = "paper", .options = {{"width", 1}}, .defaults = {}}, {});
  Client client;
  std::string model;  // its served name; empty where the server has only one
  uint64_t seed = 0;
  SessionLimits limits;
  ExtractOptions extract;
  // The prompt: messages for the chat template, or, where `messages` is empty, tokens or raw text.
  std::vector<ChatMessage> messages;
  std::optional<AssistantStart> start;  // stands behind the rendered messages
  std::vector<std::pair<std::string, std::string>> template_arguments;
  std::vector<Token> prompt_tokens;
  std::string prompt_text;
  std::optional<ForkStart> fork;          // of a prompt of tokens
  std::string prompt_field = "messages";  // where the client gave it, for errors
  ReplyWish wish;
  std::string wish_field;  // where the client gave it, for errors
  // What comes out.
  int choices = 1;                  // n; pools have one
  int first_choice = 0;             // index of the first of them in the reply
  std::vector<std::string> stop;    // none empty
  std::optional<int> top_logprobs;  // nothing: no log-probabilities
  std::vector<std::pair<Token, float>> logit_bias;
  int routes = 1;                // K of every token of plain decoding (hyper.route)
  bool nothing_written = false;  // the prompt is all that is asked for (max_tokens 0)
  bool prompt_logprobs = false;  // also those of the prompt; plain decoding
  bool token_records = false;    // a record per token in the run's log
  bool records = false;          // the records also go into the reply, as hyper.* events
  bool keep_running = false;     // goes on where the client leaves
  bool progress = false;         // decisions go into the reply in words, as reasoning
};

// Paths of a pool, or choices. Pure.
inline int WidthOf(const ServedRun& run) {
  return run.method == kPlainMethod ? run.choices : run.plan.options.width;
}

}  // namespace hyper::server
