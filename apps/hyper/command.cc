#include "apps/hyper/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "apps/hyper/input/config_file.h"

namespace hyper::app {

int ExitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return kExitUsage;
    case ErrorCode::kNotFound:
      return kExitNoInput;
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnavailable:
      return kExitUnavailable;
    case ErrorCode::kResourceExhausted:
      return kExitResources;
    case ErrorCode::kDataLoss:
      return kExitData;
    case ErrorCode::kCancelled:
      return kExitInterrupted;
    case ErrorCode::kInternal:
      break;
  }
  return kExitSoftware;
}

std::string ShortNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "-";
}

void Tell(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

int Complain(const char* command, const Error& error) {
  Tell(
      fmt::format("hyper {}: {}\n", command, OneLine(error.message + ConfigOrigin(error.message))));
  return ExitCodeOf(error);
}

void Warn(const char* command, const std::string& text) {
  Tell(fmt::format("hyper {}: warning: {}\n", command, OneLine(text)));
}

bool PrintResult(const char* command, const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && written) {
    return true;
  }
  const int reason = errno;
  if (reason != EPIPE) {
    Complain(command, {ErrorCode::kResourceExhausted,
                       fmt::format("the result could not be written to standard output: {}; {}",
                                   std::generic_category().message(reason),
                                   reason == ENOSPC ? "free some space there"
                                                    : "send it to a file or a terminal")});
  }
  return false;
}

}  // namespace hyper::app
