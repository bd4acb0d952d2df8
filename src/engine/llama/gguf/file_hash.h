// A name for the contents of a model file.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::llama {

// Hash of a file's contents, to tell models apart in records.
//   up to 256 MiB   "sha256:" and the SHA-256 of the file, as sha256sum prints it
//   larger          "sampled-sha256:" and the SHA-256 of the size (8 bytes, little endian), the
//                   first 16 MiB and 64 further blocks of 1 MiB at even distances: a second
//                   instead of a minute, still telling apart files of other weights
// Errors: kNotFound (cannot be read).
Result<std::string> FileHash(const std::string& path);

}  // namespace hyper::llama
