// The front door: from what a caller wants to a session that answers it. The program, the server,
// the evaluation and the C interface come in here and nowhere else, so that a method means the same
// through each of them.
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
  std::string preset;            // "paper" or "short"; empty: the model's own, else "paper"
  OptionValues options;          // the caller's own values, by name; the last of a name counts
  OptionValues defaults;  // of the surroundings, such as a suite: the caller's own come after
};

// A request with every option settled. Made by ResolveRun only; fields may be changed afterwards,
// OpenSession checks them.
struct RunPlan {
  std::string method;
  std::string preset;
  MethodOptions options;

 private:
  RunPlan() = default;
  friend Result<RunPlan> ResolveRun(const RunRequest& request, const ModelInfo& model);
};

// Settles the options: those of the preset, then what the method changes of them, then the sampling
// that the model recommends, then `defaults`, then the caller's own; then what the method is
// whatever is asked for (`cot` is one path).
// Errors: kNotFound (method, preset), kInvalidArgument (an option that is not known, out of range,
// or that the method does not read; the message names the methods that do). Pure.
Result<RunPlan> ResolveRun(const RunRequest& request, const ModelInfo& model);

// Names of the methods that read an option, in the order of Methods(); empty: all of them do. Pure.
std::vector<std::string> ReadersOf(const OptionInfo& option);

// Whether an engine can run the plan: enough lanes, and log-probabilities where the method is made
// of them. Errors: kInvalidArgument, kUnsupported.
Status CheckAbilities(const RunPlan& plan, const Capabilities& can);

// What a session may use that has the engine to itself: the lanes its width needs and all the cells
// there are. Pure.
Reservation WholeEngine(const MethodOptions& options, const Engine& engine);

// Reads the answer out of a path's text as `options` say. A box that was cut off is no answer, not
// even a tentative one: it would vote for the beginning of another.
AnswerExtractor ExtractorFor(ExtractOptions options);

// What a session is opened with beside its plan.
struct SessionSpec {
  Prompt prompt;
  SessionSeed seed;  // equal seeds give equal bytes on a strict engine
  SessionLimits limits;
  AnswerExtractor extractor;               // none: paths have no answers
  std::optional<Reservation> reservation;  // none: WholeEngine
  bool token_records = false;
  std::vector<std::pair<Token, float>> logit_bias;
};

// The session of a plan on `engine`, which must outlive it; nothing is decoded yet.
//   method  a method of one's own; null: the one that the plan names
// Errors: kInvalidArgument (an option out of range, a prompt that leaves no room in the context),
// those of CheckAbilities and of the method.
Result<std::unique_ptr<Session>> OpenSession(Engine& engine, const RunPlan& plan, SessionSpec spec,
                                             std::unique_ptr<Method> method = nullptr);

// A question in words and how it is answered.
struct AskOptions : RunRequest {
  uint64_t seed = 0;
  SessionLimits limits;
  std::string system;       // system message; empty: none
  std::string instruction;  // last paragraph of the question, such as how to write the answer
  ExtractOptions extract;   // how the answer is read out of a text
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
