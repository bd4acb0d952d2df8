// What /metrics shows of schedulers.
#pragma once

#include <cstdint>

#include "hyper/engine.h"
#include "src/server/scheduler/run_meters.h"

namespace hyper::server {

struct SchedulerMetrics {
  int64_t parkings = 0;  // of pools whose cells went to others
  int64_t runs_started = 0;
  int64_t runs_finished = 0;
  int64_t runs_cancelled = 0;
  int64_t runs_refused = 0;
  int64_t runs_lost = 0;  // that could not be stored
  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;
  int waiting = 0;
  int running = 0;
  int cache_lanes = 0;      // lanes of cost.lanes_open that keep prompts
  int64_t cache_cells = 0;  // cells that they hold at most
  EngineCost cost;
  RunMeters meters;
};

// Adds what one scheduler counts to the sum of several; of peaks the highest. What is lost is
// counted by the archive, for all of them.
void Add(const SchedulerMetrics& one, SchedulerMetrics& all);

}  // namespace hyper::server
