#include "apps/hyper/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>

namespace hyper::app {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h";
constexpr std::string_view kLeave = "\x1b[?1049l";
constexpr std::string_view kCtrlZ = "\x1a";

void Write(int to, std::string_view text) { (void)!write(to, text.data(), text.size()); }

// Shows frames until it is killed.
[[noreturn]] void Job() {
  setpgid(0, 0);
  tcsetpgrp(STDIN_FILENO, getpid());
  std::signal(SIGTTOU, SIG_DFL);
  while (true) {
    ShowFrame({"a frame"});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// What a shell with job control does: it tells of every stop, and brings the job back after the
// first.
[[noreturn]] void Shell() {
  std::signal(SIGTTOU, SIG_IGN);
  const pid_t job = fork();
  if (job == 0) {
    Job();
  }
  for (int stops = 1; stops <= 2; ++stops) {
    int status = 0;
    waitpid(job, &status, WUNTRACED);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    if (!WIFSTOPPED(status)) {
      _exit(1);
    }
    Write(STDERR_FILENO, "stop " + std::to_string(stops) + ".");
    if (stops == 1) {
      tcsetpgrp(STDIN_FILENO, job);
      kill(-job, SIGCONT);
    }
  }
  kill(job, SIGKILL);
  kill(job, SIGCONT);
  waitpid(job, nullptr, 0);
  _exit(0);
}

// Reads until `text` has come, and returns all that came; where it never comes, what came till the
// end.
std::string ReadUntil(int terminal, std::string_view text) {
  std::string seen;
  char buffer[4096];
  while (seen.find(text) == std::string::npos) {
    const ssize_t got = read(terminal, buffer, sizeof buffer);
    if (got <= 0) {
      break;
    }
    seen.append(buffer, static_cast<size_t>(got));
  }
  return seen;
}

TEST(Terminal, CtrlZGivesTheScreenBackAndTheNextFrameTakesItAgain) {
  int terminal = -1;
  const pid_t shell = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(shell, 0);
  if (shell == 0) {
    Shell();
  }
  std::string seen = ReadUntil(terminal, "a frame");
  EXPECT_NE(seen.find(kEnter), std::string::npos) << seen;
  Write(terminal, kCtrlZ);
  seen = ReadUntil(terminal, "stop 1.");
  const size_t left = seen.find(kLeave);
  ASSERT_NE(left, std::string::npos) << seen;
  EXPECT_NE(seen.find("\x1b[?25h"), std::string::npos) << "the cursor is back";
  EXPECT_GT(seen.find("a frame", left), seen.find("stop 1.")) << "no frame till then: " << seen;
  seen = seen.substr(seen.find("stop 1.")) + ReadUntil(terminal, "a frame");
  EXPECT_NE(seen.find(kEnter), std::string::npos) << seen;
  Write(terminal, kCtrlZ);
  seen = ReadUntil(terminal, "stop 2.");
  EXPECT_NE(seen.find(kLeave), std::string::npos) << "a second stop is like the first: " << seen;
  int status = 0;
  waitpid(shell, &status, 0);
  EXPECT_EQ(status, 0);
  close(terminal);
}

}  // namespace
}  // namespace hyper::app
