#include "hyper/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hyper/driver.h"

namespace hyper {
namespace {

// Cells where the engine does not count them: more than any session can fill.
constexpr int64_t kUncountedCells = int64_t{1} << 40U;

Result<Prompt> RenderQuestion(Engine& engine, std::string_view question,
                              const AskOptions& options) {
  if (question.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, "the question is empty; give it some text"};
  }
  std::vector<ChatMessage> messages;
  if (!options.system.empty()) {
    messages.push_back({"system", options.system});
  }
  messages.push_back({"user", std::string(question)});
  if (!options.instruction.empty()) {
    messages.back().content += "\n\n" + options.instruction;
  }
  Result<Prompt> prompt = engine.RenderChat(messages, {});
  const auto context = static_cast<size_t>(engine.capabilities().context_tokens);
  if (prompt && prompt->tokens.size() >= context) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the prompt has {} tokens, but the context holds {}; shorten the "
                             "question or give the engine more context",
                             prompt->tokens.size(), context)};
  }
  return prompt;
}

}  // namespace

ExtractedAnswer ReadAnswer(const void* context, std::string_view text, bool finished,
                           bool reasoning_opened) {
  ExtractOptions options = *static_cast<const ExtractOptions*>(context);
  options.finished = finished;
  options.opened_by_template = reasoning_opened;
  Extraction found = ExtractAnswer(text, options);
  return {found.answer.value_or(""), std::move(found.raw), found.tentative};
}

Reservation WholeEngine(const MethodOptions& options, const Engine& engine) {
  const Capabilities& can = engine.capabilities();
  return {std::min(LaneLimit(options), can.max_rows),
          can.cells_total > 0 ? can.cells_total : kUncountedCells};
}

Result<AskSession> PrepareSession(Engine& engine, std::string_view question,
                                  const AskOptions& options, std::unique_ptr<Method> method) {
  Status valid = Validate(options.decoding);
  if (!valid) {
    return valid.error();
  }
  if (method == nullptr) {
    Result<std::unique_ptr<Method>> made = MakeMethod(options.method, options.decoding);
    if (!made) {
      return made.error();
    }
    method = std::move(*made);
  }
  Result<Prompt> prompt = RenderQuestion(engine, question, options);
  if (!prompt) {
    return prompt.error();
  }
  AskSession ask;
  ask.extract = std::make_unique<const ExtractOptions>(options.extract);
  Pool::Config config;
  config.prompt = std::move(*prompt);
  config.options = options.decoding;
  config.seed = {options.seed, 0};
  config.reservation = WholeEngine(options.decoding, engine);
  config.token_records = options.token_records;
  config.extractor = ReadAnswer;
  config.extractor_context = ask.extract.get();
  ask.session =
      std::make_unique<Session>(engine, std::move(config), std::move(method), options.limits);
  return ask;
}

Result<SessionResult> Ask(Engine& engine, std::string_view question, const AskOptions& options) {
  Result<AskSession> ask = PrepareSession(engine, question, options);
  if (!ask) {
    return ask.error();
  }
  Driver driver(engine);
  driver.Add(ask->session.get());
  Status status = driver.RunAll();
  if (status) {
    status = ask->session->status();
  }
  if (!status) {
    return status.error();
  }
  return ask->session->Result();
}

}  // namespace hyper
