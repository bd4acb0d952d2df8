#include "hyper/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/decode/ballot.h"
#include "src/decode/session_pool.h"
#include "src/decode/stop.h"

namespace hyper {
namespace {

bool AnyAnswer(const Pool& pool) {
  return std::any_of(pool.paths().begin(), pool.paths().end(),
                     [](const Path& path) { return !path.answer.empty(); });
}

}  // namespace

Session::Session(Engine& engine, Pool::Config config, std::unique_ptr<Method> method,
                 SessionLimits limits)
    : pool_(std::make_unique<SessionPool>(engine, std::move(config))),
      method_(std::move(method)),
      limits_(limits) {}

Session::~Session() = default;

Pool& Session::pool() { return *pool_; }

const Pool& Session::pool() const { return *pool_; }

void Session::Widen(int lanes) { pool_->Widen(lanes); }

std::vector<Record> Session::TakeRecords() { return pool_->TakeRecords(); }

void Session::Start(uint32_t owner) {
  started_ = true;
  pool_->SetOwner(owner);
  if (finished_) {
    return;
  }
  Status status = method_->Start(*pool_);
  if (!status) {
    Fail(status.error());
  }
}

void Session::Park() {
  parked_ = true;
  pool_->Park();
}

void Session::Resume() {
  parked_ = false;
  if (Status status = pool_->Resume(); !status) {
    Fail(status.error());
  }
}

bool Session::MayPark() const {
  const std::vector<PathId>& ids = pool_->running();
  return !ids.empty() && std::none_of(ids.begin(), ids.end(),
                                      [this](PathId id) { return pool_->path(id).scores_due > 0; });
}

bool Session::stalled() const { return pool_->stalled(); }

bool Session::Dispatch(const Event& event) {
  if (finished_) {
    return false;
  }
  const PathId id = pool_->Apply(event);
  if (id == kNoPath) {
    return false;
  }
  if (!event.error.message.empty() && lane_failure_) {
    lane_failure_ = event.error;
  }
  if (event.kind == EventKind::kToken && !event.degenerate) {
    const Path& path = pool_->path(id);
    unsure_tokens_ +=
        path.kind == PathKind::kReasoning && std::isnan(path.confidences.back()) ? 1 : 0;
  }
  if (event.kind == EventKind::kScored) {
    happened_.push_back({id, event.kind, event.request, event.scores, event.score_tops});
  } else if (event.kind == EventKind::kToken || !pool_->path(id).running()) {
    happened_.push_back({id, event.kind, 0, {}, {}});
  }
  return true;
}

// Tells the method what happened, once every event of the poll has been applied and charged: a
// method that cancels a path now does so after the token that the path took in this forward.
void Session::NotifyMethod() {
  for (const Happened& what : std::exchange(happened_, {})) {
    if (what.kind == EventKind::kScored) {
      if (!what.tops.empty()) {
        method_->OnScoreTops(*pool_, what.path, what.request, what.tops);
      }
      method_->OnScored(*pool_, what.path, what.request, what.scores);
    } else {
      method_->OnToken(*pool_, what.path);
    }
  }
}

void Session::Charge(const StepTime& time) {
  Ledger& ledger = pool_->mutable_ledger();
  ledger.wall_s += time.wall_s;
  if (parked_) {
    return;  // the forward was for others
  }
  ledger.engine_s += time.engine_s;
  ledger.sampler_s += time.sampler_s;
  ledger.statistics_s += time.statistics_s;
}

void Session::React(bool engine_moved) {
  if (finished_) {
    return;
  }
  if (parked_) {
    CheckLimits();
    return;
  }
  NotifyMethod();
  if (pool_->stalled() && !engine_moved) {
    RelieveStall();
  }
  pool_->ClearStall();
  StopIfDecided();
  CheckLimits();
  Status status = finished_ ? Status() : method_->OnPolled(*pool_);
  if (!status) {
    Fail(status.error());
  }
  Advance();
}

// No lane of any session could move because cells are short: expansion stops first, then the method
// gives up what it can spare, then the least confident path is pruned.
void Session::RelieveStall() {
  ++pool_->mutable_ledger().stalls;
  const int before = pool_->Rows();
  if (pool_->may_expand()) {
    pool_->StopExpansion(/*stalled=*/true);
  }
  method_->OnShortage(*pool_);
  if (pool_->Rows() < before) {
    return;
  }
  pool_->PruneForCells("the engine has no KV cells left");
}

void Session::Advance() {
  while (!finished_ && pool_->settled()) {
    if (method_->Done(*pool_)) {
      Conclude();
      break;
    }
    const size_t decisions = pool_->paths().size();
    Status status = method_->OnSettled(*pool_);
    if (!status) {
      Fail(status.error());
      break;
    }
    // A method that neither grants nor ends would spin here; that is a bug in it, named as one.
    if (pool_->settled() && !method_->Done(*pool_) && !pool_->running().empty() &&
        decisions == pool_->paths().size()) {
      Fail({ErrorCode::kInternal,
            "the method granted nothing although paths wait; it must grant or be done"});
    }
  }
}

void Session::NotePenalties() {
  const Ledger& ledger = pool_->ledger();
  if (ledger.penalty_rewards > 0) {
    pool_->Emit(NoticeRecord{fmt::format(
        "{} of {} penalties on reusing an expert were rewards: the router's scores were negative",
        ledger.penalty_rewards, ledger.penalty_sums)});
  }
}

// Asked where a path has ended and, as a decision may have changed who votes, before each round.
void Session::StopIfDecided() {
  const size_t ended = pool_->paths().size() - pool_->running().size();
  if (ended == asked_ended_ && !pool_->settled()) {
    return;
  }
  asked_ended_ = ended;
  if (std::optional<StopRecord> stop = DecidedStop(*method_, *pool_)) {
    pool_->EndDecided(std::move(*stop));
    Conclude();
  }
}

void Session::CheckLimits() {
  if (finished_) {
    return;
  }
  if (pool_->settled() && method_->Done(*pool_)) {
    return;  // a run that came to its end within its limits is whole
  }
  const Ledger& ledger = pool_->ledger();
  if (limits_.budget_tokens > 0 && ledger.effective() >= limits_.budget_tokens) {
    Stop(fmt::format("the budget of {} effective tokens is used up", limits_.budget_tokens));
  } else if (limits_.time_s > 0 && ledger.wall_s >= limits_.time_s) {
    Stop(fmt::format("the time of {} s is used up", limits_.time_s));
  }
}

void Session::Stop(const std::string& reason) {
  if (finished_) {
    return;
  }
  partial_ = true;
  partial_reason_ = fmt::format("{}; {} paths were still running", reason, pool_->running().size());
  pool_->CancelAll(reason);
  Conclude();
}

// The end of a session that the engine and the method brought to one: what its result lacks.
void Session::Conclude() {
  if (unsure_tokens_ > 0 && pool_->engine().capabilities().max_top_count > 0) {
    pool_->Emit(NoticeRecord{fmt::format("{} of {} tokens have no confidence", unsure_tokens_,
                                         pool_->ledger().generated)});
  }
  if (!lane_failure_) {
    NoteFailures();
  } else if (unsure_tokens_ > 0 && unsure_tokens_ >= pool_->ledger().generated &&
             !Result().answer && AnyAnswer(*pool_)) {
    // No model without an answer: the engine left out what the vote needs.
    status_ = Error{ErrorCode::kUnavailable,
                    fmt::format("no token has a confidence, which the vote '{}' needs; the engine "
                                "gave no usable log-probabilities",
                                method_->VoteRule(*pool_))};
    partial_ = true;
    partial_reason_ = status_.error().message;
  }
  NotePenalties();
  finished_ = true;
}

// A lane that failed took a vote away. Where no answer is left, the failure is the result: it must
// not be taken for a model without an answer.
void Session::NoteFailures() {
  const SessionResult result = Result();
  if (!result.answer) {
    status_ = lane_failure_;
    partial_ = true;
    partial_reason_ = lane_failure_.error().message;
    return;
  }
  const std::string& reason = lane_failure_.error().message;
  const std::string words = result.failed_paths == 0
                                ? "a score failed: " + reason
                                : fmt::format("{} of {} paths failed: {}", result.failed_paths,
                                              pool_->paths().size(), reason);
  pool_->Emit(NoticeRecord{words});
  partial_reason_ = partial_ ? partial_reason_ + "; " + words : words;
  partial_ = true;
}

void Session::Fail(const Error& error) {
  if (finished_) {
    return;
  }
  status_ = error;
  partial_ = true;
  partial_reason_ = error.message;
  pool_->CancelAll(error.message);
  finished_ = true;
}

SessionResult Session::Result() const {
  SessionResult result;
  result.ledger = pool_->ledger();
  result.partial = partial_;
  result.partial_reason = partial_reason_;
  result.vote_rule = method_->VoteRule(*pool_);
  for (const Path& path : pool_->paths()) {
    result.failed_paths += path.status == PathStatus::kFailed ? 1 : 0;
  }
  const std::vector<Voter> voters = VotersOf(*method_, *pool_);
  for (const Voter& voter : voters) {
    result.voting_paths += voter.votes ? 1 : 0;
  }
  result.votes = AllVotes(voters, pool_->options());
  const auto chosen = result.votes.find(result.vote_rule);
  if (chosen != result.votes.end()) {
    result.answer = chosen->second.answer;
  }
  return result;
}

}  // namespace hyper
