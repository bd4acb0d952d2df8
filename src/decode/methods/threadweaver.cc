#include "src/decode/methods/threadweaver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "src/decode/methods/grants.h"

namespace hyper {
namespace {

constexpr std::string_view kOutlinesOpen = "<Outlines>";
constexpr std::string_view kOutlinesClose = "</Outlines>";
constexpr std::string_view kOutline = "<Outline>";
constexpr std::string_view kThreadClose = "</Thread>";
constexpr int kMaxStates = 32;

bool IsDigit(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// End of a number "n", "n.m", ... at `at`; `at` itself where there is none.
size_t NumberEnd(std::string_view text, size_t at) {
  while (IsDigit(text, at)) {
    ++at;
    if (at < text.size() && text[at] == '.' && IsDigit(text, at + 1)) {
      ++at;
    }
  }
  return at;
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) {
    ++at;
  }
  return at;
}

// Tokenises and appends.
Status Append(Pool& pool, std::string_view text, std::vector<Token>& tokens) {
  Result<std::vector<Token>> more = pool.engine().Tokenize(text, /*parse_special=*/true);
  if (!more) {
    return more.error();
  }
  tokens.insert(tokens.end(), more->begin(), more->end());
  return {};
}

}  // namespace

std::vector<std::string> OutlineNumbers(std::string_view text) {
  std::vector<std::string> numbers;
  size_t at = text.rfind(kOutlinesOpen);
  while (at != std::string_view::npos) {
    at = text.find(kOutline, at);
    if (at == std::string_view::npos) {
      break;
    }
    const size_t begin = SkipSpace(text, at + kOutline.size());
    const size_t end = NumberEnd(text, begin);
    const size_t colon = SkipSpace(text, end);
    const std::string number(text.substr(begin, end - begin));
    if (end > begin && colon < text.size() && text[colon] == ':' &&
        std::find(numbers.begin(), numbers.end(), number) == numbers.end()) {
      numbers.push_back(number);
    }
    at += kOutline.size();
  }
  return numbers;
}

Status ThreadWeaver::Start(Pool& pool) {
  Status status = OpenPaths(pool, 0, options_.width, /*warmup=*/false);
  for (const PathId id : pool.running()) {
    Trajectory trajectory;
    trajectory.trunk = id;
    trajectories_.push_back(trajectory);
  }
  return status ? OnSettled(pool) : status;
}

void ThreadWeaver::OnToken(Pool& pool, PathId id) {
  if (!pool.path(id).running()) {
    return;
  }
  bool pause = false;
  for (Trajectory& trajectory : trajectories_) {
    if (trajectory.trunk == id) {
      const std::string& text = pool.path(id).text;
      const size_t from = std::max(trajectory.read, kOutlinesClose.size()) - kOutlinesClose.size();
      pause = trajectory.outlined = text.find(kOutlinesClose, from) != std::string::npos;
      trajectory.read = text.size();
    }
    for (Thread& thread : trajectory.threads) {
      if (thread.path == id) {
        // The text before the thread may hold the tag of an earlier block.
        const std::string& text = pool.path(id).text;
        const size_t begin = pool.path(trajectory.trunk).text.size();
        pause = thread.closed = text.find(kThreadClose, begin) != std::string::npos;
      }
    }
  }
  if (pause) {
    // Pause fails only for a lane that the engine has lost, which it reports by itself.
    (void)pool.Pause(id).ok();
  }
}

std::vector<PathId> ThreadWeaver::Writers(const Pool& pool) const {
  std::vector<PathId> writers;
  for (const Trajectory& trajectory : trajectories_) {
    if (trajectory.threads.empty() && pool.path(trajectory.trunk).running()) {
      writers.push_back(trajectory.trunk);
    }
    for (const Thread& thread : trajectory.threads) {
      if (thread.path != kNoPath && !thread.closed && pool.path(thread.path).running()) {
        writers.push_back(thread.path);
      }
    }
  }
  return writers;
}

Status ThreadWeaver::OnSettled(Pool& pool) {
  while (!done_ && pool.settled()) {
    for (Trajectory& trajectory : trajectories_) {
      Status status = Advance(pool, trajectory);
      if (!status) {
        return status;
      }
    }
    if (pool.running().empty()) {
      Report(pool);
      done_ = true;
      break;
    }
    Status status = GrantEach(
        pool, Writers(pool), options_.interval, [this](PathId) { return options_.interval; },
        [] { return false; });
    if (!status) {
      return status;
    }
  }
  return {};
}

bool ThreadWeaver::Done(const Pool& /*pool*/) const { return done_; }

// Changes the state of a trajectory where it is due.
Status ThreadWeaver::Advance(Pool& pool, Trajectory& trajectory) {
  if (!pool.path(trajectory.trunk).running()) {
    for (const Thread& thread : trajectory.threads) {  // the trunk was lost: nothing to join
      if (thread.path != kNoPath) {
        pool.Finish(thread.path, PathStatus::kPruned, "its trajectory has ended");
      }
    }
    return {};
  }
  if (trajectory.outlined) {
    trajectory.outlined = false;
    for (const std::string& number : OutlineNumbers(pool.path(trajectory.trunk).text)) {
      trajectory.threads.push_back({number, kNoPath, 0, false});
    }
    if (trajectory.threads.empty() || !CountState(pool, trajectory)) {
      trajectory.threads.clear();
      return {};
    }
  }
  if (trajectory.threads.empty()) {
    return {};
  }
  Status status = Spawn(pool, trajectory);
  if (!status || trajectory.threads.empty()) {
    return status;
  }
  const bool waiting = std::any_of(
      trajectory.threads.begin(), trajectory.threads.end(), [&pool](const Thread& thread) {
        return thread.path == kNoPath || (!thread.closed && pool.path(thread.path).running());
      });
  return waiting ? Status() : Join(pool, trajectory);
}

// Forks threads while there are lanes; the others follow as lanes come free. A closed thread gives
// its lane back at once.
Status ThreadWeaver::Spawn(Pool& pool, Trajectory& trajectory) {
  bool writing = false;
  for (const Thread& thread : trajectory.threads) {
    if (thread.path != kNoPath && thread.closed) {
      pool.Finish(thread.path, PathStatus::kMerged, "its thread is complete", trajectory.trunk);
    }
    writing |= thread.path != kNoPath && pool.path(thread.path).running();
  }
  for (size_t i = 0; i < trajectory.threads.size(); ++i) {
    Thread& thread = trajectory.threads[i];
    if (thread.path != kNoPath) {
      continue;
    }
    if (pool.FreeLanes(options_.interval) < 1 && writing) {
      break;
    }
    Result<PathId> forked = pool.Fork(trajectory.trunk, trajectory.states, static_cast<int>(i) + 1);
    if (!forked && writing) {
      break;
    }
    if (!forked) {
      pool.Emit(NoticeRecord{"decoding without threads: " + forked.error().message});
      trajectory.threads.clear();
      return {};
    }
    std::vector<Token> header;
    Status status = Append(pool, "\n<Thread>\n" + thread.number + ":", header);
    status = status ? pool.Extend(*forked, header) : status;
    if (!status) {
      return status;
    }
    thread.path = *forked;
    thread.header_tokens = static_cast<int>(header.size());
    writing = true;
    trajectory.activated = true;
    EndIfTooLong(pool, thread.path);
  }
  return {};
}

Status ThreadWeaver::Join(Pool& pool, Trajectory& trajectory) {
  std::vector<Token> joined;
  Status status;
  bool unclosed = false;
  int longest = 0;
  int all = 0;
  for (size_t i = 0; i < trajectory.threads.size() && status; ++i) {
    const Thread& thread = trajectory.threads[i];
    const Path& path = pool.path(thread.path);
    status = Append(pool, (i == 0 ? "\n<Thread>\n" : "<Thread>\n") + thread.number + ":", joined);
    const int begin = path.fork_position + thread.header_tokens;
    for (int at = begin; at < path.length(); ++at) {
      const Token token = path.tokens[static_cast<size_t>(at)];
      if (!pool.engine().IsEndOfGeneration(token)) {
        joined.push_back(token);
      }
    }
    if (!thread.closed) {
      unclosed = true;
      status = status ? Append(pool, "\n</Thread>", joined) : status;
    }
    longest = std::max(longest, path.length() - begin);
    all += path.length() - begin;
  }
  const bool close = unclosed || options_.tree.parallel_close == ParallelClose::kOrchestrator;
  status = status ? Append(pool, close ? "\n</Parallel>" : "\n", joined) : status;
  status = status ? pool.Extend(trajectory.trunk, joined) : status;
  if (!status) {
    return status;
  }
  trajectory.saved += all - longest;
  trajectory.threads.clear();
  trajectory.read = pool.path(trajectory.trunk).text.size();
  if (unclosed) {
    pool.Finish(trajectory.trunk, PathStatus::kLength, "a thread ended without </Thread>");
  } else if (!EndIfTooLong(pool, trajectory.trunk)) {
    CountState(pool, trajectory);
  }
  return {};
}

bool ThreadWeaver::EndIfTooLong(Pool& pool, PathId id) const {
  if (pool.path(id).length() < options_.max_tokens) {
    return false;
  }
  pool.Finish(id, PathStatus::kLength, fmt::format("max-tokens {}", options_.max_tokens));
  return true;
}

bool ThreadWeaver::CountState(Pool& pool, Trajectory& trajectory) {
  if (++trajectory.states <= kMaxStates) {
    return true;
  }
  pool.Finish(trajectory.trunk, PathStatus::kLength,
              fmt::format("{} changes between sequential and parallel", kMaxStates));
  return false;
}

double ThreadWeaver::activation_ratio() const {
  const auto activated =
      std::count_if(trajectories_.begin(), trajectories_.end(),
                    [](const Trajectory& trajectory) { return trajectory.activated; });
  return trajectories_.empty()
             ? 0.0
             : static_cast<double>(activated) / static_cast<double>(trajectories_.size());
}

double ThreadWeaver::acceleration(const Pool& pool) const {
  int64_t saved = 0;
  for (const Trajectory& trajectory : trajectories_) {
    saved += trajectory.saved;
  }
  const int64_t all = pool.ledger().generated;
  return all > 0 ? static_cast<double>(saved) / static_cast<double>(all) : 0.0;
}

void ThreadWeaver::Report(Pool& pool) {
  pool.Emit(NoticeRecord{fmt::format(
      "threadweaver, untrained: activation ratio {:.3f} over {} trajectories, acceleration {:.3f}",
      activation_ratio(), trajectories_.size(), acceleration(pool))});
}

bool ThreadWeaver::Votes(const Pool& pool, const Path& path) const {
  return Method::Votes(pool, path) && path.status != PathStatus::kPruned &&
         std::any_of(trajectories_.begin(), trajectories_.end(),
                     [&path](const Trajectory& one) { return one.trunk == path.id; });
}

}  // namespace hyper
