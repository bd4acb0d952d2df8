// From a question in words to a session that answers it: the short way into the library. What it
// does can all be done by hand with engine.h, session.h and driver.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hyper/engine.h"
#include "hyper/extract.h"
#include "hyper/method.h"
#include "hyper/options.h"
#include "hyper/session.h"

namespace hyper {

// How a question is put and answered.
struct AskOptions {
  std::string method = "hyper";  // as MakeMethod takes it
  MethodOptions decoding;        // the paper's; Preset gives others
  uint64_t seed = 0;             // equal seeds give equal bytes on a strict engine
  SessionLimits limits;
  std::string system;       // system message; empty: none
  std::string instruction;  // last paragraph of the question, such as how to write the answer
  ExtractOptions extract;   // how the answer is read out of a text
  bool token_records = false;
};

// A session ready for a driver, with what it reads while it runs.
struct AskSession {
  std::unique_ptr<const ExtractOptions> extract;
  std::unique_ptr<Session> session;
};

// The pool's extractor; `context` points to the ExtractOptions to read a text with. Pure.
ExtractedAnswer ReadAnswer(const void* context, std::string_view text, bool finished,
                           bool reasoning_opened);

// What a session may use that has the engine to itself: the lanes its width needs and all the cells
// there are. Pure.
Reservation WholeEngine(const MethodOptions& options, const Engine& engine);

// The session of `question` on `engine`, which must outlive it; nothing is decoded yet.
//   method  a method of one's own; null: the one that `options.method` names
// The session reserves the lanes its width needs and all the engine's cells.
// Errors: kInvalidArgument (an option out of range, an empty question, a prompt that leaves no room
// in the context), kNotFound (no such method), and those of the engine's chat template.
Result<AskSession> PrepareSession(Engine& engine, std::string_view question,
                                  const AskOptions& options,
                                  std::unique_ptr<Method> method = nullptr);

// Answers `question`: PrepareSession, then a driver until it is done. Blocks; the thread must own
// the engine. Errors: those of PrepareSession, and the engine's.
Result<SessionResult> Ask(Engine& engine, std::string_view question, const AskOptions& options);

}  // namespace hyper
