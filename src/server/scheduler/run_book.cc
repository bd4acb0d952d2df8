#include "src/server/scheduler/run_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>

#include "src/base/utf8.h"

namespace hyper::server {
namespace {

int64_t UnixTime() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
      .count();
}

// So long that none is given twice, nor guessed.
std::string NewRunId() {
  std::random_device device;
  return fmt::format("run_{:08x}{:08x}{:08x}", device(), device(), device());
}

std::string QuestionOf(const ServedRun& request) {
  constexpr size_t kShown = 300;
  std::string text = request.fork               ? request.fork->question
                     : request.messages.empty() ? request.prompt_text
                                                : request.messages.back().content;
  text.resize(std::min(text.size(), kShown));
  return text.substr(0, text.size() - base::IncompleteTail(text));
}

RunOverview OverviewOf(const ServedRun& request) {
  RunOverview summary;
  summary.client = request.client.name;
  summary.model = request.model;
  summary.method = request.method;
  summary.status = "waiting";
  summary.question = QuestionOf(request);
  summary.created_s = UnixTime();
  summary.width = WidthOf(request);
  summary.seed = request.seed;
  return summary;
}

bool IsLive(const RunOverview& run) { return run.status == "waiting" || run.status == "running"; }

}  // namespace

ApiError MinuteUsedUp(const Client& client, int wait_s) {
  return {429,
          "rate_limit_error",
          "tokens_per_minute",
          "",
          fmt::format("key '{}' has used its {} tokens a minute; try again in {} s", client.name,
                      client.tokens_per_minute, wait_s),
          wait_s};
}

ApiError NoSuchRun(const std::string& id) {
  return {404, "not_found_error", "run_not_found", "",
          fmt::format("run '{}' is not live; GET /v1/runs lists the runs", id)};
}

int RunBook::WaitSeconds(const Client& client, double now_s) {
  const std::lock_guard lock(mutex_);
  return accounts_.WaitSeconds(client, now_s);
}

RunBook::Entries RunBook::Enter(const std::vector<ServedRun>& requests, double now_s) {
  const std::lock_guard lock(mutex_);
  const Client& client = requests.front().client;
  Entries entries;
  entries.wait_s = accounts_.WaitSeconds(client, now_s);
  if (entries.wait_s > 0) {
    return entries;
  }
  for (const ServedRun& request : requests) {
    const Entered& run = entries.runs.emplace_back(
        Entered{NewRunId(), std::make_shared<RunLog>(options_.log_bytes)});
    RunOverview summary = OverviewOf(request);
    summary.id = run.id;
    const int64_t pledged = PledgeOf(request);
    accounts_.Pledge(client, pledged, now_s);
    kept_.push_back({std::move(summary), run.log, pledged});
  }
  return entries;
}

void RunBook::Note(const LiveRun& run) {
  const std::lock_guard lock(mutex_);
  if (Kept* kept = FindKept(run.id())) {
    const Pool& pool = run.session()->pool();
    kept->summary.status = "running";
    kept->summary.tokens = pool.ledger().generated;
    kept->summary.paths = static_cast<int>(pool.paths().size());
    kept->summary.seconds = pool.ledger().wall_s;
    kept->summary.running = static_cast<int>(pool.running().size());
    kept->summary.cells = pool.cells();
  }
}

void RunBook::End(const LiveRun& run, const char* status, double now_s) {
  const std::lock_guard lock(mutex_);
  Kept* kept = FindKept(run.id());
  if (kept == nullptr) {
    return;
  }
  RunOverview& summary = kept->summary;
  summary.status = status;
  if (const SessionResult* result = run.result()) {
    summary.answer = result->answer.value_or("");
    summary.tokens = result->ledger.generated;
    summary.paths = static_cast<int>(run.session()->pool().paths().size());
    summary.seconds = result->ledger.wall_s;
    summary.running = 0;
    summary.cells = 0;
  }
  accounts_.Settle(run.request().client, kept->pledged, run.used_tokens(), now_s);
}

void RunBook::DropOldest() {
  const std::lock_guard lock(mutex_);
  size_t ended = 0;
  size_t bytes = 0;
  for (const Kept& kept : kept_) {
    ended += IsLive(kept.summary) ? 0 : 1;
    bytes += kept.log->bytes();
  }
  for (auto kept = kept_.begin();
       kept != kept_.end() && ended > 0 &&
       (ended > static_cast<size_t>(options_.most_kept) || bytes > options_.all_log_bytes);) {
    const bool live = IsLive(kept->summary);
    bytes -= live ? 0 : kept->log->bytes();
    kept = live ? std::next(kept) : kept_.erase(kept);
    ended -= live ? 0 : 1;
  }
}

std::optional<ApiError> RunBook::Forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const Kept* kept = FindKept(id);
  if (kept == nullptr) {
    return NoSuchRun(id);
  }
  if (IsLive(kept->summary)) {
    return ApiError{409, "invalid_request_error", "run_not_ended", "",
                    fmt::format("run '{}' has not ended; cancel it first", id)};
  }
  std::erase_if(kept_, [&id](const Kept& run) { return run.summary.id == id; });
  return std::nullopt;
}

std::vector<RunOverview> RunBook::Runs() const {
  const std::lock_guard lock(mutex_);
  std::vector<RunOverview> runs;
  runs.reserve(kept_.size());
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    runs.push_back(kept->summary);
  }
  return runs;
}

std::optional<RunOverview> RunBook::Find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const Kept* kept = FindKept(id);
  return kept != nullptr ? std::optional(kept->summary) : std::nullopt;
}

std::shared_ptr<const RunLog> RunBook::Log(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const Kept* kept = FindKept(id);
  return kept != nullptr ? kept->log : nullptr;
}

void RunBook::AwaitStored() const {
  if (options_.archive != nullptr) {
    options_.archive->Flush();
  }
}

const RunBook::Kept* RunBook::FindKept(const std::string& id) const {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&id](const Kept& run) { return run.summary.id == id; });
  return kept != kept_.end() ? &*kept : nullptr;
}

RunBook::Kept* RunBook::FindKept(const std::string& id) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&id](const Kept& run) { return run.summary.id == id; });
  return kept != kept_.end() ? &*kept : nullptr;
}

}  // namespace hyper::server
