#include "src/server/scheduler/steering.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "src/decode/fork_steps.h"

namespace hyper::server {
namespace {

// Numbers of paths on the prompt that no method opens: so none is drawn twice.
constexpr uint64_t kRequestedIndex = uint64_t{1} << 20U;

ApiError Conflict(const char* code, std::string message) {
  return {409, "invalid_request_error", code, "path", std::move(message)};
}

ApiError NotRunning(const LiveRun& run, int path) {
  return Conflict("path_not_running", fmt::format("path {} of {} is not running", path, run.id()));
}

bool Exists(const Pool& pool, int path) {
  return path >= 0 && path < static_cast<int>(pool.paths().size());
}

bool Runs(const Pool& pool, int path) { return Exists(pool, path) && pool.path(path).running(); }

void Note(Pool& pool, std::string text) { pool.Emit(NoticeRecord{std::move(text)}); }

// What a new path gets of the round: as much as another one has, or all that it may take where the
// method lets paths run to their end.
int RoundOf(const Pool& pool) {
  const int most = pool.options().max_tokens;
  int round = 1;
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    round = std::max(round, path.length() + path.granted >= most ? most : path.granted);
  }
  return round;
}

// Records of the last `count` tokens of a path, which were given to it and not generated.
void TellGiven(Pool& pool, PathId id, int count) {
  if (!pool.config().token_records) {
    return;
  }
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  for (int at = pool.path(id).length() - count; at < pool.path(id).length(); ++at) {
    const Token token = pool.path(id).tokens[static_cast<size_t>(at)];
    pool.Emit(TokenRecord{id, at, token, pool.engine().TokenText(token), kUnknown, kUnknown,
                          kUnknown,
                          /*routes=*/0, kUnknown, kUnknown, kUnknown});
  }
}

Result<std::vector<Token>> TextTokens(Engine& engine, const std::string& text) {
  return text.empty() ? std::vector<Token>() : engine.Tokenize(text, /*parse_special=*/false);
}

// Paths for which the run has lanes, and cells beside those that its running paths are granted.
int FreeLanes(const Pool& pool, int round) {
  int64_t cells = pool.FreeCells();
  for (const PathId id : pool.running()) {
    cells -= pool.path(id).granted;
  }
  const auto lanes = pool.reservation().lanes - static_cast<int64_t>(pool.running().size());
  return static_cast<int>(std::max<int64_t>(std::min(lanes, cells / round), 0));
}

// Opens `count` paths, each by `open(number)`, and gives them their part of the round.
template <class Open>
Steered OpenAll(LiveRun& run, int count, int free_lanes, Open open) {
  Pool& pool = run.session()->pool();
  if (run.plain()) {
    return {{}, BadField("path", "plain decoding has no pool; ask for more choices")};
  }
  const int round = RoundOf(pool);
  const int free = FreeLanes(pool, round);
  if (free + free_lanes < count) {
    return {{},
            Conflict("no_lane", fmt::format("there are lanes and cells for {} more paths; end "
                                            "others first",
                                            free + free_lanes))};
  }
  run.session()->Widen(std::max(count - free, 0));
  Steered steered;
  for (int i = 0; i < count; ++i) {
    const Result<PathId> path = open(i);
    const Status granted = path ? pool.Grant(*path, round) : Status(path.error());
    if (!granted) {
      steered.error = FromError(granted.error());
      return steered;
    }
    steered.paths.push_back(*path);
  }
  return steered;
}

Steered Fork(Engine& engine, LiveRun& run, const RunCommand& command, int number, int free_lanes) {
  Pool& pool = run.session()->pool();
  if (!Exists(pool, command.path)) {
    return {{}, NotRunning(run, command.path)};
  }
  if (!command.at && !Runs(pool, command.path)) {
    return {{},
            Conflict("path_not_running",
                     fmt::format("path {} has ended; 'at' says at which of its tokens it is "
                                 "continued",
                                 command.path))};
  }
  Result<std::vector<Token>> text = TextTokens(engine, command.text);
  if (!text) {
    return {{}, FromError(text.error())};
  }
  const ForkPoint point{command.at.value_or(pool.path(command.path).length()), std::move(*text),
                        command.temperature, command.seed};
  Steered steered = OpenAll(run, command.count, free_lanes, [&](int i) {
    // A seed of the client's own gives the same paths again.
    Result<PathId> path = pool.ForkAt(command.path, point, kRequestedForkStep,
                                      command.seed ? i : number * RunCommand::kMostPaths + i);
    if (path) {
      TellGiven(pool, *path, static_cast<int>(point.text.size()));
    }
    return path;
  });
  for (const int path : steered.paths) {
    Note(pool,
         fmt::format("path {} continues path {} from token {} by request{}", path, command.path,
                     point.position, command.text.empty() ? "" : ", behind a given text"));
  }
  return steered;
}

Steered Widen(LiveRun& run, const RunCommand& command, int number, int free_lanes) {
  Pool& pool = run.session()->pool();
  Steered steered = OpenAll(run, command.count, free_lanes, [&](int i) {
    const auto index = static_cast<uint64_t>(number) * RunCommand::kMostPaths;
    return pool.Open(kRequestedIndex + index + static_cast<uint64_t>(i), /*warmup=*/false);
  });
  if (!steered.paths.empty()) {
    Note(pool, fmt::format("{} more paths by request, from path {} on", steered.paths.size(),
                           steered.paths.front()));
  }
  return steered;
}

Steered Finish(Engine& engine, LiveRun& run, const RunCommand& command) {
  Pool& pool = run.session()->pool();
  if (command.text.empty()) {
    pool.Finish(command.path, PathStatus::kLength, "ended by request");
    return {};
  }
  const Result<std::vector<Token>> text = TextTokens(engine, command.text);
  if (!text) {
    return {{}, FromError(text.error())};
  }
  const int left = pool.path(command.path).granted;
  Status status = pool.Pause(command.path);
  status = status ? pool.Extend(command.path, *text) : status;
  if (status) {
    TellGiven(pool, command.path, static_cast<int>(text->size()));
    Note(pool, fmt::format("path {} was given a text at token {} by request", command.path,
                           pool.path(command.path).length() - static_cast<int>(text->size())));
    status = pool.Grant(command.path, left);
  }
  return {{}, status ? std::nullopt : std::optional(FromError(status.error()))};
}

Steered SetLimits(LiveRun& run, const RunCommand& command) {
  SessionLimits limits = run.session()->limits();
  limits.budget_tokens = command.has_budget ? command.limits.budget_tokens : limits.budget_tokens;
  limits.time_s = command.has_time ? command.limits.time_s : limits.time_s;
  run.session()->SetLimits(limits);
  const auto words = [](double value, const char* unit) {
    return value > 0 ? fmt::format("{} {}", value, unit) : std::string("none");
  };
  Note(run.session()->pool(),
       fmt::format("limits by request: budget {}, time {}",
                   words(static_cast<double>(limits.budget_tokens), "tokens"),
                   words(limits.time_s, "s")));
  return {};
}

}  // namespace

Steered Steer(Engine& engine, LiveRun& run, const RunCommand& command, int number, int free_lanes) {
  Pool& pool = run.session()->pool();
  switch (command.kind) {
    case RunCommand::Kind::kCancel:
      run.session()->Stop("cancelled by request");
      return {};
    case RunCommand::Kind::kFork:
      return Fork(engine, run, command, number, free_lanes);
    case RunCommand::Kind::kWiden:
      return Widen(run, command, number, free_lanes);
    case RunCommand::Kind::kLimits:
      return SetLimits(run, command);
    case RunCommand::Kind::kPrune:
    case RunCommand::Kind::kFinish:
    case RunCommand::Kind::kGrant:
      break;
  }
  if (!Runs(pool, command.path)) {
    return {{}, NotRunning(run, command.path)};
  }
  if (command.kind == RunCommand::Kind::kFinish) {
    return Finish(engine, run, command);
  }
  if (command.kind == RunCommand::Kind::kPrune) {
    pool.Finish(command.path, PathStatus::kPruned, "pruned by request");
    return {};
  }
  const Status status = pool.Grant(command.path, command.tokens);
  return {{}, status ? std::nullopt : std::optional(FromError(status.error()))};
}

}  // namespace hyper::server
