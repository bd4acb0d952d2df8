#include "apps/hyper/question.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apps/hyper/read_text.h"

namespace hyper::app {

Result<std::string> ReadQuestion(const std::string& argument, const std::string& path) {
  if (!argument.empty() && !path.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("both a question and --file '{}' are given; give one", path)};
  }
  std::string text = argument;
  if (!path.empty() || argument == "-") {
    Result<std::string> read = ReadText(path.empty() ? argument : path);
    if (!read) {
      return read;
    }
    text = *read;
  }
  text.erase(text.find_last_not_of("\r\n") + 1);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 "the question is empty; give it as an argument, as - for standard input, or with "
                 "--file"};
  }
  return text;
}

Result<Prompt> MakePrompt(Engine& engine, const std::string& question,
                          const std::string& instruction, const std::string& system) {
  std::vector<ChatMessage> messages;
  if (!system.empty()) {
    messages.push_back({"system", system});
  }
  messages.push_back({"user", instruction.empty() ? question : question + "\n\n" + instruction});
  Result<Prompt> prompt = engine.RenderChat(messages, {});
  if (!prompt) {
    return prompt;
  }
  const size_t fits = static_cast<size_t>(engine.capabilities().context_tokens);
  if (prompt->tokens.size() >= fits) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the prompt has {} tokens, but the context holds {}; shorten the "
                             "question, or raise --ctx if the model can take more",
                             prompt->tokens.size(), fits)};
  }
  return prompt;
}

}  // namespace hyper::app
