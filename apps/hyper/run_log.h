// The log of runs: a run store in the user's data folder, which `hyper log` lists and `hyper again`
// repeats.
#pragma once

#include <string>
#include <vector>

#include "apps/hyper/commands/asker.h"
#include "hyper/result.h"

namespace hyper::app {

// A run of the log.
struct LoggedRun {
  std::string id;  // "run_12"
  std::string question;
  std::string answer;  // empty: none
  std::string method;
  std::string status;
  int64_t stored_at = 0;  // Unix time
  int64_t tokens = 0;
  int paths = 0;
};

// DataFolder()/runs.db; empty where that is.
std::string LogFile();

// Stores a run that has ended, unless the flags say not to; the folder is made where it is missing,
// readable by the user alone. The newest 1,000 runs are kept, their texts and decisions, no series
// of tokens. A log that cannot be written is a warning.
void KeepInLog(const RunFlags& flags, const Asked& asked);

// The newest runs, newest first. Errors: kNotFound where there is no log, those of the store.
Result<std::vector<LoggedRun>> NewestRuns(int count);

// The run of that id, the newest one where it is empty. Errors: kNotFound; those of the store.
Result<LoggedRun> FindLogged(const std::string& id);

// The arguments that `hyper run` got for a run, its seed among them, the question last; `id` empty:
// the newest run's. Errors: kNotFound, those of the store.
Result<std::vector<std::string>> LoggedArguments(const std::string& id);

}  // namespace hyper::app
