// A file of lines that appears whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hyper/result.h"

namespace hyper::app {

// Lines are streamed to PATH.part, which Commit renames to PATH; what is not committed is removed.
// Devices and pipes (such as /dev/stderr) are written to directly.
class TraceFile {
 public:
  // Whether Open would succeed; leaves nothing behind. Devices and pipes are not looked at.
  static Status Check(const std::string& path);
  // Errors: kNotFound where the file cannot be created, with the reason.
  static Result<std::unique_ptr<TraceFile>> Open(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Adds `line` and a line break to what the next Flush writes.
  void Add(std::string_view line);
  // Writes what was added. After an error (kResourceExhausted, e.g. a full disk) the partial file
  // is gone and later calls do nothing and succeed.
  Status Flush();
  // Ends the file: it has its name and is complete, or an error says why not.
  Status Commit();

 private:
  TraceFile(std::string path, std::string part, int descriptor);
  Status GiveUp(const char* doing, int error_number);

  std::string path_;
  std::string part_;  // empty: written to `path_` directly
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace hyper::app
