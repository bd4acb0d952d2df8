// What the program does when a server of --rpc goes away in the middle of the work.
#pragma once

namespace hyper::app {

inline constexpr int kExitLost = 75;  // EX_TEMPFAIL: the same command may be given again

// From now on a server that is lost ends the program with one line, in the name of `command` (a
// literal), and exit code kExitLost. What was stored and written before stays; nothing else can be
// saved, because llama.cpp ends the process.
void EndWhenServerIsLost(const char* command);

}  // namespace hyper::app
