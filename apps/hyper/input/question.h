// The question that `hyper run` answers: where it comes from.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::app {

// The text of the question: `argument` itself; all of standard input where it is "-", or where
// nothing is given and standard input is no terminal; or the file `path` where that is not empty.
// Line breaks at the end are dropped.
// Errors: kInvalidArgument (none given, both given, empty), kNotFound (no such file, unreadable).
Result<std::string> ReadQuestion(const std::string& argument, const std::string& path);

}  // namespace hyper::app
