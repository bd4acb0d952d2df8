// One run on the scheduler's thread: its session, and what of it goes to the client and the log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/session.h"
#include "src/server/api/call_stream.h"
#include "src/server/api/reply.h"
#include "src/server/api/served_run.h"
#include "src/server/api/text_stream.h"
#include "src/server/archive/run_archive.h"
#include "src/server/scheduler/plain_method.h"
#include "src/server/scheduler/prompt_cache.h"
#include "src/server/scheduler/request_prompt.h"
#include "src/server/scheduler/run_log.h"
#include "src/server/scheduler/run_meters.h"

namespace hyper::server {

class LiveRun {
 public:
  // `reply` and `log` are shared with HTTP threads, which may outlast the run or leave before it.
  //   submitted_s  by the clock of the meters
  LiveRun(std::string id, ServedRun request, std::shared_ptr<ReplyQueue> reply,
          std::shared_ptr<RunLog> log, double submitted_s);

  // Renders the prompt and makes the session, not started; on an error the reply has it.
  //   pools  that may share the cells: one reserves this part of them at most
  //   kept   what pools leave to plain runs
  bool Prepare(Engine& engine, int pools, const Reservation& kept);
  // Tells the reply that the run will come, and begins the log; call once, after Prepare.
  void Accept();
  // Looks its prompt up among those kept and, once it is computed, has it kept; call after each
  // step, before what follows.
  void SharePrompt(PromptCache& cache);
  // Sends what the last step brought.
  void AfterStep(RunMeters& meters, double now_s);
  // The session has finished: takes its result, sends the rest, closes the log. What it returns
  // sends the costs, which end the reply; any thread may call it.
  std::function<void()> Finalize(RunMeters& meters, double now_s);
  // Ends the run without a result, whatever its state.
  void Refuse(ApiError error);

  const std::string& id() const { return id_; }
  const RunTimes& times() const { return times_; }
  const ServedRun& request() const { return request_; }
  // Whether it is to end because nobody waits for it.
  bool abandoned() const { return !request_.keep_running && reply_->abandoned(); }
  Session* session() { return session_.get(); }
  const Session* session() const { return session_.get(); }
  // What Finalize took; null before.
  const SessionResult* result() const { return result_ ? &*result_ : nullptr; }
  // Of memory, while it has not started.
  size_t waiting_bytes() const { return waiting_bytes_; }
  bool plain() const { return request_.method == kPlainMethod; }
  // Of prompt and all paths, as `usage` counts them; 0 before Finalize.
  int64_t used_tokens() const;
  // The run as it is stored after Prepare, and after Finalize.
  ArchivedRun Begun() const;
  ArchivedRun ToArchive() const;

 private:
  struct Choice {
    explicit Choice(TextStream::Options options) : stream(std::move(options)) {}
    TextStream stream;
    std::optional<CallStream> calls;  // where functions may be called; its content goes to `stream`
    int consumed = 0;                 // tokens of its path that went into the stream
    int64_t reasoning_tokens = 0;
    std::vector<TokenLogprobs> undecided;  // of tokens that may yet turn out to be content
    bool finished = false;
  };

  std::optional<ApiError> MakeSession(Engine& engine, RequestPrompt prompt, int pools,
                                      const Reservation& kept);
  TextStream::Options StreamOptions() const;
  // The bytes of a token through the choice's streams, into `event`.
  void PushToken(Choice& choice, const std::string& bytes, ReplyEvent& event) const;
  // Sends the new tokens of `path` as text of `choice`; true where a stop string ended it.
  bool Feed(const Path& path, int choice);
  void TellPrompt(const PromptScores& scores);
  void FinishChoice(const Path* path, int choice);
  TokenLogprobs LogprobsOf(const Path& path, size_t at) const;
  void OnRecord(const Record& record, RunMeters& meters);
  // Into the log and, where they are asked for, the reply.
  void Tell(Json record);
  // One more point of a path's curve of confidence, where it has `least` tokens since the last.
  void AddCurvePoint(const Path& path, int least);
  Json Summary(const SessionResult& result) const;

  std::string id_;
  ServedRun request_;
  RunTimes times_;
  size_t waiting_bytes_;
  std::shared_ptr<ReplyQueue> reply_;
  std::shared_ptr<RunLog> log_;
  const Engine* engine_ = nullptr;
  std::unique_ptr<Session> session_;
  std::vector<Choice> choices_;
  std::vector<Record> records_;  // of the kinds that the report and the archive need
  std::vector<int> curve_ends_;  // by path: tokens up to the last point of its curve
  std::optional<SessionResult> result_;
  std::optional<int> cached_tokens_;  // nothing: not started yet
  bool prompt_kept_ = false;
};

}  // namespace hyper::server
