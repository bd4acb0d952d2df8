#include "src/server/archive/run_archive.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/eval/figures/figure_json.h"
#include "src/eval/metrics/study_summary.h"
#include "src/server/archive/stored_records.h"

namespace hyper::server {
namespace {

constexpr const char* kItemPrefix = "item_";
constexpr const char* kRunPrefix = "run_";
constexpr size_t kMostWaiting = 64;

// The number behind `prefix`; nothing where `id` is not of that form.
std::optional<int64_t> NumberOf(const std::string& id, std::string_view prefix) {
  if (id.rfind(prefix, 0) != 0) {
    return std::nullopt;
  }
  int64_t number = -1;
  const char* end = id.data() + id.size();
  const auto [at, error] = std::from_chars(id.data() + prefix.size(), end, number);
  return error == std::errc() && at == end && number >= 0 ? std::optional(number) : std::nullopt;
}

// A setting of the item's run as a number; 0 where it has none.
int SettingOf(const ListedItem& item, const char* name) {
  const auto found = item.settings.find(name);
  int number = 0;
  if (found != item.settings.end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

RunOverview OverviewOf(const ListedItem& item) {
  RunOverview run;
  const auto client = item.settings.find(kClientSetting);
  run.client = client != item.settings.end() ? client->second : "";
  const auto model = item.settings.find(kModelSetting);
  run.model = model != item.settings.end() ? model->second : "";
  const int choices = SettingOf(item, "choices");  // of plain decoding
  run.width = choices > 0 ? choices : SettingOf(item, "width");
  run.seed = item.seed;
  run.seconds = item.wall_s;
  run.id = item.suite == kRunsSuite ? item.name : kItemPrefix + std::to_string(item.item);
  run.method = item.method;
  run.status = item.reason == kInterrupted ? kInterrupted : NameOf(item.status);
  run.question = item.text;
  run.answer = item.answer.value_or("");
  run.created_s = item.stored_at;
  run.tokens = item.generated;
  run.paths = item.paths;
  return run;
}

Result<std::optional<ListedItem>> FindById(Store& store, const std::string& id) {
  if (const std::optional<int64_t> number = NumberOf(id, kItemPrefix)) {
    return store.FindItem(*number);
  }
  return store.FindItem(kRunsSuite, id);
}

// The entry of that number; the end where there is none.
template <class Entry>
const Entry* ById(const std::vector<Entry>& all, int64_t id) {
  const auto found =
      std::find_if(all.begin(), all.end(), [id](const Entry& entry) { return entry.id == id; });
  return found == all.end() ? nullptr : &*found;
}

Json StudyJson(const eval::RunSummary& study) {
  return {{"row", study.run.label},
          {"run", study.run.id},
          {"method", study.run.method},
          {"suite", study.run.suite},
          {"model", study.run.model},
          {"questions", study.accuracy.questions},
          {"repeats", study.accuracy.repeats},
          {"accuracy", study.accuracy.mean},
          {"low", study.accuracy.interval.low},
          {"high", study.accuracy.interval.high},
          {"generated_tokens", study.generated_tokens},
          {"effective_tokens", study.effective_tokens},
          {"instances", study.instances},
          {"latency_s", study.latency_s}};
}

}  // namespace

Result<std::unique_ptr<RunArchive>> RunArchive::Open(ArchiveOptions options) {
  Result<Store> store = Store::Open(options.path, DatabaseMode::kCreate);
  if (!store) {
    return store.error();
  }
  // Numbers go on after those that were given out, even where their runs have been dropped since:
  // the newest is dropped last.
  const Result<std::vector<StoredQuestion>> questions = store->Questions();
  if (!questions) {
    return questions.error();
  }
  int64_t largest = 0;
  for (const StoredQuestion& question : *questions) {
    if (question.suite == kRunsSuite) {
      largest = std::max(largest, NumberOf(question.name, kRunPrefix).value_or(0));
    }
  }
  if (const Result<int> dropped = store->Prune(kRunsSuite, options.most_runs, options.most_age_s);
      !dropped) {
    return dropped.error();
  }
  if (const Status status = store->DoNotAwaitDisk(); !status) {
    return status.error();
  }
  return std::unique_ptr<RunArchive>(
      new RunArchive(std::move(options), std::move(*store), static_cast<uint64_t>(largest) + 1));
}

RunArchive::RunArchive(ArchiveOptions options, Store store, uint64_t next_number)
    : options_(std::move(options)),
      next_number_(next_number),
      store_(std::move(store)),
      thread_([this] { Loop(); }) {}

RunArchive::~RunArchive() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void RunArchive::Save(ArchivedRun run, std::function<void()> then) {
  run.run.suite = kRunsSuite;
  run.run.label = run.run.method;
  run.run.engine = options_.engine;
  run.run.version = options_.version;
  run.question.suite = kRunsSuite;
  std::unique_lock lock(mutex_);
  if (run.item.reason != kInterrupted) {
    changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting; });
  }
  waiting_.push_back(std::move(run));
  thens_.push_back(std::move(then));
  ++queued_;
  changed_.notify_all();
}

void RunArchive::Flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, due = queued_] { return written_ >= due; });
}

int64_t RunArchive::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::string RunArchive::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

std::string RunArchive::failing() const {
  const std::lock_guard lock(mutex_);
  return failing_ ? last_error_ : "";
}

void RunArchive::Note(const Status& written, int64_t lost) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !written && !failing_;
    failing_ = !written;
    if (!written) {
      lost_ += lost;
      last_error_ = written.error().message;
    }
  }
  if (first && options_.on_failure) {
    options_.on_failure(written.error().message);
  }
}

void RunArchive::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return;
    }
    const std::vector<ArchivedRun> runs = std::exchange(waiting_, {});
    const std::vector<std::function<void()>> thens = std::exchange(thens_, {});
    changed_.notify_all();
    lock.unlock();
    Write(runs);
    for (const std::function<void()>& then : thens) {
      if (then) {
        then();
      }
    }
    // Only now: it looks through all that is stored, and a reply waits for `then`.
    const Result<int> dropped = store_.Prune(kRunsSuite, options_.most_runs, options_.most_age_s);
    if (!dropped) {
      Note(dropped.error(), 0);
    }
    lock.lock();
    written_ += static_cast<int64_t>(runs.size());
    changed_.notify_all();
  }
}

void RunArchive::Write(std::span<const ArchivedRun> runs) {
  const Status written = store_.SaveItems(runs);
  if (!written && runs.size() > 1) {  // one of them may be to blame
    for (size_t i = 0; i < runs.size(); ++i) {
      Write(runs.subspan(i, 1));
    }
    return;
  }
  // One that is stored as it begins is not lost yet.
  Note(written, runs.front().item.reason == kInterrupted ? 0 : 1);
}

Status RunArchive::Delete(const std::string& id) {
  if (NumberOf(id, kItemPrefix)) {
    return InvalidArgument("'" + id +
                           "' is an answer of an evaluation, which stays; "
                           "only runs of the server are deleted");
  }
  Flush();
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kCreate);
  if (!store) {
    return store.error();
  }
  const Result<bool> dropped = store->DropItem(kRunsSuite, id);
  return dropped ? Status() : Status(dropped.error());
}

Result<std::vector<RunOverview>> RunArchive::Newest(int count, const Client& client) const {
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::vector<ListedItem>> items =
      client.all_runs ? store->Newest(count) : store->Newest(count, kClientSetting, client.name);
  if (!items) {
    return items.error();
  }
  std::vector<RunOverview> runs;
  for (const ListedItem& item : *items) {
    runs.push_back(OverviewOf(item));
  }
  return runs;
}

Result<std::optional<RunOverview>> RunArchive::Find(const std::string& id) const {
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::optional<ListedItem>> item = FindById(*store, id);
  if (!item) {
    return item.error();
  }
  return *item ? std::optional(OverviewOf(**item)) : std::nullopt;
}

Result<std::vector<Json>> RunArchive::Records(const std::string& id) const {
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::optional<ListedItem>> listed = FindById(*store, id);
  if (!listed) {
    return listed.error();
  }
  if (!*listed) {
    return Error{ErrorCode::kNotFound, "run '" + id + "' is not stored"};
  }
  const ItemKey& key = (*listed)->key;
  const Result<StoredItem> item = store->LoadItem(key);
  const Result<std::vector<StoredRun>> runs = store->Runs();
  const Result<std::vector<StoredQuestion>> questions = store->Questions();
  for (const Status& status :
       {item ? Status() : Status(item.error()), runs ? Status() : Status(runs.error()),
        questions ? Status() : Status(questions.error())}) {
    if (!status) {
      return status.error();
    }
  }
  const StoredRun* run = ById(*runs, key.run);
  const StoredQuestion* question = ById(*questions, key.question);
  if (run == nullptr || question == nullptr) {
    return Error{ErrorCode::kDataLoss, "the store lacks the run or the question of '" + id + "'"};
  }
  return StoredRecords(id, {*run, *question, ItemSummary{}}, *item);
}

Result<Json> RunArchive::Studies() const {
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  eval::SummaryOptions options;
  options.left_out_suite = kRunsSuite;
  const Result<std::vector<eval::RunSummary>> studies = eval::SummariseStudy(*store, options);
  if (!studies) {
    return studies.error();
  }
  Json rows = Json::array();
  for (const eval::RunSummary& study : *studies) {
    rows.push_back(StudyJson(study));
  }
  return rows;
}

Result<Json> RunArchive::Figures() const {
  Result<Store> store = Store::Open(options_.path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<uint64_t> now = store->Fingerprint(kRunsSuite);
  if (!now) {
    return now.error();
  }
  const std::lock_guard lock(figures_mutex_);  // who asks beside another waits for its answer
  if (figures_of_ != *now) {
    Result<Json> made = MakeFigures(*store);
    if (!made) {
      return made;
    }
    figures_ = std::move(*made);
    figures_of_ = *now;
  }
  return figures_;
}

Result<Json> RunArchive::MakeFigures(Store& store) const {
  eval::SummaryOptions options;
  options.left_out_suite = kRunsSuite;
  const Result<eval::StudyMaterial> material = eval::LoadMaterial(store, options);
  if (!material) {
    return material.error();
  }
  Json figures = Json::array();
  for (const eval::FigureSpec& spec : eval::FigureSpecs()) {
    figures.push_back(eval::FigureJson(spec, eval::MakeFigure(spec, *material)));
  }
  return figures;
}

}  // namespace hyper::server
