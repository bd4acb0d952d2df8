#include "apps/hyper/commands/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hyper::app {
namespace {

std::string Reason(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

TraceFile::TraceFile(std::string path, std::string part, int descriptor)
    : path_(std::move(path)), part_(std::move(part)), descriptor_(descriptor) {}

Result<std::unique_ptr<TraceFile>> TraceFile::Open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool device = fs::exists(status) && !fs::is_regular_file(status);
  const auto refused = [&path](const std::string& reason) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("trace file '{}' cannot be written: {}; name a file in a writable "
                             "folder",
                             path, reason)};
  };
  if (fs::is_directory(status)) {
    return refused("it is a folder");
  }
  // The rename would replace a file that its owner made read-only.
  if (fs::exists(status) && access(path.c_str(), W_OK) != 0) {
    return refused(Reason(errno));
  }
  const std::string part = device ? "" : path + ".part";
  const std::string& target = device ? path : part;
  const int flags = O_WRONLY | O_CLOEXEC | (device ? 0 : O_CREAT | O_TRUNC);
  const int descriptor = open(target.c_str(), flags, 0644);
  if (descriptor < 0) {
    return refused(Reason(errno));
  }
  return std::unique_ptr<TraceFile>(new TraceFile(path, part, descriptor));
}

Status TraceFile::Check(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_other(path, error)) {
    return {};
  }
  const Result<std::unique_ptr<TraceFile>> opened = Open(path);
  return opened ? Status() : opened.error();
}

TraceFile::~TraceFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    if (!part_.empty()) {
      unlink(part_.c_str());
    }
  }
}

Status TraceFile::GiveUp(const char* doing, int error_number) {
  if (descriptor_ >= 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
  if (!part_.empty()) {
    unlink(part_.c_str());
  }
  return Error{
      ErrorCode::kResourceExhausted,
      fmt::format("trace file '{}' could not be {}: {}; {}free some space or name "
                  "another file",
                  path_, doing, Reason(error_number), part_.empty() ? "" : "it was removed, ")};
}

Status TraceFile::Flush() {
  std::string_view rest = buffer_;
  while (descriptor_ >= 0 && !rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return GiveUp("written", errno);
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return {};
}

void TraceFile::Add(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
}

Status TraceFile::Commit() {
  if (descriptor_ < 0) {
    return {};
  }
  Status status = Flush();
  if (!status) {
    return status;
  }
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) {
    return GiveUp("closed", errno);
  }
  if (!part_.empty() && std::rename(part_.c_str(), path_.c_str()) != 0) {
    return GiveUp("renamed", errno);
  }
  return {};
}

}  // namespace hyper::app
