// Time, as code that waits for the network asks for it: the real one, or one that a test moves.
#pragma once

#include <mutex>

namespace hyper::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since a fixed moment; never less than before.
  virtual double Now() = 0;
  // Waits until the file descriptor can be read or `seconds` have passed, whichever is first.
  //   descriptor  -1: none, only time passes    seconds  taken as 0 where negative
  // False: waiting failed. May return early after a signal.
  virtual bool Wait(int descriptor, double seconds) = 0;
};

// The computer's steady clock. Thread rule: any thread.
Clock& SteadyClock();

// A clock for tests, which moves only while somebody waits: a wait takes a few milliseconds of real
// time at most, and where nothing came in them, all of its seconds have passed. Thread rule: any
// thread.
class ScriptedClock : public Clock {
 public:
  double Now() override;
  bool Wait(int descriptor, double seconds) override;
  // `seconds` pass.
  void Advance(double seconds);

 private:
  std::mutex mutex_;
  double now_s_ = 0;
};

}  // namespace hyper::base
