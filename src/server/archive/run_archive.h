// Runs of the server in a run store (src/store): written by a thread of its own, so that a slow
// disk holds up no decoding, and read by any. That thread writes all runs that wait in one
// transaction, and does not wait for the disk: a request costs two rows, not two commits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hyper/result.h"
#include "src/report/json.h"
#include "src/server/api/client.h"
#include "src/server/archive/run_overview.h"
#include "src/store/store.h"

namespace hyper::server {

struct ArchiveOptions {
  std::string path;
  std::string engine;   // kind and settings, for the runs' identity
  std::string version;  // of this program
  int64_t most_runs = 10000;
  double most_age_s = 0;  // 0: of any age
  // Called on the archive's thread with the reason where a run cannot be written and the one before
  // could.
  std::function<void(const std::string&)> on_failure = nullptr;
};

// The setting of a stored run that names its client.
inline constexpr const char* kClientSetting = "client";
// And the one that names its model, where the server has several.
inline constexpr const char* kModelSetting = "served-model";

// A run that has begun or ended, as it is stored: its question's name is the run's id.
using ArchivedRun = NewItem;

class RunArchive {
 public:
  // Opens the file, or makes it, and drops what is too much of it. Errors: those of Store::Open.
  static Result<std::unique_ptr<RunArchive>> Open(ArchiveOptions options);
  // Returns once all runs are written.
  ~RunArchive();
  RunArchive(const RunArchive&) = delete;
  RunArchive& operator=(const RunArchive&) = delete;

  const ArchiveOptions& options() const { return options_; }
  // One more than the largest number N of the stored runs "run_N", at the time of Open. The command
  // line numbers its runs so; the server's ids are random.
  uint64_t next_number() const { return next_number_; }

  // Queues a run to be written, in place of what is stored of it. One that has ended waits where
  // many are queued. Any thread, as all below.
  //   then  called on the archive's thread once it is written, or could not be
  void Save(ArchivedRun run, std::function<void()> then = {});
  // Returns once the runs that were queued before are written.
  void Flush();
  // Runs that ended and could not be written, and why the last one could not.
  int64_t lost() const;
  std::string last_error() const;
  // The reason while runs cannot be written; empty where the last one could.
  std::string failing() const;

  // The newest items that `client` may see, newest first: runs of the server, and answers of
  // evaluations as "item_N".
  Result<std::vector<RunOverview>> Newest(int count, const Client& client = {}) const;
  // Nothing where there is no such run.
  Result<std::optional<RunOverview>> Find(const std::string& id) const;
  // Drops a run of the server, once those that were queued before are written; nothing where there
  // is none. Errors: kInvalidArgument, an answer of an evaluation.
  Status Delete(const std::string& id);
  // The records of a run (docs/json.md). Errors: kNotFound.
  Result<std::vector<Json>> Records(const std::string& id) const;
  // One object per evaluation in the file: {"row", "method", "suite", "accuracy", ...}.
  Result<Json> Studies() const;
  // The figures of the evaluations in the file, those that it cannot give too (eval::FigureJson).
  // Reads all their answers where something of them has changed since the last call. Errors: those
  // of the store; kNotFound, there are none.
  Result<Json> Figures() const;

 private:
  RunArchive(ArchiveOptions options, Store store, uint64_t next_number);
  void Loop();
  // Writes them all; where that fails, those that can be written.
  void Write(std::span<const ArchivedRun> runs);
  void Note(const Status& written, int64_t lost);

  Result<Json> MakeFigures(Store& store) const;

  const ArchiveOptions options_;
  const uint64_t next_number_;
  Store store_;  // of the thread

  mutable std::mutex figures_mutex_;            // guards both
  mutable std::optional<uint64_t> figures_of_;  // the fingerprint of what they were made of
  mutable Json figures_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<ArchivedRun> waiting_;
  std::vector<std::function<void()>> thens_;  // of these
  int64_t queued_ = 0;  // runs ever; the first `written_` of them are written, or could not be
  int64_t written_ = 0;
  bool ending_ = false;
  int64_t lost_ = 0;
  std::string last_error_;
  bool failing_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hyper::server
