// The front door: turns what a caller wants into a session that answers it. The program, the
// server, the evaluation and the C interface all start here, so a method means the same in each of
// them.
//
//   ResolveRun   preset, method, model and caller put together into one set of options
//   OpenSession  these options checked against an engine, and the session made
//   Ask          both, and a driver until the answer is there
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/auto_choice.h"
#include "hyper/engine.h"
#include "hyper/extract.h"
#include "hyper/method.h"
#include "hyper/options.h"
#include "hyper/session.h"

#pragma GCC visibility push(default)
namespace hyper {

// What a caller wants; anything left out is chosen.
struct RunRequest {
  std::string method = "hyper";  // one of Methods()
  std::string preset;            // "auto", "paper" or "short"; empty: "auto"
  OptionValues options;          // the caller's own values, by name; the last of a name counts
  OptionValues defaults;       // of the surroundings, such as a suite: the caller's own come after
  AutoRequest automatic = {};  // what preset "auto" goes by beside the model
};

// A request with every option settled. Made by ResolveRun only; fields may be changed afterwards,
// OpenSession checks them.
struct RunPlan {
  std::string method;
  std::string preset;
  MethodOptions options;
  // With preset "auto", else 0 (not known):
  int path_tokens = 0;      // expected length of a path
  double tokens_per_s = 0;  // the pace that was taken into account
  OptionValues profile;     // the calibrated options that the caller did not set

 private:
  RunPlan() = default;
  friend Result<RunPlan> ResolveRun(const RunRequest& request, const ModelInfo& model);
};

// Settles the options: those of the preset (with "auto" those of ChooseAuto), then what the method
// changes of them, then the sampling that the model recommends, then `defaults`, then the caller's
// own; then what the method is whatever is asked for (`cot` is one path).
// Errors: kNotFound (method, preset), kInvalidArgument (an option that is not known, out of range,
// or that the method does not read; the message names the methods that do). Pure.
Result<RunPlan> ResolveRun(const RunRequest& request, const ModelInfo& model);

// Paths that each phase of a run decodes side by side: warm-up, if the method has one, and pool.
// Pure.
std::vector<int> PhasesOf(const RunPlan& plan);

// What a run by preset "auto" takes.
struct RunEstimate {
  int paths = 0;        // warm-up and pool
  int path_tokens = 0;  // of one path
  double tokens_per_s = 0;

  double seconds() const { return paths * static_cast<double>(path_tokens) / tokens_per_s; }
};

// The estimate of a plan at a pace. Pure.
RunEstimate EstimateOf(const RunPlan& plan, double tokens_per_s);

// "16 paths of about 700 tokens at 48 tokens/s: about 4 minutes; --effort low: about 40 s"; the
// last part only where `low` is given and takes clearly less. Pure.
std::string EstimateText(const RunEstimate& estimate, const RunEstimate* low = nullptr);

// Names of the methods that read an option, in the order of Methods(); empty: all of them do. Pure.
std::vector<std::string> ReadersOf(const OptionInfo& option);

// KV cells that a run of the plan may fill: the prompt once, and all paths that may be open. Their
// length is the expected one plus a fifth (with preset "auto"), else at most 8,192 tokens.
// Pure.
int64_t CellsNeeded(const RunPlan& plan, int64_t prompt_tokens);

// Whether an engine can run the plan: it has enough lanes, and log-probabilities if the method
// needs them. Errors: kInvalidArgument, kUnsupported.
Status CheckAbilities(const RunPlan& plan, const Capabilities& can);

// What a session may use: the lanes that its width needs and all cells of the engine.
//   most  bounds of its own; 0: none. Bounded lanes take the place of those of the width.
// Pure.
Reservation ReservationOf(const MethodOptions& options, const Engine& engine,
                          const Reservation& most = {});

// Reads the answer from a path's text as `options` say. A box that was cut off is no answer, not
// even a tentative one: it would vote for the beginning of another answer.
AnswerExtractor ExtractorFor(ExtractOptions options);

// What a session needs besides its plan.
struct SessionSpec {
  Prompt prompt;
  SessionSeed seed;  // equal seeds give equal bytes on a strict engine
  SessionLimits limits;
  AnswerExtractor extractor;  // none: paths have no answers
  Reservation most;           // see ReservationOf
  bool token_records = false;
  bool score_tops = false;
  std::vector<std::pair<Token, float>> logit_bias;
};

// The session of a plan on `engine`, which must outlive it; nothing is decoded yet.
//   method  your own method, which reads the plan's options; null: the one that the plan names
// Errors: kInvalidArgument (an option out of range, a prompt that leaves no room in the context),
// those of CheckAbilities and of the method.
Result<std::unique_ptr<Session>> OpenSession(Engine& engine, const RunPlan& plan, SessionSpec spec,
                                             std::unique_ptr<Method> method = nullptr);

// A question in words and how it is answered.
struct AskOptions : RunRequest {
  uint64_t seed = 0;
  SessionLimits limits;
  std::string system;  // system message; empty: none
  // Last paragraph of the question, such as how to write the answer; empty: none. That of `hyper
  // run` is the program's own.
  std::string instruction;
  ExtractOptions extract;  // how the answer is read out of a text
  bool token_records = false;
};

// The prompt of a question, in the engine's chat template. Errors: kInvalidArgument (an empty
// question, a prompt that leaves no room in the context), and those of the template.
Result<Prompt> RenderQuestion(Engine& engine, std::string_view question, std::string_view system,
                              std::string_view instruction);

// The session of `question`: ResolveRun, RenderQuestion, OpenSession. Errors: theirs.
Result<std::unique_ptr<Session>> PrepareSession(Engine& engine, std::string_view question,
                                                const AskOptions& options,
                                                std::unique_ptr<Method> method = nullptr);

// Answers `question`: PrepareSession, then a driver until it is done. Blocks; the thread must own
// the engine. Errors: those of PrepareSession, and the engine's.
Result<SessionResult> Ask(Engine& engine, std::string_view question, const AskOptions& options);

}  // namespace hyper
#pragma GCC visibility pop
