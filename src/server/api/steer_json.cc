#include "src/server/api/steer_json.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/server/api/parse_fields.h"

namespace hyper::server {
namespace {

using Kind = RunCommand::Kind;

constexpr int kMostTokens = 1 << 20;
constexpr int64_t kMostBudget = int64_t{1} << 52;
constexpr double kMostTime_s = 1e9;

void ReadCount(FieldReader& fields, const ServerLimits& limits, RunCommand& command) {
  const int own = limits.most_width > 0 ? limits.most_width : RunCommand::kMostPaths;
  fields.TakeWithin("n", 1, std::min(own, RunCommand::kMostPaths), command.count);
}

void ReadFork(FieldReader& fields, const ServerLimits& limits, RunCommand& command) {
  int at = 0;
  if (fields.TakeWithin("at", 0, kMostTokens, at)) {
    command.at = at;
  }
  fields.Take("text", command.text);
  ReadCount(fields, limits, command);
  double temperature = 0;
  if (fields.TakeWithin("temperature", 0.0, 100.0, temperature)) {
    command.temperature = temperature;
  }
  uint64_t seed = 0;
  if (fields.Take("seed", seed)) {
    command.seed = seed;
  }
}

void ReadLimits(FieldReader& fields, const ServerLimits& limits, RunCommand& command) {
  SessionLimits& wanted = command.limits;
  const bool budget =
      fields.TakeWithin("budget-tokens", int64_t{0}, kMostBudget, wanted.budget_tokens);
  const bool time = fields.TakeWithin("time", 0.0, kMostTime_s, wanted.time_s);
  if (!budget && !time) {
    fields.Fail("budget-tokens", "'budget-tokens' and 'time' are missing; 0 is no limit");
  }
  command.has_budget = budget;
  command.has_time = time;
  const double most_s = limits.most_time_s;
  if (most_s > 0) {
    wanted.time_s = wanted.time_s > 0 ? std::min(wanted.time_s, most_s) : most_s;
  }
}

void Read(FieldReader& fields, const ServerLimits& limits, RunCommand& command) {
  switch (command.kind) {
    case Kind::kCancel:
    case Kind::kPrune:
      break;
    case Kind::kFork:
      ReadFork(fields, limits, command);
      break;
    case Kind::kFinish:
      fields.Take("text", command.text);
      break;
    case Kind::kWiden:
      ReadCount(fields, limits, command);
      break;
    case Kind::kLimits:
      ReadLimits(fields, limits, command);
      break;
    case Kind::kGrant:
      if (!fields.TakeWithin("tokens", 1, kMostTokens, command.tokens)) {
        fields.Fail("tokens", "'tokens' is missing; it takes the number of tokens to grant");
      }
      break;
  }
}

}  // namespace

std::variant<RunCommand, ApiError> ParseCommand(RunCommand::Kind kind, const std::string& body,
                                                const ServerLimits& limits) {
  return ParseFields<RunCommand>(body.empty() ? "{}" : body,
                                 [&](FieldReader& fields, RunCommand& command) {
                                   command.kind = kind;
                                   Read(fields, limits, command);
                                   fields.RefuseOthers("is not known here");
                                 });
}

}  // namespace hyper::server
