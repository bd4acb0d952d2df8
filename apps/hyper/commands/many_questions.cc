#include "apps/hyper/commands/many_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/printers/live_frame.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/printers/screen_line.h"
#include "apps/hyper/run_log.h"
#include "apps/hyper/terminal.h"
#include "src/base/utf8.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

using Clock = std::chrono::steady_clock;

// A response of OpenAI's batch format.
Json OpenAiLine(const OneOfMany& question, const Asked& asked, const SessionResult& result) {
  const Path* path = asked.Winner();
  const bool whole = path != nullptr && path->status == PathStatus::kFinished;
  const Json choice = {{"index", 0},
                       {"message", {{"role", "assistant"}, {"content", asked.Reply()}}},
                       {"finish_reason", whole ? "stop" : "length"}};
  const int64_t prompt = result.ledger.prefilled;
  const int64_t generated = result.ledger.generated;
  const Json body = {{"id", "chatcmpl-" + question.id},
                     {"object", "chat.completion"},
                     {"created", 0},  // no clock: equal runs give equal lines
                     {"model", asked.setup.model.name},
                     {"choices", Json::array({choice})},
                     {"usage",
                      {{"prompt_tokens", prompt},
                       {"completion_tokens", generated},
                       {"total_tokens", prompt + generated}}},
                     {"hyper",
                      {{"answer", result.answer ? Json(*result.answer) : Json()},
                       {"agreement", AgreementText(result)}}}};
  return {{"id", "batch_req_" + question.id},
          {"custom_id", question.id},
          {"response", {{"status_code", 200}, {"request_id", question.id}, {"body", body}}},
          {"error", nullptr}};
}

// Where the lines go.
class Output {
 public:
  // Opens `path` at the end of its last whole line; stdout where it is empty.
  static Result<Output> Open(const std::string& path) {
    Output output;
    if (path.empty()) {
      return output;
    }
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      Result<std::string> text = ReadText(path, kMostReplyBytes);
      if (!text) {
        return text.error();
      }
      size_t whole = 0;
      output.done_ = AnsweredIds(*text, whole);
      if (whole == 0 && !text->empty()) {
        return InvalidArgument(
            fmt::format("-o '{}' holds no replies; give the name of a new file", path));
      }
      if (whole < text->size()) {
        std::filesystem::resize_file(path, whole, error);
      }
    }
    output.file_.open(path, std::ios::binary | std::ios::app);
    if (error || !output.file_) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("-o '{}' cannot be written; check path and permissions", path)};
    }
    output.path_ = path;
    return output;
  }

  bool Has(const std::string& id) const { return done_.contains(id); }
  // Whether the reply of that id is to another question. Replies in OpenAI's form do not say.
  bool HasOther(const OneOfMany& question) const {
    const auto at = done_.find(question.id);
    return at != done_.end() && !at->second.empty() &&
           at->second != base::ValidUtf8(question.messages.back().content);
  }

  bool Write(const std::string& line) {
    if (path_.empty()) {
      return PrintResult(kRunCommand, line + "\n");
    }
    file_ << line << '\n' << std::flush;
    if (!file_) {
      Complain(kRunCommand, {ErrorCode::kResourceExhausted,
                             fmt::format("-o '{}' cannot be written; free some space and give the "
                                         "same command again",
                                         path_)});
    }
    return static_cast<bool>(file_);
  }

 private:
  static constexpr size_t kMostReplyBytes = size_t{1} << 32U;
  std::string path_;
  std::ofstream file_;
  std::map<std::string, std::string> done_;  // questions by id
};

// The messages of a question, after the system message of the flags where it has none of its own.
std::vector<ChatMessage> Conversation(const RunFlags& flags, const OneOfMany& question) {
  std::vector<ChatMessage> messages = question.messages;
  if (messages.front().role != "system" && !flags.system.empty()) {
    messages.insert(messages.begin(), {"system", flags.system});
  }
  return messages;
}

// How far it is: a bar on the last line of a terminal, else a line for each answer.
class Advance {
 public:
  // Quiet: says nothing.
  Advance(size_t all, bool quiet) : all_(all), quiet_(quiet) {}

  void Skip() { ++done_; }
  void Count(const SessionResult& result) {
    ++done_;
    ++answered_;
    if (quiet_) {
      return;
    }
    const std::string line = fmt::format("{} of {}: {} ({}){}", done_, all_,
                                         result.answer ? OneLine(*result.answer) : "none",
                                         AgreementText(result), Left());
    bar_ = IsScreen();
    Tell(bar_ ? BarLine(line) : line + "\n");
  }
  // Takes the bar away, for what is to stand in its place.
  void Clear() {
    if (std::exchange(bar_, false)) {
      Tell("\r\x1b[K");
    }
  }
  void End(const std::string& file) const {
    if (!quiet_ && answered_ == 0) {
      Tell(fmt::format("all {} questions were answered already, in '{}'\n", done_, file));
    } else if (bar_) {
      Tell("\n");
    }
  }

 private:
  // The time still to come, in words.
  std::string Left() const {
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left =
        elapsed_s / static_cast<double>(answered_) * static_cast<double>(all_ - done_);
    return done_ == all_ ? "" : fmt::format("; about {:.0f} s left", left);
  }
  // Takes the place of the line before it.
  std::string BarLine(const std::string& text) const {
    constexpr int kBar = 20;
    ScreenLine line(ScreenNow().columns - 1);
    AddProgressBar(line, static_cast<double>(done_) / static_cast<double>(all_), kBar);
    line.To(kBar + 1).Add(text);
    return "\r\x1b[K" + line.Text(ScreenNow().colour);
  }

  size_t all_;
  bool quiet_;
  bool bar_ = false;  // stands on the last line
  size_t done_ = 0;
  size_t answered_ = 0;
  Clock::time_point start_ = Clock::now();
};

// The questions of the flags' file.
Result<std::vector<OneOfMany>> ReadQuestions(const RunFlags& flags) {
  const Result<std::string> text = ReadText(flags.questions);
  if (!text) {
    return text.error();
  }
  Result<std::vector<OneOfMany>> questions = ParseQuestions(*text);
  if (!questions) {
    return InvalidArgument(fmt::format("'{}', {}", flags.questions, questions.error().message));
  }
  return questions;
}

// Where the replies go: nowhere a reply to another of these questions stands.
Result<Output> OpenOutput(const RunFlags& flags, const std::vector<OneOfMany>& questions) {
  Result<Output> output = Output::Open(flags.output);
  for (const OneOfMany& question : questions) {
    if (output && output->HasOther(question)) {
      return InvalidArgument(fmt::format(
          "-o '{}' has the answer to another question under the id '{}'; give the name of a new "
          "file",
          flags.output, question.id));
    }
  }
  return output;
}

// Answers one question and writes the reply. Returns an exit code where the program is to end.
std::optional<int> AnswerOne(const RunFlags& flags, const OneOfMany& question, size_t number,
                             Asker& asker, LiveView& view, Output& output, Advance& advance) {
  Result<Asked> asked =
      asker.Prepare(Conversation(flags, question), question.seed ? 0 : number, view, question.seed);
  if (!asked) {
    advance.Clear();
    return Complain(kRunCommand, {asked.error().code, fmt::format("question {}: {}", question.id,
                                                                  asked.error().message)});
  }
  LeaderStream none(false);
  asker.Decode(*asked, view, none, nullptr);
  advance.Clear();  // replies may go to the same terminal
  for (const std::string& warning : asked->warnings) {
    Warn(kRunCommand, fmt::format("question {}: {}", question.id, warning));
  }
  if (const Status& status = asked->session->status(); !status) {
    return Complain(kRunCommand, status.error());
  }
  if (asked->exit_code != kExitOk) {
    return asked->exit_code;  // interrupted: the same command takes this question again
  }
  if (!output.Write(ReplyLine(question, *asked))) {
    return kExitOutput;
  }
  KeepInLog(flags, *asked);
  advance.Count(asked->session->Result());
  return std::nullopt;
}

}  // namespace

std::string ReplyLine(const OneOfMany& question, const Asked& asked) {
  const SessionResult result = asked.session->Result();
  if (question.openai) {
    return DumpJson(OpenAiLine(question, asked, result));
  }
  const auto vote = result.votes.find(result.vote_rule);
  const bool any = vote != result.votes.end() && !vote->second.scores.empty();
  const Json line = {{"id", question.id},
                     {"question", asked.setup.question},
                     {"answer", result.answer ? Json(*result.answer) : Json()},
                     {"agreeing_paths", any ? vote->second.scores.front().paths : 0},
                     {"voting_paths", result.voting_paths},
                     {"paths", asked.session->pool().paths().size()},
                     {"tokens", result.ledger.effective()},
                     {"partial", result.partial},
                     {"seed", asked.setup.seed},
                     {"text", asked.Reply()}};
  return DumpJson(line);
}

int RunMany(const RunFlags& flags) {
  const Result<std::vector<OneOfMany>> questions = ReadQuestions(flags);
  if (!questions) {
    return Complain(kRunCommand, questions.error());
  }
  Result<Output> output = OpenOutput(flags, *questions);
  if (!output) {
    return Complain(kRunCommand, output.error());
  }
  const bool quiet = flags.detail == Detail::kAnswer;
  const LiveMode mode = quiet ? LiveMode::kOff : LiveMode::kHeartbeats;
  LiveView loading(mode);
  LiveView view(IsScreen() ? LiveMode::kOff : mode);  // there the bar says how far it is
  int64_t prompt_tokens = 0;
  for (const OneOfMany& question : *questions) {
    prompt_tokens = std::max(prompt_tokens, MostPromptTokens(flags, Conversation(flags, question)));
  }
  Result<Asker> asker = Asker::Load(flags, prompt_tokens, loading);
  if (!asker) {
    return Complain(kRunCommand, asker.error());
  }
  Advance advance(questions->size(), quiet);
  for (size_t i = 0; i < questions->size(); ++i) {
    const OneOfMany& question = (*questions)[i];
    if (output->Has(question.id)) {
      advance.Skip();
    } else if (const std::optional<int> exit_code =
                   AnswerOne(flags, question, i, *asker, view, *output, advance)) {
      return *exit_code;
    }
  }
  advance.End(flags.output);
  return kExitOk;
}

}  // namespace hyper::app
