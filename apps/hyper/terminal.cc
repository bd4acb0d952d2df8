#include "apps/hyper/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "apps/hyper/command.h"

namespace hyper::app {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kEndings[] = {SIGHUP, SIGQUIT, SIGABRT, SIGSEGV};

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t g_on_screen = 0;
volatile std::sig_atomic_t g_drawing = 0;       // a frame is half written
volatile std::sig_atomic_t g_stop_waiting = 0;  // a stop came meanwhile

void OnEnding(int signal) {
  LeaveScreen();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void SetStopHandler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTSTP, &action, nullptr);
}

// Ctrl-Z: gives the screen back, stops, and goes on here after `fg`; the next frame takes the
// screen again. In the middle of a frame it waits for the frame's end.
void OnStop(int signal) {
  const int before = errno;
  if (g_drawing != 0) {
    g_stop_waiting = 1;
    return;
  }
  LeaveScreen();
  SetStopHandler(SIG_DFL);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, signal);
  std::raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // stops here
  SetStopHandler(OnStop);
  errno = before;
}

// Where a shell without job control has the signal ignored, it stays so.
void TakeStops() {
  struct sigaction now {};
  if (sigaction(SIGTSTP, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
    SetStopHandler(OnStop);
  }
}

}  // namespace

bool IsScreen() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

Screen ScreenNow() {
  Screen screen;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.columns = size.ws_col;
    screen.rows = size.ws_row;
  }
  const char* no_colour = std::getenv("NO_COLOR");
  screen.colour = no_colour == nullptr || *no_colour == '\0';
  return screen;
}

void ShowFrame(const std::vector<std::string>& frame) {
  g_drawing = 1;
  std::string text;
  if (g_on_screen == 0) {
    text = kEnter;
    g_on_screen = 1;
    for (const int signal : kEndings) {
      std::signal(signal, OnEnding);
    }
    TakeStops();
  }
  text += "\x1b[H";
  for (size_t i = 0; i < frame.size(); ++i) {
    text += (i == 0 ? "" : "\r\n") + frame[i] + "\x1b[K";
  }
  Tell(text + "\x1b[J");
  g_drawing = 0;
  if (g_stop_waiting != 0) {
    g_stop_waiting = 0;
    std::raise(SIGTSTP);
  }
}

void LeaveScreen() {
  if (g_on_screen != 0) {
    g_on_screen = 0;
    // Where this fails there is no terminal left to restore.
    (void)!write(STDERR_FILENO, kLeave.data(), kLeave.size());
  }
}

}  // namespace hyper::app
