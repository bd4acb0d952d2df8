// Files that commands write as a whole.
#pragma once

#include <filesystem>
#include <string>

#include "hyper/result.h"

namespace hyper::app {

// Writes `text` to the file `path`, in place of what it held.
// Errors: kNotFound, it cannot be written; the message names it.
Status WriteText(const std::filesystem::path& path, const std::string& text);

}  // namespace hyper::app
