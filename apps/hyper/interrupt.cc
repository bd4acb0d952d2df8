#include "apps/hyper/interrupt.h"

#include <csignal>

#include "apps/hyper/terminal.h"

namespace hyper::app {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t g_interrupted = 0;

void OnSecondSignal(int signal) {
  LeaveScreen();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void OnSignal(int signal) {
  g_interrupted = 1;
  std::signal(signal, OnSecondSignal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

}  // namespace hyper::app
