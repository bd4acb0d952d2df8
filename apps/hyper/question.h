// The question that `hyper run` answers: where it comes from, and how its prompt is made.
#pragma once

#include <string>

#include "hyper/engine.h"
#include "hyper/result.h"

namespace hyper::app {

// The text of the question: `argument` itself, all of standard input where it is "-", or the file
// `path` where that is not empty. Line breaks at the end are dropped.
// Errors: kInvalidArgument (none given, both given, empty), kNotFound (no such file, unreadable).
Result<std::string> ReadQuestion(const std::string& argument, const std::string& path);

// The chat prompt of `question` with `instruction` as its last paragraph and `system` as the system
// message, each left out where empty. Errors: kInvalidArgument where the tokens do not fit into the
// engine's context with one more; both counts are given.
Result<Prompt> MakePrompt(Engine& engine, const std::string& question,
                          const std::string& instruction, const std::string& system);

}  // namespace hyper::app
