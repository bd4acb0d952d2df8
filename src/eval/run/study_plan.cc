#include "src/eval/run/study_plan.h"

#include <fmt/format.h>

#include <utility>

#include "hyper/step_reward.h"
#include "src/core/random.h"

namespace hyper::eval {
namespace {

bool NeedsRewardModel(const std::string& method) { return method.ends_with("-prm"); }

}  // namespace

uint64_t RepeatSeed(uint64_t seed, int repeat) {
  if (repeat == 0) {
    return seed;
  }
  const auto words = Philox(seed, {static_cast<uint32_t>(repeat), 0, 0, 0});
  return uint64_t{words[1]} << 32U | words[0];
}

uint64_t QuestionKey(const std::string& suite, const std::string& id) {
  // FNV-1a, 64 bits, over "suite\0id".
  uint64_t hash = 0xCBF29CE484222325U;
  std::string bytes = suite;
  bytes += '\0';
  bytes += id;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return hash;
}

Result<std::unique_ptr<Method>> MakeRowMethod(const StudyPlan& plan, const StudyRow& row) {
  const std::string& method = row.plan.method;
  if (!NeedsRewardModel(method) || plan.reward == nullptr) {
    return std::unique_ptr<Method>();
  }
  if (plan.parallel != 1) {
    return InvalidArgument(method +
                           " asks a reward model, which serves one question at a time; leave "
                           "--parallel at 1");
  }
  return MakeStepMethod(row.plan, MakeProcessReward(*plan.reward, {}));
}

StoredRun RunOf(const StudyPlan& plan, const StudyRow& row, const ModelInfo& model) {
  StoredRun run;
  run.label = row.label;
  run.method = row.plan.method;
  run.suite = plan.suite.name;
  run.model = model.name;
  run.model_hash = model.hash;
  run.engine = plan.engine;
  run.version = plan.program_version;
  run.seed = plan.seed;
  MethodOptions options = row.plan.options;
  for (const Option& option : OptionsOf(options)) {
    run.settings[option.info().name] = option.Text();
  }
  run.settings["determinism"] = plan.strict ? "strict" : "fast";
  run.settings["reserved-lanes"] = std::to_string(row.reservation.lanes);
  run.settings["reserved-cells"] = std::to_string(row.reservation.cells);
  run.settings["budget-tokens"] = std::to_string(plan.limits.budget_tokens);
  run.settings["time"] = fmt::format("{}", plan.limits.time_s);
  if (plan.reward != nullptr && NeedsRewardModel(row.plan.method)) {
    run.settings["reward-model"] = plan.reward->model().name + " " + plan.reward->model().hash;
  }
  // Where results depend on what else is decoded beside them, that is part of what they are.
  if (!plan.strict) {
    run.settings["parallel"] = std::to_string(plan.parallel);
  }
  return run;
}

}  // namespace hyper::eval
