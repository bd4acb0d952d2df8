#include "tests/support/process.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace hyper::test {
namespace {

// The program's arguments as execv takes them; points into `arguments`.
std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// The programs that tests start neither read nor write what belongs to the user.
struct Environment {
  Environment() {
    setenv("XDG_DATA_HOME", folder.File("data").c_str(), 1);
    setenv("XDG_CONFIG_HOME", folder.File("config").c_str(), 1);
    unsetenv("HYPER_MODEL");
  }
  TemporaryFolder folder;
};
const Environment g_environment;

ProcessResult ResultOf(int status) {
  ProcessResult result;
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  } else if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  }
  return result;
}

}  // namespace

std::string ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Process::Process(const std::vector<std::string>& arguments, const std::string& input) {
  const std::string in = WriteFile(folder_.File("in"), input);
  const std::string out = folder_.File("out");
  const std::string err = folder_.File("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int create = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), create, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), create, 0600);
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers = Pointers(copies);
  const int failed = posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    std::fprintf(stderr, "%s cannot be started: error %d\n", pointers[0], failed);
    std::abort();
  }
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::string Process::OutputSoFar() const { return ReadWholeFile(folder_.File("out")); }

std::string Process::ErrorsSoFar() const { return ReadWholeFile(folder_.File("err")); }

void Process::Signal(int signal) const { kill(pid_, signal); }

ProcessResult Process::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  ProcessResult result = ResultOf(status);
  result.out = ReadWholeFile(folder_.File("out"));
  result.err = ReadWholeFile(folder_.File("err"));
  return result;
}

ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& input) {
  return Process(arguments, input).Wait();
}

ProcessResult RunOnTerminal(const std::vector<std::string>& arguments, int columns, int rows) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers = Pointers(copies);
  int terminal = -1;
  const winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  std::string out;
  std::array<char, 4096> block{};
  // The read fails once the last writer has closed its side.
  for (ssize_t got = 0; (got = read(terminal, block.data(), block.size())) > 0;) {
    out.append(block.data(), static_cast<size_t>(got));
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  ProcessResult result = ResultOf(status);
  result.out = std::move(out);
  return result;
}

std::string WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hyper::test
