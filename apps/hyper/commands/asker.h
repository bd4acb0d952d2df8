// Questions put to one loaded engine: what `hyper run`, many questions from a file and `hyper chat`
// have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/trace_file.h"
#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/printers/live_view.h"
#include "apps/hyper/printers/path_text.h"
#include "apps/hyper/printers/run_report.h"
#include "hyper/ask.h"

namespace hyper::app {

// A question with its session and, once that is decoded, all that was recorded.
struct Asked {
  RunSetup setup;
  std::unique_ptr<Session> session;
  std::vector<Record> records;  // all but the token records
  std::vector<std::string> warnings;
  double load_s = 0;    // until decoding could begin; of the engine with the first question only
  double decode_s = 0;  // of this question
  int exit_code = kExitOk;

  RunReport Report() const { return {setup, *session, records, warnings, load_s, decode_s}; }
  // The path whose text is the reply; null where there is none.
  const Path* Winner() const;
  // That text outside its reasoning; all of it where there is nothing outside.
  std::string Reply() const;
};

// The text of the leading path on stdout, as it grows.
class LeaderStream {
 public:
  explicit LeaderStream(bool on) : on_(on) {}
  void Take(const Pool& pool);
  // Ends the last line, adds an empty one, and says so where another path, `path`, has the answer.
  // Returns whether the whole text of `path` has been printed.
  bool End(const Path* path) const;
  // Whether a text is being written.
  bool writing(const Pool& pool) const { return on_ && leader_.writing(pool); }

 private:
  bool on_;
  bool line_open_ = false;  // the last line has no end yet
  LeaderText leader_;
};

class Asker {
 public:
  // Loads the engine, with as many lanes and cells as a run of `flags` may have in use. `flags`
  // must outlive the asker. Errors: those of the engine, and of options that the model does not
  // allow.
  //   prompt_tokens  tokens of the longest prompt to come
  static Result<Asker> Load(const RunFlags& flags, int64_t prompt_tokens, LiveView& view);

  // The session of the last of `messages`, by the plan that SettlePlan makes for it; nothing
  // decoded yet. The instruction is added to the message. Errors: those of RenderPrompt, SettlePlan
  // and OpenSession.
  //   number  of the question: those of one seed draw different random numbers
  //   seed    none: that of the flags, or one drawn for all questions
  Result<Asked> Prepare(std::vector<ChatMessage> messages, uint64_t number, LiveView& view,
                        std::optional<uint64_t> seed = std::nullopt);
  // Decodes to the end, Ctrl-C or an error; exit_code tells which. `trace` may be null.
  void Decode(Asked& asked, LiveView& view, LeaderStream& stream, TraceFile* trace);

 private:
  Asker(const RunFlags& flags, std::unique_ptr<Engine> engine);

  const RunFlags* flags_;
  std::unique_ptr<Engine> engine_;
  uint64_t seed_;
  double load_s_ = 0;
  double pace_ = 0;  // tokens per second, measured with the first question
};

// The messages of a question of its own: the system message of the flags and the question.
std::vector<ChatMessage> MessagesOf(const RunFlags& flags, const std::string& question);

}  // namespace hyper::app
