#include "apps/hyper/gnuplot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace hyper::app {
namespace {

constexpr int kNotFoundExit = 127;  // of a child that could not be started, in some libcs

std::string Doubled(const std::string& text) {
  std::string doubled;
  for (const char c : text) {
    doubled += c == '\'' ? "''" : std::string(1, c);
  }
  return doubled;
}

Error NoGnuplot() {
  return Error{ErrorCode::kUnavailable,
               "gnuplot is not on the PATH, so no picture was drawn; install it (apt install "
               "gnuplot-nox, dnf install gnuplot, brew install gnuplot) and give the same command, "
               "or run gnuplot on the .gp files elsewhere"};
}

}  // namespace

Status RunGnuplot(const std::string& script, const std::string& format, const std::string& folder) {
  const std::string setup = fmt::format("format='{}'; folder='{}'", format, Doubled(folder));
  std::string program = "gnuplot";
  std::string flag = "-e";
  std::string commands = setup;
  std::string file = script;
  const std::array<char*, 5> arguments = {program.data(), flag.data(), commands.data(), file.data(),
                                          nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (failed == ENOENT) {
    return NoGnuplot();
  }
  int state = 0;
  while (failed == 0 && waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (failed == 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0) {
    return {};
  }
  if (failed == 0 && WIFEXITED(state) && WEXITSTATUS(state) == kNotFoundExit) {
    return NoGnuplot();
  }
  return Error{ErrorCode::kInternal,
               fmt::format("gnuplot failed on '{}' as {}; it takes version 5.2 or later with its "
                           "cairo terminals for pdf and png",
                           script, format)};
}

}  // namespace hyper::app
