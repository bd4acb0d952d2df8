// The prompt of a request: rendered messages with the start of the reply behind them, or raw text.
#pragma once

#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/extract.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

struct RequestPrompt {
  Prompt prompt;
  // The start of the reply as it stands at the end of the prompt, and whether the template had
  // opened the reasoning before it.
  std::string start;
  bool start_in_reasoning = false;
};

// Errors: those of Engine::RenderChat; kInvalidArgument where the prompt has no token.
Result<RequestPrompt> RenderRequest(Engine& engine, const ServedRun& request);

// The control tokens that a prompt begins with beside what the chat template writes, as a model's
// first token. An engine adds them to chats.
Result<std::vector<Token>> FirstTokens(Engine& engine);

// A part of the reply's start: a tag of the reasoning, or words of the client.
struct StartPiece {
  std::string text;
  bool tag = false;
};

// What follows the prompt `rendered`: as llama-server continues a message, reasoning stands in
// think tags, which close where there is content. Pure.
std::vector<StartPiece> StartPieces(const Prompt& rendered, const AssistantStart& start);

}  // namespace hyper::server
