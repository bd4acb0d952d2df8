#include "src/server/scheduler/scheduler_metrics.h"

#include <algorithm>

namespace hyper::server {
namespace {

void AddCost(const EngineCost& one, EngineCost& all) {
  all.cells_used += one.cells_used;
  all.cells_peak = std::max(all.cells_peak, one.cells_peak);
  all.bytes_per_cell = std::max(all.bytes_per_cell, one.bytes_per_cell);
  all.lanes_open += one.lanes_open;
  all.lanes_peak = std::max(all.lanes_peak, one.lanes_peak);
  all.forwards += one.forwards;
  all.decode_rows += one.decode_rows;
  all.route_rows += one.route_rows;
  all.padding_rows += one.padding_rows;
  all.prefill_tokens += one.prefill_tokens;
  all.recomputed_tokens += one.recomputed_tokens;
  all.moved_tokens += one.moved_tokens;
  all.unused_tokens += one.unused_tokens;
  all.forward_s += one.forward_s;
  all.sampler_s += one.sampler_s;
  all.penalty_rewards += one.penalty_rewards;
  all.penalty_sums += one.penalty_sums;
}

}  // namespace

void Add(const SchedulerMetrics& one, SchedulerMetrics& all) {
  all.parkings += one.parkings;
  all.runs_started += one.runs_started;
  all.runs_finished += one.runs_finished;
  all.runs_cancelled += one.runs_cancelled;
  all.runs_refused += one.runs_refused;
  all.runs_lost = std::max(all.runs_lost, one.runs_lost);
  all.prompt_tokens += one.prompt_tokens;
  all.generated_tokens += one.generated_tokens;
  all.waiting += one.waiting;
  all.running += one.running;
  all.cache_lanes += one.cache_lanes;
  all.cache_cells += one.cache_cells;
  AddCost(one.cost, all.cost);
  all.meters.Add(one.meters);
}

}  // namespace hyper::server
