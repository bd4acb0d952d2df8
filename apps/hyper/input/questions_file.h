// Many questions in one file: lines, JSON lines, or OpenAI's batch format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  std::optional<uint64_t> seed{};  // its own: it draws what a run of this seed draws
  bool openai = false;  // a request of OpenAI's batch format; its reply has that form too
};

// The questions of a text, in order. Empty lines are left out; a line that begins with { is an
// object: {"question" or "prompt", "id", "seed"}, or a request to /v1/chat/completions with
// "custom_id" and "body", whose "seed" is read too; any other line is a question itself.
// Errors: kInvalidArgument with the number of the line (no JSON, no question, an id that is there
// twice, a seed that is none), or where there is no question at all. Pure.
Result<std::vector<OneOfMany>> ParseQuestions(std::string_view text);

// The questions by the ids of the replies (empty where the reply does not say) that `text`, a file
// of them, holds, and in `whole_bytes` how much of it is whole lines: what a killed program left of
// a line is not. Pure.
std::map<std::string, std::string> AnsweredIds(std::string_view text, size_t& whole_bytes);

}  // namespace hyper::app
