// What a pool of stored traces holds, as one word: results of another pool are never taken for its.
#pragma once

#include <string>

#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// "sha256:" and a hash over questions, paths, series and token texts; golds aside, which may be
// corrected. Pure.
std::string PoolHash(const TracePool& pool);

}  // namespace hyper::eval
