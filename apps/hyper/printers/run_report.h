// All that a run ends with, for the printers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/options.h"
#include "hyper/records.h"
#include "hyper/remote_engine.h"
#include "hyper/session.h"

namespace hyper::app {

// What is settled before the first token.
struct RunSetup {
  std::string question;
  std::string prompt;  // as rendered
  std::string method;
  std::string preset;
  double tokens_per_s = 0;              // that preset "auto" went by; 0: none
  OptionValues profile;                 // options that a profile gave to preset "auto"
  std::string engine;                   // "llama", "scripted" or URLs
  std::optional<RemoteOptions> remote;  // with URLs: the limits that were set, nothing else
  std::string determinism;
  uint64_t seed = 0;
  bool seed_drawn = false;
  ModelInfo model;
  MethodOptions options;
};

struct RunReport {
  const RunSetup& setup;
  const Session& session;
  const std::vector<Record>& records;  // all but the token records
  const std::vector<std::string>& warnings;
  double load_s = 0;    // until the first token could be decoded
  double decode_s = 0;  // from then on
};

}  // namespace hyper::app
