// A change of a live run that a client asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyper/session.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

struct RunCommand {
  static constexpr int kMostPaths = 256;  // new ones of one command
  enum class Kind {
    kCancel,  // the run ends; the vote so far is its reply
    kFork,    // `count` new paths that continue `path` at token `at` behind `text`
    kPrune,   // `path` ends and does not vote
    kFinish,  // `path` ends and votes; with `text` it writes that and goes on to its own end
    kGrant,   // `path` may take `tokens` more in this round
    kWiden,   // `count` new paths on the prompt
    kLimits,  // of the run, from now on
  };
  Kind kind = Kind::kCancel;
  int path = 0;
  int tokens = 0;
  int count = 1;
  std::optional<int> at;  // nothing: the path's end
  std::string text;
  std::optional<double> temperature;
  std::optional<uint64_t> seed;
  SessionLimits limits;
  bool has_budget = false;  // which of them change
  bool has_time = false;
};

// What came of it.
struct Steered {
  std::vector<int> paths;  // that are new
  std::optional<ApiError> error;
};

}  // namespace hyper::server
