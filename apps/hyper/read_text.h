// Texts that commands take as a file or on standard input.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::app {

// All bytes of the file `path`, or of standard input where it is "-". Errors: kNotFound (no such
// file, a folder, unreadable).
Result<std::string> ReadText(const std::string& path);

}  // namespace hyper::app
