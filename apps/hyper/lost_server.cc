#include "apps/hyper/lost_server.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/hyper/command.h"
#include "apps/hyper/terminal.h"
#include "hyper/llama_engine.h"

namespace hyper::app {
namespace {

// The handler is a plain function, as llama.cpp's callback is.
std::atomic<const char*> g_command = "";

void OnLostServer(const Error& error) {
  const char* command = g_command.load();
  const bool study = std::string_view(command) == "eval";
  LeaveScreen();
  if (isatty(STDERR_FILENO) != 0) {
    std::fputs("\r\033[K", stderr);  // over a line of progress
  }
  Complain(command, {error.code, error.message +
                                     "; start it again, or leave it out of --rpc, and give the "
                                     "same command again" +
                                     (study ? ": the study continues after its last answer" : "")});
  // Not exit(): the thread that decodes still waits for the server.
  std::_Exit(kExitLost);
}

}  // namespace

void EndWhenServerIsLost(const char* command) {
  g_command = command;
  SetLostServerHandler(OnLostServer);
}

}  // namespace hyper::app
