// An engine with a thread of its own, which answers questions from any number of other threads. The
// questions share each forward of the model. Nothing here knows Python.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/engine.h"
#include "hyper/session.h"
#include "src/report/json.h"

namespace hyper::python {

using MethodMaker = std::function<Result<std::unique_ptr<Method>>(const RunPlan& plan)>;

// A question and how it is answered.
struct Job {
  std::vector<ChatMessage> messages;  // at least one
  AskOptions options;
  bool timing = false;   // the report has times
  bool records = false;  // they are kept for Run::TakeRecords
  MethodMaker make;      // none: the method that the options name
  std::string name;      // of what `make` makes; empty: that of the options
  // What went wrong in the method, asked once the report is made; none: nothing.
  std::function<Status(const Method& method)> check;
};

// A question on its way. Thread rule: any thread.
class Run {
 public:
  // Waits until it is over, at most `timeout_s` seconds. Returns whether it is.
  bool Wait(double timeout_s);
  // Ends it soon: the vote so far is its result, marked partial.
  void Cancel(const std::string& reason);
  // Records since the last call, each as JSON on one line. Waits at most `timeout_s` seconds for
  // the first. Empty: none came in that time, or the run is over.
  std::vector<std::string> TakeRecords(double timeout_s);
  // The JSON object of docs/json.md, with what `hyper run` adds to it. Call it once it is over.
  // Errors: those of OpenSession and of the engine.
  Result<std::string> Report() const;

 private:
  friend class EngineHost;

  std::optional<std::string> ReasonToCancel() const;
  void Add(std::vector<std::string> records);
  void End(Result<std::string> report);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> records_;
  std::optional<std::string> cancelled_;
  std::optional<Result<std::string>> report_;
};

// Thread rule: any thread, but for the destructor.
class EngineHost {
 public:
  using Maker = std::function<Result<std::unique_ptr<Engine>>()>;

  // Makes the engine, on the thread that then owns it. Errors: those of `make`.
  static Result<std::unique_ptr<EngineHost>> Open(Maker make);
  ~EngineHost();
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  // Begins to answer. Errors of the question itself come out of Run::Report.
  std::shared_ptr<Run> Start(Job job);
  // Ends all runs with an error and frees the engine. Runs that are started later fail. Inside a
  // call of a method, which is on the engine's thread, it returns before that has happened.
  void Close();
  // Whether the caller is a method that the engine runs. It must not wait for a run: no run goes on
  // before it returns.
  bool OnItsThread() const { return std::this_thread::get_id() == thread_.get_id(); }

  // What the engine is; they do not change.
  const ModelInfo& model() const { return model_; }
  const Capabilities& capabilities() const { return capabilities_; }

 private:
  struct Asked {
    std::shared_ptr<Run> run;
    Job job;
  };
  struct Active {
    std::shared_ptr<Run> run;
    Job job;
    std::string preset;
    std::unique_ptr<Session> session;
    std::vector<Record> kept;  // that the report reads
  };

  EngineHost() = default;
  void Loop(const Maker& make);
  void Serve(const Maker& make);
  void Fail(const Error& error);
  Status OpenEngine(const Maker& make);
  std::optional<std::vector<Asked>> Next();
  void Begin(Driver& driver, Asked asked);
  Result<Active> PrepareSafely(Asked asked);
  Result<Active> Prepare(Asked asked);
  void Step(Driver& driver);
  void Take(Active& active);
  void EndActive(Driver& driver, const Error& error);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Asked> asked_;
  std::optional<Status> opened_;
  bool closing_ = false;
  std::optional<Error> failed_;  // why it closed by itself
  ModelInfo model_;
  Capabilities capabilities_;
  std::thread thread_;
  // Of the thread alone:
  std::unique_ptr<Engine> engine_;
  std::vector<Active> active_;
};

}  // namespace hyper::python
