// Runs of the server in a run store (src/store): written by a thread of its own, so that a slow
// disk holds up no decoding, and read by any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hyper/result.h"
#include "src/report/json.h"
#include "src/server/archive/run_overview.h"
#include "src/store/store.h"

namespace hyper::server {

struct ArchiveOptions {
  std::string path;
  std::string engine;   // kind and settings, for the runs' identity
  std::string version;  // of this program
  int64_t most_runs = 10000;
  double most_age_s = 0;  // 0: of any age
};

// A run that has ended, as it is stored; its key is given by the archive.
struct ArchivedRun {
  StoredRun run;
  StoredQuestion question;  // its name is the run's id
  StoredItem item;
};

class RunArchive {
 public:
  // Opens the file, or makes it, and drops what is too much of it. Errors: those of Store::Open.
  static Result<std::unique_ptr<RunArchive>> Open(ArchiveOptions options);
  // Returns once all runs are written.
  ~RunArchive();
  RunArchive(const RunArchive&) = delete;
  RunArchive& operator=(const RunArchive&) = delete;

  const ArchiveOptions& options() const { return options_; }
  // One more than the largest number N of the stored runs "run_N", at the time of Open.
  uint64_t next_number() const { return next_number_; }

  // Queues a run to be written; waits where many are. Any thread, as all below.
  void Save(ArchivedRun run);
  // Returns once the runs that were queued before are written.
  void Flush();
  // Runs that could not be written, and why the last one could not.
  int64_t lost() const;
  std::string last_error() const;

  // The newest items, newest first: runs of the server, and answers of evaluations as "item_N".
  Result<std::vector<RunOverview>> Newest(int count) const;
  // Nothing where there is no such run.
  Result<std::optional<RunOverview>> Find(const std::string& id) const;
  // The records of a run (docs/json.md). Errors: kNotFound.
  Result<std::vector<Json>> Records(const std::string& id) const;
  // One object per evaluation in the file: {"row", "method", "suite", "accuracy", ...}.
  Result<Json> Studies() const;

 private:
  RunArchive(ArchiveOptions options, Store store, uint64_t next_number);
  void Loop();
  Status Write(const ArchivedRun& run);

  const ArchiveOptions options_;
  const uint64_t next_number_;
  Store store_;  // of the thread

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<ArchivedRun> waiting_;
  bool writing_ = false;
  bool ending_ = false;
  int64_t lost_ = 0;
  std::string last_error_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hyper::server
