#include "apps/hyper/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/input/secret.h"
#include "hyper/extract.h"
#include "src/eval/run/session_record.h"
#include "src/report/json.h"
#include "src/server/archive/run_archive.h"
#include "src/store/store.h"

namespace hyper::app {
namespace {

constexpr int64_t kMostRuns = 1000;
constexpr const char* kArguments = "arguments";  // setting that holds them

Result<std::unique_ptr<server::RunArchive>> OpenLog(const std::string& engine) {
  namespace fs = std::filesystem;
  const fs::path file = LogFile();
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (!error) {
    fs::permissions(file.parent_path(), fs::perms::owner_all, error);
  }
  return server::RunArchive::Open({file.string(), engine, HYPER_VERSION, kMostRuns});
}

server::ArchivedRun ToArchive(const Asked& asked, uint64_t number,
                              const std::vector<std::string>& arguments) {
  server::ArchivedRun archived;
  archived.run.method = asked.setup.method;
  archived.run.model = asked.setup.model.name;
  archived.run.model_hash = asked.setup.model.hash;
  archived.run.seed = asked.setup.seed;
  archived.run.settings[kArguments] = DumpJson(Json(arguments));
  archived.question.name = "run_" + std::to_string(number);
  archived.question.prompt = asked.setup.prompt;
  archived.question.text = asked.setup.question;
  archived.item = eval::RecordSession(*asked.session, asked.records, {});
  archived.item.series.clear();
  return archived;
}

}  // namespace

std::string LogFile() {
  const std::string folder = DataFolder();
  return folder.empty() ? "" : folder + "/runs.db";
}

void KeepInLog(const RunFlags& flags, const Asked& asked) {
  if (!flags.log || LogFile().empty()) {
    return;
  }
  std::vector<std::string> arguments = flags.arguments;
  arguments.push_back("--seed=" + std::to_string(asked.setup.seed));
  if (asked.setup.preset == "auto") {
    const std::string& profile = flags.engine.calibrated.path;
    arguments.push_back("--profile=" +
                        (profile.empty() ? "none" : std::filesystem::absolute(profile).string()));
  }
  if (asked.setup.tokens_per_s > 0) {
    arguments.push_back(fmt::format("--pace={}", asked.setup.tokens_per_s));
  }
  Result<std::unique_ptr<server::RunArchive>> log = OpenLog(asked.setup.engine);
  std::string reason = log ? "" : log.error().message;
  if (log) {
    (*log)->Save(ToArchive(asked, (*log)->next_number(), arguments));
    (*log)->Flush();
    reason = (*log)->last_error();
  }
  if (!reason.empty()) {
    Warn(kRunCommand,
         fmt::format("the run could not be logged: {}; --no-log turns the log off", reason));
  }
}

Result<std::vector<LoggedRun>> NewestRuns(int count) {
  Result<Store> store = Store::Open(LogFile(), DatabaseMode::kReadOnly);
  if (!store) {
    return store.error().code == ErrorCode::kNotFound
               ? Error{ErrorCode::kNotFound, "no run is in the log yet; 'hyper run' adds the first"}
               : store.error();
  }
  const Result<std::vector<ListedItem>> items = store->Newest(count);
  if (!items) {
    return items.error();
  }
  std::vector<LoggedRun> runs;
  for (const ListedItem& item : *items) {
    runs.push_back({item.name, item.text, item.answer.value_or(""), item.method,
                    NameOf(item.status), item.stored_at, item.generated, item.paths});
  }
  return runs;
}

Result<LoggedRun> FindLogged(const std::string& id) {
  Result<std::vector<LoggedRun>> newest = NewestRuns(static_cast<int>(kMostRuns));
  if (!newest) {
    return newest.error();
  }
  const auto logged = std::find_if(newest->begin(), newest->end(), [&id](const LoggedRun& run) {
    return id.empty() || run.id == id;
  });
  if (logged == newest->end()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("run '{}' is not in the log; 'hyper log' lists what is", id)};
  }
  return std::move(*logged);
}

Result<std::vector<std::string>> LoggedArguments(const std::string& id) {
  const Result<LoggedRun> logged = FindLogged(id);
  if (!logged) {
    return logged.error();
  }
  Result<Store> store = Store::Open(LogFile(), DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::optional<ListedItem>> item = store->FindItem(kRunsSuite, logged->id);
  const Result<std::vector<StoredRun>> runs = store->Runs();
  if (!item || !runs) {
    return item ? runs.error() : item.error();
  }
  for (const StoredRun& run : *runs) {
    const auto text = run.settings.find(kArguments);
    if (*item && run.id == (*item)->key.run && text != run.settings.end()) {
      const Json json = Json::parse(text->second, nullptr, /*allow_exceptions=*/false);
      std::vector<std::string> arguments;
      for (const Json& argument : json) {
        arguments.push_back(argument.is_string() ? argument.get<std::string>() : "");
      }
      arguments.insert(arguments.end(), {"--", logged->question});
      return arguments;
    }
  }
  return Error{
      ErrorCode::kDataLoss,
      fmt::format("run '{}' was stored without its arguments; ask the question again", logged->id)};
}

}  // namespace hyper::app
