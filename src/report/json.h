// Sessions as JSON: what `hyper run --json`, the trace, the C interface and the server print.
// The schema is written down in docs/json.md. Users of this header link hyper_vendor.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hyper/session.h"

namespace hyper {

// Objects keep the order in which their members were added.
using Json = nlohmann::ordered_json;

// All functions here are pure; a number that is not finite becomes null.

// {"generated": 812, "effective": 901, ...}: every count of the ledger, times left out, so that
// equal seeds give equal bytes.
Json LedgerJson(const Ledger& ledger);

// Seconds of the ledger: {"wall_s", "engine_s", "sampler_s", "statistics_s", "rest_s"}.
Json TimingJson(const Ledger& ledger);

// {"answer": "42" or null, "tie": false, "clipped": 0, "scores": [{"answer", "score", ...}]}.
Json VoteJson(const VoteOutcome& vote);

// One path: id, parent, status, answer, tokens, mean and lowest-window confidence, text.
Json PathJson(const Path& path);

// One record, its kind under "record": path, token, decision, refine, finish, warmup or notice.
Json RecordJson(const Record& record);
// The same with what the controller read: `readings` of a decision and `positions` of the warm-up,
// out of which statistics, X_max and scores can be computed again. Long; for traces. Pure.
Json TraceJson(const Record& record);

// Every option by its name, as ForEach gives them.
Json OptionsJson(const MethodOptions& options);

// What a report is made of, beyond the session itself.
struct ReportContext {
  std::string method;
  ModelInfo model;
  uint64_t seed = 0;
  std::span<const Record> records;  // all of the session's, or none
  bool timing = false;              // adds "timing", which no two runs have alike
};

// The one object of `hyper run --json`; `result` is the session's, whose votes cost a grouping.
Json ReportJson(const ReportContext& context, const Session& session, const SessionResult& result);

// The text of a value on one line, or indented by `indent` spaces where that is >= 0. Bytes that
// are not UTF-8 become U+FFFD. Never throws (memory exhaustion aside).
std::string DumpJson(const Json& value, int indent = -1);

}  // namespace hyper
