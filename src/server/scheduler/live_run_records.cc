// What a live run records: into its log, and into its reply.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "src/server/scheduler/live_run.h"

namespace hyper::server {
namespace {

constexpr int kCurveStep = 8;   // tokens between two points of a curve, at its start
constexpr int kCurvePart = 32;  // later: this part of the path, so some 200 points

}  // namespace

void LiveRun::OnRecord(const Record& record, RunMeters& meters) {
  const auto* finish = std::get_if<FinishRecord>(&record);
  if (finish != nullptr && plain() && finish->status == PathStatus::kFailed) {
    session_->Stop("the engine gave up a choice");  // which is no short one: the session fails
  } else if (finish != nullptr && plain() && session_->status() &&
             session_->pool().path(finish->path).kind == PathKind::kReasoning) {
    FinishChoice(&session_->pool().path(finish->path), static_cast<int>(finish->path));
  }
  if (finish != nullptr) {
    meters.PathEnded(*finish);
    AddCurvePoint(session_->pool().path(finish->path), 1);
  }
  if (!std::holds_alternative<TokenRecord>(record) && finish == nullptr) {
    records_.push_back(record);
  }
  const auto* decision = std::get_if<DecisionRecord>(&record);
  if (decision != nullptr) {
    meters.Decided(*decision);
  }
  if (decision != nullptr && request_.progress) {
    ReplyEvent event;
    event.choice = request_.first_choice;
    event.reasoning = fmt::format("token {}: {} paths, {}\n", decision->position,
                                  decision->paths_before, NameOf(decision->action));
    reply_->Push(std::move(event));
  }
  Tell(RecordJson(record));
}

void LiveRun::Tell(Json record) {
  log_->Append(DumpJson(record));
  if (request_.records) {
    ReplyEvent event;
    event.kind = ReplyEvent::Kind::kRecord;
    event.json = std::move(record);
    reply_->Push(std::move(event));
  }
}

void LiveRun::AddCurvePoint(const Path& path, int least) {
  const auto id = static_cast<size_t>(path.id);
  if (request_.token_records) {
    return;  // which have the window means of all tokens
  }
  curve_ends_.resize(std::max(curve_ends_.size(), id + 1), 0);
  const int end = std::max(curve_ends_[id], path.fork_position);
  if (path.length() - end < least) {
    return;
  }
  curve_ends_[id] = path.length();
  Tell({{"record", "curve"},
        {"path", path.id},
        {"position", path.length() - 1},
        {"window_mean", std::isfinite(path.window_mean) ? Json(path.window_mean) : Json()}});
}

void LiveRun::AfterStep(RunMeters& meters, double now_s) {
  for (const Record& record : session_->TakeRecords()) {
    OnRecord(record, meters);
  }
  meters.Stepped(times_, *session_, now_s);
  const Pool& pool = session_->pool();
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    AddCurvePoint(path, std::max(kCurveStep, path.length() / kCurvePart));
  }
}

}  // namespace hyper::server
