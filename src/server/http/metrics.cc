#include "src/server/http/metrics.h"

#include <fmt/format.h>

namespace hyper::server {
namespace {

template <class T>
std::string Line(const char* name, const char* type, const char* help, T value) {
  return fmt::format("# HELP hyper_{0} {1}\n# TYPE hyper_{0} {2}\nhyper_{0} {3}\n", name, help,
                     type, value);
}

}  // namespace

std::string MetricsText(const SchedulerMetrics& metrics) {
  const EngineCost& cost = metrics.cost;
  std::string text;
  text += Line("runs_total", "counter", "Runs taken.", metrics.runs_started);
  text += Line("runs_finished_total", "counter", "Runs that ended.", metrics.runs_finished);
  text +=
      Line("runs_cancelled_total", "counter", "Runs whose client left.", metrics.runs_cancelled);
  text += Line("runs_refused_total", "counter", "Requests answered 429.", metrics.runs_refused);
  text += Line("runs_lost_total", "counter", "Runs that could not be stored.", metrics.runs_lost);
  text += Line("runs_waiting", "gauge", "Runs that wait for lanes or cells.", metrics.waiting);
  text += Line("parkings_total", "counter", "Pools that were parked for lack of cells.",
               metrics.parkings);
  text += Line("runs_running", "gauge", "Runs that decode.", metrics.running);
  text +=
      Line("prompt_tokens_total", "counter", "Prompt tokens of ended runs.", metrics.prompt_tokens);
  text += Line("generated_tokens_total", "counter", "Tokens that all paths of ended runs took.",
               metrics.generated_tokens);
  text += Line("forwards_total", "counter", "Calls of the model.", cost.forwards);
  text += Line("decode_rows_total", "counter", "Rows of decoding forwards.", cost.decode_rows);
  text += Line("prefill_tokens_total", "counter", "Prompt tokens computed.", cost.prefill_tokens);
  text += Line("forward_seconds_total", "counter", "Seconds inside the model.", cost.forward_s);
  text += Line("sampler_seconds_total", "counter", "Seconds in the sampler.", cost.sampler_s);
  text += Line("lanes_open", "gauge", "Lanes in use.", cost.lanes_open);
  text += Line("prompt_cache_lanes", "gauge", "Of these, lanes that keep prompts of ended runs.",
               metrics.cache_lanes);
  text +=
      Line("prompt_cache_cells", "gauge", "KV cells that they hold at most.", metrics.cache_cells);
  text += Line("kv_cells_used", "gauge", "KV cells in use.", cost.cells_used);
  text += Line("kv_cells_peak", "gauge", "KV cells in use at most.", cost.cells_peak);
  return text;
}

}  // namespace hyper::server
