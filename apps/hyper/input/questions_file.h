// Many questions in one file: lines, JSON lines, or OpenAI's batch format.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/engine.h"
#include "hyper/result.h"

namespace hyper::app {

// A question of many.
struct OneOfMany {
  std::string id;  // its own, else the number of its line, from 1
  std::vector<ChatMessage> messages;
  bool openai = false;  // a request of OpenAI's batch format; its reply has that form too
};

// The questions of a text, in order. Empty lines are left out; a line that begins with { is an
// object: {"question" or "prompt", "id"}, or a request to /v1/chat/completions with "custom_id" and
// "body"; any other line is a question itself.
// Errors: kInvalidArgument with the number of the line (no JSON, no question, an id that is there
// twice), or where there is no question at all. Pure.
Result<std::vector<OneOfMany>> ParseQuestions(std::string_view text);

// The questions by the ids of the replies (empty where the reply does not say) that `text`, a file
// of them, holds, and in `whole_bytes` how much of it is whole lines: what a killed program left of
// a line is not. Pure.
std::map<std::string, std::string> AnsweredIds(std::string_view text, size_t& whole_bytes);

}  // namespace hyper::app
