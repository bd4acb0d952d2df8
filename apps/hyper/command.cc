#include "apps/hyper/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace hyper::app {
namespace {

// Bytes of the well-formed UTF-8 character at the start of `text`; 0: none starts there.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  return length;
}

}  // namespace

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

std::string OneLine(const std::string& text) {
  std::string line;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    size_t length = CharacterLength(rest);
    if (rest[0] == '\n') {
      line += "\\n";
    } else if (rest[0] == '\t') {
      line += "\\t";
    } else if (length == 0 || byte < 0x20 || byte == 0x7F) {
      line += fmt::format("\\x{:02X}", byte);
      length = 1;
    } else {
      line += rest.substr(0, length);
    }
    rest.remove_prefix(length > 0 ? length : 1);
  }
  return line;
}

std::string ShortNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "-";
}

void Tell(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

int Complain(const char* command, const Error& error) {
  Tell(fmt::format("hyper {}: {}\n", command, OneLine(error.message)));
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
    Complain(command,
             {ErrorCode::kResourceExhausted,
              fmt::format("the result could not be written to standard output: {}; {}",
                          std::generic_category().message(reason),
                          reason == ENOSPC ? "free some space there" : "give it a place to go")});
  }
  return false;
}

}  // namespace hyper::app
