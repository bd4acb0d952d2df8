// Many questions of one file, answered one after the other.
#pragma once

#include <string>

#include "apps/hyper/commands/asker.h"
#include "apps/hyper/input/questions_file.h"

namespace hyper::app {

// Answers the questions of flags.questions and writes a line of JSON for each to flags.output (else
// stdout) as soon as it is there. What the file already answers is left out, so that a command that
// was stopped goes on where it was. Returns the exit code.
int RunMany(const RunFlags& flags);

// The line for a question that has been answered, without line break. Pure.
std::string ReplyLine(const OneOfMany& question, const Asked& asked);

}  // namespace hyper::app
