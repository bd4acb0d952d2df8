#include "src/server/http/metrics.h"

#include <fmt/format.h>

namespace hyper::server {
namespace {

template <class T>
std::string Line(const char* name, const char* type, const char* help, T value) {
  return fmt::format("# HELP hyper_{0} {1}\n# TYPE hyper_{0} {2}\nhyper_{0} {3}\n", name, help,
                     type, value);
}

std::string Head(const char* name, const char* type, const char* help) {
  return fmt::format("# HELP hyper_{0} {1}\n# TYPE hyper_{0} {2}\n", name, help, type);
}

// Only names of methods, statuses and routes stand in labels: nothing that needs escaping.
template <class Names, class Counts>
std::string Labelled(const char* name, const char* label, const char* help, const Names& names,
                     const Counts& counts) {
  std::string text = Head(name, "counter", help);
  for (size_t i = 0; i < counts.size(); ++i) {
    text += fmt::format("hyper_{}{{{}=\"{}\"}} {}\n", name, label, names[i], counts[i]);
  }
  return text;
}

template <class AnyHistogram>
std::string Buckets(const char* name, const char* help, const AnyHistogram& values) {
  std::string text = Head(name, "histogram", help);
  int64_t count = 0;
  for (size_t i = 0; i < values.counts().size(); ++i) {
    count += values.counts()[i];
    const bool last = i == values.bounds().size();
    const std::string bound = last ? "+Inf" : fmt::format("{}", values.bounds()[i]);
    text += fmt::format("hyper_{}_bucket{{le=\"{}\"}} {}\n", name, bound, count);
  }
  return text + fmt::format("hyper_{0}_sum {1}\nhyper_{0}_count {2}\n", name, values.sum(), count);
}

std::string RunsText(const RunMeters& meters) {
  std::string text = Head("runs_ended_total", "counter", "Runs that ended, by method and status.");
  for (const auto& [kind, count] : meters.runs) {
    text += fmt::format("hyper_runs_ended_total{{method=\"{}\",status=\"{}\"}} {}\n", kind.first,
                        kind.second, count);
  }
  text += Labelled("decisions_total", "action", "Decisions by what they did.", kNamesOf<Action>,
                   meters.actions);
  text += Labelled("paths_ended_total", "end", "Paths by how they ended.", kNamesOf<PathStatus>,
                   meters.paths);
  text += Line("saved_tokens_total", "counter", "Tokens saved where a vote was decided, estimated.",
               meters.saved_tokens);
  text += Buckets("queue_seconds", "From a request to the start of its run.", meters.queue);
  text += Buckets("first_token_seconds", "From a request to the first token of any path.",
                  meters.first_token);
  text += Buckets("between_tokens_seconds", "Between two steps that brought tokens to a run.",
                  meters.between_tokens);
  text += Buckets("request_seconds", "From a request to the end of its run.", meters.end_to_end);
  text += Buckets("vote_margin", "Share of the winning answer less that of the second.",
                  meters.vote_margin);
  return text;
}

std::string RequestsText(const RequestCounts& requests) {
  std::string text =
      Head("http_requests_total", "counter", "Requests answered, by method, path and code.");
  for (const auto& [key, count] : requests.counts()) {
    const auto& [method, path, code] = key;
    text += fmt::format("hyper_http_requests_total{{method=\"{}\",path=\"{}\",code=\"{}\"}} {}\n",
                        method, path, code, count);
  }
  return text;
}

// Names of models are those of sections of a file, which hold nothing that needs escaping.
std::string ModelsText(const std::vector<ModelStatus>& models) {
  std::string text;
  const auto add = [&](const char* name, const char* type, const char* help, auto value) {
    text += Head(name, type, help);
    for (const ModelStatus& model : models) {
      text += fmt::format("hyper_{}{{model=\"{}\"}} {}\n", name, model.name, value(model));
    }
  };
  add("model_loaded", "gauge", "Whether a model is loaded.",
      [](const ModelStatus& model) { return model.loaded ? 1 : 0; });
  add("model_loads_total", "counter", "Times that a model was loaded.",
      [](const ModelStatus& model) { return model.loads; });
  add("model_load_failures_total", "counter", "Times that a model could not be loaded.",
      [](const ModelStatus& model) { return model.failures; });
  add("model_runs_total", "counter", "Runs that a model took.",
      [](const ModelStatus& model) { return model.runs; });
  add("model_runs_live", "gauge", "Runs of a model that wait or decode.",
      [](const ModelStatus& model) { return model.live; });
  add("model_generated_tokens_total", "counter", "Tokens of a model's ended runs.",
      [](const ModelStatus& model) { return model.generated_tokens; });
  return text;
}

}  // namespace

std::string MetricsText(const SchedulerMetrics& metrics, const RequestCounts& requests,
                        const std::vector<ModelStatus>& models) {
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
  text += RunsText(metrics.meters);
  text += RequestsText(requests);
  text += models.empty() ? "" : ModelsText(models);
  return text;
}

}  // namespace hyper::server
