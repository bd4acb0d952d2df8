// Time, as code that waits for the network asks for it: the real one, or one that a test moves.
#pragma once

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

}  // namespace hyper::base
