#include "apps/hyper/eval_rows.h"

#include <fmt/format.h>

#include <map>

#include "apps/hyper/command.h"
#include "apps/hyper/session_setup.h"

namespace hyper::app {

Result<MethodOptions> ResolveRow(const OptionFlags& flags, const std::string& preset,
                                 const RowRequest& row) {
  Result<MethodOptions> options = ResolveOptions(flags, preset, row.method);
  if (!options) return options;
  if (row.method == "cot") {
    options->width = 1;
    options->includes_warmup = false;  // there is none, and it takes a greater width
  }
  OptionFlags special;
  for (const auto& [name, value] : row.options) special.SetDefault(name, value);
  if (Status status = special.Apply(*options); !status) return status.error();
  return options;
}

std::string EngineText(const EngineFlags& flags) {
  std::string text = fmt::format("{} kv={}", flags.engine, flags.kv_type);
  if (flags.engine != "llama") return text;
  if (flags.gpu_layers != "0") text += " gpu-layers=" + flags.gpu_layers;
  if (!flags.tensor_split.empty()) text += " tensor-split=" + flags.tensor_split;
  if (flags.main_gpu != "0") text += " main-gpu=" + flags.main_gpu;
  if (!flags.rpc.empty()) text += " rpc=" + flags.rpc;
  return text;
}

Result<std::vector<std::string>> SharedRows(const std::vector<eval::MethodRow>& rows,
                                            const std::vector<int64_t>& runs, Store& store) {
  const Result<std::vector<StoredRun>> all = store.Runs();
  if (!all) return all.error();
  std::map<int64_t, std::string> labels;
  for (const StoredRun& run : *all) labels[run.id] = run.label;
  std::vector<std::string> shared;
  for (size_t i = 0; i < rows.size() && i < runs.size(); ++i) {
    const std::string& label = labels[runs[i]];
    if (label == rows[i].label) continue;
    shared.push_back(fmt::format("row '{}' is the same as row '{}' and stands under that name",
                                 rows[i].label, label));
  }
  return shared;
}

Status WarnOfSharedRows(const std::vector<eval::MethodRow>& rows, const std::vector<int64_t>& runs,
                        Store& store) {
  const Result<std::vector<std::string>> shared = SharedRows(rows, runs, store);
  if (!shared) return shared.error();
  for (const std::string& line : *shared) Warn(kEvalCommand, OneLine(line));
  return {};
}

}  // namespace hyper::app
