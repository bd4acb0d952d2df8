#include "python/native/engine_host.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>
#include <variant>

#include "python/native/run_report.h"

namespace hyper::python {
namespace {

// How long one step waits for a server. A new question waits no longer than that.
constexpr double kStepWaitS = 0.05;

Error Closed() { return {ErrorCode::kCancelled, "the engine was closed before the run had ended"}; }

// The report reads those; records of tokens would be most of the memory.
bool IsKept(const Record& record) {
  return !std::holds_alternative<TokenRecord>(record) &&
         !std::holds_alternative<PathRecord>(record) &&
         !std::holds_alternative<FinishRecord>(record);
}

// The prompt of a job: the system message in front, the instruction at the end.
Result<Prompt> Render(Engine& engine, const Job& job) {
  const AskOptions& options = job.options;
  if (job.messages.size() == 1 && job.messages.front().role == "user") {
    return RenderQuestion(engine, job.messages.front().content, options.system,
                          options.instruction);
  }
  std::vector<ChatMessage> messages = job.messages;
  if (!options.system.empty()) {
    messages.insert(messages.begin(), {"system", options.system});
  }
  if (!options.instruction.empty()) {
    messages.back().content += "\n\n" + options.instruction;
  }
  return engine.RenderChat(messages, {});
}

}  // namespace

bool Run::Wait(double timeout_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(timeout_s),
                           [this] { return report_.has_value(); });
}

void Run::Cancel(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!cancelled_) {
    cancelled_ = reason;
  }
}

std::vector<std::string> Run::TakeRecords(double timeout_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(timeout_s),
                    [this] { return report_ || !records_.empty(); });
  return std::exchange(records_, {});
}

Result<std::string> Run::Report() const {
  const std::lock_guard lock(mutex_);
  return report_ ? *report_
                 : Result<std::string>(Error{ErrorCode::kInternal, "the run has not ended yet"});
}

std::optional<std::string> Run::ReasonToCancel() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void Run::Add(std::vector<std::string> records) {
  const std::lock_guard lock(mutex_);
  std::move(records.begin(), records.end(), std::back_inserter(records_));
  changed_.notify_all();
}

void Run::End(Result<std::string> report) {
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
  changed_.notify_all();
}

Result<std::unique_ptr<EngineHost>> EngineHost::Open(Maker make) {
  std::unique_ptr<EngineHost> host(new EngineHost());
  host->thread_ = std::thread([host = host.get(), make = std::move(make)] { host->Loop(make); });
  std::unique_lock lock(host->mutex_);
  host->changed_.wait(lock, [&host] { return host->opened_.has_value(); });
  const Status opened = *host->opened_;
  lock.unlock();
  if (!opened) {
    return opened.error();
  }
  return host;
}

EngineHost::~EngineHost() { Close(); }

void EngineHost::Close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable() && !OnItsThread()) {
    thread_.join();
  }
}

std::shared_ptr<Run> EngineHost::Start(Job job) {
  auto run = std::make_shared<Run>();
  const std::lock_guard lock(mutex_);
  if (closing_) {
    run->End(failed_.value_or(Closed()));
  } else {
    asked_.push_back({run, std::move(job)});
    changed_.notify_all();
  }
  return run;
}

// An exception while it decodes, such as one for want of memory, ends the engine and not the
// process.
void EngineHost::Loop(const Maker& make) {
  try {
    Serve(make);
  } catch (const std::exception& exception) {
    Fail({ErrorCode::kInternal, std::string("the engine has failed: ") + exception.what()});
  } catch (...) {
    Fail({ErrorCode::kInternal, "the engine has failed"});
  }
}

void EngineHost::Fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  failed_ = error;
  closing_ = true;
  if (!opened_) {
    opened_ = error;
  }
  for (const Active& active : active_) {
    if (!active.run->Wait(0)) {
      active.run->End(error);
    }
  }
  for (const Asked& asked : std::exchange(asked_, {})) {
    asked.run->End(error);
  }
  active_.clear();
  engine_.reset();
  changed_.notify_all();
}

void EngineHost::Serve(const Maker& make) {
  const Status opened = OpenEngine(make);
  {
    const std::lock_guard lock(mutex_);
    opened_ = opened;
    changed_.notify_all();
  }
  if (!opened) {
    return;
  }
  {
    Driver driver(*engine_);
    while (std::optional<std::vector<Asked>> next = Next()) {
      for (Asked& asked : *next) {
        Begin(driver, std::move(asked));
      }
      Step(driver);
    }
    EndActive(driver, Closed());
  }
  engine_.reset();
}

Status EngineHost::OpenEngine(const Maker& make) {
  Result<std::unique_ptr<Engine>> engine = make();
  if (!engine) {
    return engine.error();
  }
  engine_ = std::move(*engine);
  model_ = engine_->model();
  capabilities_ = engine_->capabilities();
  return {};
}

// What was asked since the last call; waits for it where nothing is running. Nothing: the engine is
// to be closed.
std::optional<std::vector<EngineHost::Asked>> EngineHost::Next() {
  std::unique_lock lock(mutex_);
  if (active_.empty()) {
    changed_.wait(lock, [this] { return closing_ || !asked_.empty(); });
  }
  std::vector<Asked> next = std::exchange(asked_, {});
  if (!closing_) {
    return next;
  }
  for (const Asked& asked : next) {
    asked.run->End(Closed());
  }
  return std::nullopt;
}

void EngineHost::Begin(Driver& driver, Asked asked) {
  const std::shared_ptr<Run> run = asked.run;
  Result<Active> prepared = PrepareSafely(std::move(asked));
  if (!prepared) {
    run->End(prepared.error());
    return;
  }
  active_.push_back(std::move(*prepared));
  driver.Add(active_.back().session.get(), Admission::kByUse);
}

// An exception ends this question and no other.
Result<EngineHost::Active> EngineHost::PrepareSafely(Asked asked) {
  try {
    return Prepare(std::move(asked));
  } catch (const std::exception& exception) {
    return Error{ErrorCode::kInternal, exception.what()};
  } catch (...) {
    return Error{ErrorCode::kInternal, "the question could not be prepared"};
  }
}

Result<EngineHost::Active> EngineHost::Prepare(Asked asked) {
  Active active{std::move(asked.run), std::move(asked.job), "", nullptr, {}};
  const AskOptions& options = active.job.options;
  RunRequest request = options;
  request.automatic.time_s = options.limits.time_s;
  request.automatic.machine.cells = capabilities_.cells_total;
  const Result<RunPlan> plan = ResolveRun(request, model_);
  if (!plan) {
    return plan.error();
  }
  active.preset = plan->preset;
  Result<Prompt> prompt = Render(*engine_, active.job);
  if (!prompt) {
    return prompt.error();
  }
  SessionSpec spec;
  spec.prompt = std::move(*prompt);
  spec.seed = {options.seed, 0};
  spec.limits = options.limits;
  spec.extractor = ExtractorFor(options.extract);
  spec.token_records = options.token_records;
  std::unique_ptr<Method> method;
  if (active.job.make) {
    Result<std::unique_ptr<Method>> made = active.job.make(*plan);
    if (!made) {
      return made.error();
    }
    method = std::move(*made);
  }
  Result<std::unique_ptr<Session>> session =
      OpenSession(*engine_, *plan, std::move(spec), std::move(method));
  if (!session) {
    return session.error();
  }
  active.session = std::move(*session);
  return active;
}

void EngineHost::Step(Driver& driver) {
  for (const Active& active : active_) {
    const std::optional<std::string> reason = active.run->ReasonToCancel();
    if (reason) {
      active.session->Stop(*reason);
    }
  }
  const Status status = driver.Step(kStepWaitS);
  for (Active& active : active_) {
    Take(active);
  }
  if (!status) {
    EndActive(driver, status.error());
  }
  const auto over = std::stable_partition(active_.begin(), active_.end(), [](const Active& active) {
    return !active.session->finished();
  });
  for (auto at = over; at != active_.end(); ++at) {
    driver.Remove(at->session.get());  // one that was stopped may still wait for its start
  }
  active_.erase(over, active_.end());
}

// Hands over what the last step brought, and the result where it was the last.
void EngineHost::Take(Active& active) {
  std::vector<std::string> texts;
  for (Record& record : active.session->TakeRecords()) {
    if (active.job.records) {
      texts.push_back(DumpJson(RecordJson(record)));
    }
    if (IsKept(record)) {
      active.kept.push_back(std::move(record));
    }
  }
  if (!texts.empty()) {
    active.run->Add(std::move(texts));
  }
  if (!active.session->finished()) {
    return;
  }
  const Status& status = active.session->status();
  if (!status) {
    active.run->End(status.error());
    return;
  }
  const std::string& named = active.job.name;
  const RunFacts facts{named.empty() ? active.job.options.method : named, active.preset,
                       active.job.options.seed, active.job.timing, model_};
  std::string report = DumpJson(RunReport(facts, *active.session, active.kept));
  const Status checked = active.job.check ? active.job.check(active.session->method()) : Status();
  active.run->End(checked ? Result<std::string>(std::move(report)) : checked.error());
}

// Ends the runs that have not ended yet.
void EngineHost::EndActive(Driver& driver, const Error& error) {
  for (Active& active : active_) {
    driver.Remove(active.session.get());
    if (!active.session->finished()) {
      active.run->End(error);
    }
  }
  active_.clear();
}

}  // namespace hyper::python
