// A run of the server as the store keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/eval/run/session_record.h"
#include "src/server/archive/stored_records.h"
#include "src/server/scheduler/live_run.h"

namespace hyper::server {

ArchivedRun LiveRun::Begun() const {
  const Pool& pool = session_->pool();
  ArchivedRun archived;
  archived.run.method = request_.method;
  archived.run.model = engine_->model().name;
  archived.run.model_hash = engine_->model().hash;
  archived.run.seed = request_.seed;
  MethodOptions options = pool.options();
  for (const Option& option : OptionsOf(options)) {
    archived.run.settings[option.info().name] = option.Text();
  }
  if (plain()) {
    archived.run.settings["choices"] = std::to_string(request_.choices);
  }
  if (!request_.client.name.empty()) {
    archived.run.settings[kClientSetting] = request_.client.name;
  }
  if (!request_.model.empty()) {
    archived.run.settings[kModelSetting] = request_.model;
  }
  archived.question.name = id_;
  archived.question.prompt = pool.prompt().text;
  archived.question.text =
      pool.prompt().question.empty() ? pool.prompt().text : pool.prompt().question;
  archived.question.kind = NameOf(request_.extract.kind);
  archived.item.status = ItemStatus::kFailed;
  archived.item.reason = kInterrupted;
  return archived;
}

ArchivedRun LiveRun::ToArchive() const {
  const Pool& pool = session_->pool();
  ArchivedRun archived = Begun();
  archived.item = eval::RecordSession(*session_, records_, {});
  archived.item.series.push_back({kNoPath, kPromptTokens, 0, pool.prompt().tokens});
  for (const Path& path : pool.paths()) {
    std::vector<uint8_t> bytes;
    for (size_t i = static_cast<size_t>(path.fork_position); i < path.tokens.size(); ++i) {
      const Token token = path.tokens[i];
      const size_t size = engine_->IsEndOfGeneration(token) ? 0 : engine_->TokenText(token).size();
      bytes.push_back(static_cast<uint8_t>(std::min<size_t>(size, UINT8_MAX)));
    }
    archived.item.series.push_back({path.id, kTokenBytes, path.fork_position, std::move(bytes)});
  }
  return archived;
}

}  // namespace hyper::server
