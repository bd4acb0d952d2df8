// The prompt of a request: messages of a chat, inputs of a response, prompts of a completion.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/server/api/field_reader.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

// "messages": an array of {role, content}; content is text, null or an array of text parts.
// The "reasoning_content" of earlier turns is left out, as templates do, unless `keep_reasoning`:
// it then stands in think tags before the content. A last message of the assistant is the start of
// the reply, as llama-server takes it.
void ReadMessages(FieldReader& fields, const char* name, bool keep_reasoning, ServedRun& run);

// "input" and "instructions" of /v1/responses: a text, or messages.
void ReadInput(FieldReader& fields, bool keep_reasoning, ServedRun& run);

// "prompt" of /v1/completions: a text, tokens, or an array of either; a copy of `run` for each.
void ReadPrompts(FieldReader& fields, int vocab_size, int most_prompts, const ServedRun& run,
                 std::vector<ServedRun>& runs);

// "chat_template_kwargs": an object whose values reach the template as JSON. So does the effort of
// "reasoning_effort" or "reasoning"; the effort "none" turns thinking off.
void ReadTemplateArguments(FieldReader& fields,
                           std::vector<std::pair<std::string, std::string>>& arguments);

// Puts a system message in front and a paragraph behind the last user message, where not empty.
void AddInstructions(const std::string& system, const std::string& instruction,
                     std::vector<ChatMessage>& messages);

}  // namespace hyper::server
