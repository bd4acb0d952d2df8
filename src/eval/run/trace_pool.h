// Pools of traces that were stored before: a study of ours, its export as JSON lines, traces of
// single runs, the results of DeepConf's own program written as JSON, or the pools that
// Parallel-Probe publishes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/store.h"

namespace hyper::eval {

// The traces of one question, once answered.
struct PoolEntry {
  StoredQuestion question;
  StoredItem item;  // paths and per-token series
};

struct TracePool {
  StoredRun made_by;  // what made the traces, as far as it is known
  std::vector<PoolEntry> entries;
  std::map<Token, std::string> pieces = {};  // bytes of the tokens, as far as they are known
};

// The pool in a study: the answers of the row `row` (empty: of the first row whose method leaves
// independent complete paths behind). Errors: those of the store, kNotFound (no such row).
Result<TracePool> PoolOfStudy(Store& store, const std::string& row);

// The pool in a text. Each JSON object (a line, or an entry of an array) is a record of a trace of
// `hyper run`, or an answer as `hyper export --jsonl --series` prints it, or a question as
// DeepConf's program stores it, with `question`, `ground_truth` and `traces` (or `warmup_traces`
// and `final_traces`, or `all_traces`), each trace with `text`, `confs` (per token) and
// `stop_reason`, or a question as Parallel-Probe publishes it (src/eval/run/probed_pool.h).
// DeepConf pickles its results: write them out as JSON first (docs/evaluation.md).
//   row  as above; DeepConf's results are all one row, a trace's row is its method
// Errors: kDataLoss with the line and what is missing, kNotFound (no such row). Pure.
Result<TracePool> ParsePool(std::string_view text, const std::string& source,
                            const std::string& row);

}  // namespace hyper::eval
