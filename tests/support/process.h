// Test support: runs a program and takes what it prints.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace hyper::test {

struct ProcessResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;      // the signal, or 0
  std::string out;
  std::string err;
};

// A program that runs; its output goes to files in a temporary folder.
class Process {
 public:
  // Starts `arguments` (the program first) with `input` on standard input. Ends the test program
  // where it cannot be started.
  explicit Process(const std::vector<std::string>& arguments, const std::string& input = "");
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What it has printed so far, to stdout and to stderr.
  std::string OutputSoFar() const;
  std::string ErrorsSoFar() const;
  void Signal(int signal) const;
  // Waits for its end.
  ProcessResult Wait();

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

// Starts `arguments` with a terminal (TERM=xterm) of that size as standard input, output and
// errors, and waits. Both streams come as `out`.
ProcessResult RunOnTerminal(const std::vector<std::string>& arguments, int columns = 80,
                            int rows = 24);

// Starts and waits.
ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& input = "");

// Writes `content` to a file; returns its path.
std::string WriteFile(const std::string& path, const std::string& content);

// Names in a folder, sorted.
std::vector<std::string> NamesIn(const std::string& folder);

std::string ReadWholeFile(const std::string& path);

}  // namespace hyper::test
