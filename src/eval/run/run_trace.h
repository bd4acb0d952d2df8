// Traces that `hyper run --trace` wrote, as a pool: one file, or several one after the other.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// Reads records in their order. Runs of the same question are its repeats.
class RunTraceReader {
 public:
  // `method`: only runs of it count; empty: of the first run's.
  explicit RunTraceReader(std::string method) : method_(std::move(method)) {}

  // Whether an object is a record of a trace.
  static bool IsRecord(const nlohmann::json& object);

  // Takes one record. Errors: kDataLoss (no run before it, a token of no path, options that differ
  // from those of the first run).
  Status Take(const nlohmann::json& record);

  // The pool of all runs. Errors: kNotFound (no run of the method).
  Result<TracePool> Finish();

 private:
  // A path while its tokens arrive.
  struct Growing {
    StoredPath path;
    std::vector<std::string> pieces;
    std::vector<int32_t> tokens;
    std::map<std::string, std::vector<float>> series;
  };

  Status StartRun(const nlohmann::json& record);
  Status AddPath(const nlohmann::json& record);
  Status AddToken(const nlohmann::json& record);
  Status EndPath(const nlohmann::json& record);
  void EndRun();

  std::string method_;
  TracePool pool_;
  bool started_ = false;                // a run record has been seen
  bool wanted_ = false;                 // the present run counts
  PoolEntry entry_;                     // of the present run
  std::map<PathId, Growing> growing_;   // paths of the present run, in their order
  std::map<std::string, int> repeats_;  // runs so far by question
};

}  // namespace hyper::eval
