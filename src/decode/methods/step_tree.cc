#include "src/decode/methods/step_tree.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "src/core/random.h"
#include "src/decode/methods/batch_reward.h"
#include "src/decode/methods/grants.h"
#include "src/decode/names.h"

namespace hyper {

StepTreeMethod::StepTreeMethod(const MethodOptions& options, std::unique_ptr<StepReward> reward)
    : options_(options),
      delimiter_(UnescapeDelimiter(options.tree.delimiter).value_or("\n\n")),
      reward_(std::move(reward)),
      nodes_(1) {}

Status StepTreeMethod::Start(Pool& pool) {
  const int warmup = reward_->WarmupPaths(options_);
  if (warmup == 0) {
    return EndWarmup(pool);
  }
  next_path_ = static_cast<uint64_t>(warmup);
  Status status = OpenPaths(pool, 0, warmup, /*warmup=*/true);
  return status ? pool.GrantAll(options_.interval) : status;
}

void StepTreeMethod::OnToken(Pool& pool, PathId path) {
  const auto at = writing_.find(path);
  if (at == writing_.end() || !pool.path(path).running()) {
    return;
  }
  Writing& writing = at->second;
  writing.over = writing.boundary.Push(pool.engine().TokenText(pool.path(path).tokens.back()));
  if (writing.over) {
    // Pause fails only for a lane that the engine has lost, which it reports by itself.
    (void)pool.Pause(path).ok();
  }
}

void StepTreeMethod::OnScored(Pool& pool, PathId path, uint64_t request,
                              const std::vector<std::vector<float>>& scores) {
  reward_->OnScored(pool, path, request, scores);
}

// A path that waits can be read again later; one that decodes, and a judge, would be lost.
void StepTreeMethod::OnShortage(Pool& pool) {
  if (phase_ != Phase::kWarmup) {
    SetAside(pool);
  }
}

Status StepTreeMethod::OnPolled(Pool& pool) { return reward_->OnPolled(pool); }

bool StepTreeMethod::Done(const Pool& /*pool*/) const { return phase_ == Phase::kDone; }

// Goes through the phases until something is due.
Status StepTreeMethod::OnSettled(Pool& pool) {
  Status status;
  while (status && phase_ != Phase::kDone && pool.settled()) {
    switch (phase_) {
      case Phase::kWarmup:
        status = pool.running().empty() ? EndWarmup(pool) : pool.GrantAll(options_.interval);
        break;
      case Phase::kWriting:
        status = Unfinished(pool).empty() ? BeginValuing(pool) : ContinueWriting(pool);
        break;
      case Phase::kValuing:
        status = reward_->Done() ? TakeValues(pool) : reward_->OnSettled(pool);
        break;
      case Phase::kDone:
        break;
    }
  }
  return status;
}

Status StepTreeMethod::EndWarmup(Pool& pool) {
  std::vector<StepSpan> steps;
  for (const Path& path : pool.paths()) {
    const std::vector<StepSpan> of_path =
        SplitSteps(pool.engine(), path, delimiter_, options_.tree.step_tokens);
    steps.insert(steps.end(), of_path.begin(), of_path.end());
  }
  reward_->Calibrate(pool, steps);
  pool.BeginPhase();
  phase_ = Phase::kWriting;
  Status status = Plant(pool);
  if (status && batch_.empty()) {
    return Error{ErrorCode::kResourceExhausted, "the engine has no lane for the first step"};
  }
  return status ? ContinueWriting(pool) : status;
}

std::vector<PathId> StepTreeMethod::Unfinished(const Pool& pool) const {
  std::vector<PathId> unfinished;
  for (const auto& [path, writing] : writing_) {
    if (!writing.over && pool.path(path).running()) {
      unfinished.push_back(path);
    }
  }
  return unfinished;
}

Status StepTreeMethod::ContinueWriting(Pool& pool) {
  return GrantEach(
      pool, Unfinished(pool), options_.interval,
      [this](PathId path) { return writing_.at(path).boundary.remaining(); },
      [this, &pool] { return SetAside(pool); });
}

Status StepTreeMethod::BeginValuing(Pool& pool) {
  std::vector<StepSpan> spans;
  std::vector<int> written;
  for (const int index : batch_) {
    StepNode& step = MutableNode(index);
    const Path& path = pool.path(step.path);
    step.end = path.length();
    step.ended = CameToItsEnd(path.status);
    if ((path.running() || step.ended) && step.end > step.begin) {
      spans.push_back({step.path, step.begin, step.end});
      written.push_back(index);
    }
  }
  batch_ = std::move(written);
  writing_.clear();
  phase_ = Phase::kValuing;
  return reward_->Begin(pool, std::move(spans));
}

Status StepTreeMethod::TakeValues(Pool& pool) {
  const std::vector<double> values = reward_->Take();
  const std::vector<int> batch = std::exchange(batch_, {});
  std::vector<int> valued;
  for (size_t i = 0; i < batch.size(); ++i) {
    StepNode& step = MutableNode(batch[i]);
    step.value = values[i];
    last_value_[step.path] = step.value;
    if (std::isnan(step.value)) {
      Prune(pool, batch[i], "its step got no value");
    } else {
      valued.push_back(batch[i]);
    }
  }
  phase_ = Phase::kWriting;
  Status status = OnSteps(pool, valued);
  if (status && phase_ == Phase::kWriting && batch_.empty()) {
    Stop(pool, "no node could be expanded");
  }
  return status;
}

bool StepTreeMethod::StandsAt(const Pool& pool, int index) const {
  const StepNode& at = node(index);
  return at.path != kNoPath && pool.path(at.path).running() && !IsWriting(at.path) &&
         pool.path(at.path).length() == at.end;
}

bool StepTreeMethod::SetAside(Pool& pool) {
  PathId least = kNoPath;
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    const bool waits = path.granted == 0 && path.scores_due == 0 && !IsWriting(id);
    if (path.kind == PathKind::kReasoning && waits && id != held_ &&
        (least == kNoPath || Sureness(path) < Sureness(pool.path(least)))) {
      least = id;
    }
  }
  if (least == kNoPath) {
    return false;
  }
  pool.Finish(least, PathStatus::kPruned, "set aside: its lane and cells are needed");
  return true;
}

template <class Open>
Result<PathId> StepTreeMethod::WithRoom(Pool& pool, const Open& open) {
  const auto lanes = static_cast<size_t>(pool.reservation().lanes);
  while (pool.running().size() >= lanes) {
    if (!SetAside(pool)) {
      return Error{ErrorCode::kResourceExhausted,
                   fmt::format("all {} lanes of the session are in use", lanes)};
    }
  }
  Result<PathId> opened = open();
  while (!opened && opened.error().code == ErrorCode::kResourceExhausted && SetAside(pool)) {
    opened = open();
  }
  return opened;
}

Result<PathId> StepTreeMethod::Fork(Pool& pool, PathId path) {
  held_ = path;
  const int child = ++forks_[path];
  Result<PathId> forked =
      WithRoom(pool, [&] { return pool.Fork(path, pool.path(path).length(), child); });
  held_ = kNoPath;
  return forked;
}

Result<PathId> StepTreeMethod::OpenRoot(Pool& pool) {
  const uint64_t number = next_path_++;
  return WithRoom(pool, [&] { return pool.Open(number, /*warmup=*/false); });
}

Result<PathId> StepTreeMethod::Materialise(Pool& pool, int index) {
  if (index == 0 || StandsAt(pool, index)) {
    return index == 0 ? OpenRoot(pool) : Result<PathId>(node(index).path);
  }
  Result<PathId> opened = OpenRoot(pool);
  if (!opened) {
    return opened;
  }
  StepNode& at = MutableNode(index);
  const std::vector<Token>& tokens = pool.path(at.path).tokens;
  const std::vector<Token> again(tokens.begin(), tokens.begin() + at.end);
  Status status = pool.Extend(*opened, again);
  if (!status) {
    return status.error();
  }
  last_value_[*opened] = at.value;
  at.path = *opened;
  return opened;
}

int StepTreeMethod::BeginStep(Pool& pool, int parent, PathId path) {
  const int index = static_cast<int>(nodes_.size());
  StepNode step;
  step.parent = parent;
  step.depth = node(parent).depth + 1;
  step.path = path;
  step.begin = pool.path(path).length();
  step.end = step.begin;
  nodes_.push_back(step);
  batch_.push_back(index);
  writing_.insert_or_assign(path,
                            Writing{index, StepBoundary(delimiter_, options_.tree.step_tokens)});
  return index;
}

// Of an engine that has no more lanes only a notice is made: the search goes on, narrower.
Status StepTreeMethod::NoteShortage(Pool& pool, const Error& error, size_t got, int wanted) {
  if (error.code != ErrorCode::kResourceExhausted) {
    return error;
  }
  pool.Emit(NoticeRecord{
      fmt::format("expanded a step into {} of {} continuations: {}", got, wanted, error.message)});
  return {};
}

Result<std::vector<int>> StepTreeMethod::Expand(Pool& pool, int index, int count) {
  std::vector<PathId> paths;
  while (static_cast<int>(paths.size()) < count) {
    Result<PathId> more =
        index == 0 || paths.empty() ? Materialise(pool, index) : Fork(pool, paths.front());
    if (!more) {
      Status status = NoteShortage(pool, more.error(), paths.size(), count);
      if (!status) {
        return status.error();
      }
      break;
    }
    // Counts as writing from here on, so that the next one cannot set it aside.
    writing_.emplace(*more, Writing{index, StepBoundary(delimiter_, 1)});
    paths.push_back(*more);
  }
  std::vector<int> children;
  children.reserve(paths.size());
  for (const PathId path : paths) {
    children.push_back(BeginStep(pool, index, path));
  }
  return children;
}

Result<std::vector<int>> StepTreeMethod::Probe(Pool& pool, int index) {
  Result<PathId> lane = Materialise(pool, index);
  Result<PathId> forked = lane ? Fork(pool, *lane) : lane;
  if (forked) {
    return std::vector<int>{BeginStep(pool, index, *forked)};
  }
  Status status = NoteShortage(pool, forked.error(), 0, 1);
  return status ? Result<std::vector<int>>(std::vector<int>()) : status.error();
}

void StepTreeMethod::Prune(Pool& pool, int index, const std::string& reason) {
  if (StandsAt(pool, index)) {
    pool.Finish(node(index).path, PathStatus::kPruned, reason);
  }
}

void StepTreeMethod::Stop(Pool& pool, const std::string& reason) {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    pool.Finish(id, PathStatus::kPruned, reason);
  }
  phase_ = Phase::kDone;
}

bool StepTreeMethod::AtDepthLimit(int index) const {
  return options_.tree.steps > 0 && node(index).depth >= options_.tree.steps;
}

std::string StepTreeMethod::StepText(Pool& pool, int index) const {
  return TextBetween(pool, node(index).path, node(index).begin, node(index).end);
}

double StepTreeMethod::Draw(const Pool& pool) {
  return Uniform(pool.paths().front().key, draws_++, Purpose::kStep);
}

double StepTreeMethod::Weight(const Pool& /*pool*/, const Path& path) const {
  const auto at = last_value_.find(path.id);
  return at == last_value_.end() ? Path::kUnknown : at->second;
}

bool StepTreeMethod::Votes(const Pool& pool, const Path& path) const {
  return Method::Votes(pool, path) && !path.warmup && CameToItsEnd(path.status);
}

}  // namespace hyper
