#include "apps/hyper/commands/eval_rows.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "apps/hyper/command.h"

namespace hyper::app {

std::string EngineText(const EngineFlags& flags) {
  LlamaOptions own = flags.llama;
  LlamaOptions defaults;
  const std::vector<Option> now = OptionsOf(own);
  const std::vector<Option> usual = OptionsOf(defaults);
  std::string text = fmt::format("{} kv={}", flags.engine, NameOf(own.kv_type));
  if (flags.engine != "llama") {
    return text;
  }
  for (const std::string_view name : {"gpu-layers", "tensor-split", "main-gpu", "rpc"}) {
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i].info().name == name && now[i].Text() != usual[i].Text()) {
        text += fmt::format(" {}={}", name, now[i].Text());
      }
    }
  }
  return text;
}

Result<std::vector<std::string>> SharedRows(const std::vector<eval::StudyRow>& rows,
                                            const std::vector<int64_t>& runs, Store& store) {
  const Result<std::vector<StoredRun>> all = store.Runs();
  if (!all) {
    return all.error();
  }
  std::map<int64_t, std::string> labels;
  for (const StoredRun& run : *all) {
    labels[run.id] = run.label;
  }
  std::vector<std::string> shared;
  for (size_t i = 0; i < rows.size() && i < runs.size(); ++i) {
    const std::string& label = labels[runs[i]];
    if (label == rows[i].label) {
      continue;
    }
    shared.push_back(fmt::format("row '{}' is the same as row '{}' and is shown under that name",
                                 rows[i].label, label));
  }
  return shared;
}

Status WarnOfSharedRows(const char* command, const std::vector<eval::StudyRow>& rows,
                        const std::vector<int64_t>& runs, Store& store) {
  const Result<std::vector<std::string>> shared = SharedRows(rows, runs, store);
  if (!shared) {
    return shared.error();
  }
  for (const std::string& line : *shared) {
    Warn(command, OneLine(line));
  }
  return {};
}

}  // namespace hyper::app
