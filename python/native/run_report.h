// The JSON of a run as Python gets it.
#pragma once

#include <span>
#include <string>

#include "hyper/engine.h"
#include "hyper/session.h"
#include "src/report/json.h"

namespace hyper::python {

// What a report says beside the session.
struct RunFacts {
  std::string method;
  std::string preset;
  uint64_t seed = 0;
  bool timing = false;
  ModelInfo model;
};

// The object of docs/json.md with `question`, `prompt`, `preset`, `warmup` and `warnings` of `hyper
// run`, then `winner` (the number of the path that speaks for the answer, or null) and `text` (what
// it says outside its reasoning, or all of it where that is nothing).
Json RunReport(const RunFacts& facts, const Session& session, std::span<const Record> records);

}  // namespace hyper::python
