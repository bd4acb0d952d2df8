// Methods over a pool of stored traces: drawn again and again, voted on, filtered, stopped early,
// nothing generated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/eval/run/study_plan.h"
#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

struct PoolStudyPlan {
  std::vector<StudyRow> rows;  // reservations are not used
  int resamples = 1;           // draws of each row's paths, without replacement
  uint64_t seed = 1;
  std::string source;  // of the pool, for records
  std::string program_version = {};
  std::map<std::string, std::string> settings = {};  // of the runs, beside those of their rows
  // The rows are the pool itself: what it knows of its paths' tokens is stored with them.
  bool is_pool = false;
  std::function<void()> row_done = {};  // called after each row
};

// Fewest traces that a question of the pool has. Pure.
int FewestTraces(const TracePool& pool);

// Tokens of the longest trace. Pure.
int LongestTrace(const TracePool& pool);

// Runs every row over every entry of the pool and stores the results, graded. Draw r of an entry is
// the same for all rows, as far as they take equally many traces; draw 0 of one resample alone
// takes the traces in their order. What the pool holds is part of the runs' identity. Returns the
// runs in the store, by row; rows that are equal but for their labels are one run.
// Errors: kInvalidArgument naming the row: a method that does not vote on independent paths, more
// traces wanted than there are, a confidence or score that the pool has not stored.
Result<std::vector<int64_t>> RunPoolStudy(const TracePool& pool, const PoolStudyPlan& plan,
                                          Store& store);

}  // namespace hyper::eval
