// The book of runs: their ids, overviews and logs, what is kept of those that have ended, and what
// clients have used of their tokens. Schedulers write it; it outlives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/server/api/api_error.h"
#include "src/server/api/served_run.h"
#include "src/server/archive/run_archive.h"
#include "src/server/archive/run_overview.h"
#include "src/server/scheduler/live_run.h"
#include "src/server/scheduler/run_log.h"
#include "src/server/scheduler/token_accounts.h"

namespace hyper::server {

struct BookOptions {
  int most_kept = 100;                        // finished runs that are kept for /v1/runs
  size_t log_bytes = size_t{32} << 20U;       // of one run's log
  size_t all_log_bytes = size_t{512} << 20U;  // of all; the oldest runs that have ended go first
  RunArchive* archive = nullptr;              // takes the runs that have ended; outlives the book
};

// Thread rule: any.
class RunBook {
 public:
  explicit RunBook(BookOptions options) : options_(options) {}

  struct Entered {
    std::string id;
    std::shared_ptr<RunLog> log;
  };
  struct Entries {
    std::vector<Entered> runs;
    int wait_s = 0;  // more than 0: none is entered, the client has no tokens left for so long
  };
  // Enters runs of one client, all or none; they wait from then on.
  Entries Enter(const std::vector<ServedRun>& requests, double now_s);
  // Seconds until the client has a token to spend; 0: it has one.
  int WaitSeconds(const Client& client, double now_s);
  // Where a run is that has started.
  void Note(const LiveRun& run);
  // A run has ended, after Finalize or Refuse.
  void End(const LiveRun& run, const char* status, double now_s);
  // The oldest runs that have ended make room.
  void DropOldest();
  // Keeps a run that has ended no longer. Errors: 409 where it has not, 404.
  std::optional<ApiError> Forget(const std::string& id);

  std::vector<RunOverview> Runs() const;  // newest first; those in memory
  // Where older ones are, or null.
  RunArchive* archive() const { return options_.archive; }
  std::optional<RunOverview> Find(const std::string& id) const;
  std::shared_ptr<const RunLog> Log(const std::string& id) const;  // null: no such run
  // Returns once what the archive was given before is written, or could not be.
  void AwaitStored() const;

 private:
  struct Kept {
    RunOverview summary;
    std::shared_ptr<RunLog> log;
    int64_t pledged = 0;  // tokens of its client
  };

  // Under the mutex. Null: there is no such run.
  const Kept* FindKept(const std::string& id) const;
  Kept* FindKept(const std::string& id);

  const BookOptions options_;
  mutable std::mutex mutex_;  // guards all below
  std::deque<Kept> kept_;     // oldest first
  TokenAccounts accounts_;
};

// What is said to a client that has no token left for so long. Pure.
ApiError MinuteUsedUp(const Client& client, int wait_s);
// What is said of a run that is not there. Pure.
ApiError NoSuchRun(const std::string& id);

}  // namespace hyper::server
