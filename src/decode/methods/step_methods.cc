#include "src/decode/methods/step_methods.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hyper/step_reward.h"
#include "src/decode/methods/ets.h"
#include "src/decode/methods/judge_reward.h"
#include "src/decode/methods/mcts.h"
#include "src/decode/methods/rebase.h"
#include "src/decode/methods/tot.h"

namespace hyper {
namespace {

using Reward = std::unique_ptr<StepReward>;

template <class T>
std::unique_ptr<Method> Make(const MethodOptions& options, Reward reward) {
  return std::make_unique<T>(options, std::move(reward));
}

struct Row {
  const char* name;
  const char* vote;
  const char* description;
  std::unique_ptr<Method> (*make)(const MethodOptions& options, Reward reward);
};

constexpr auto kRows = std::to_array<Row>({
    {"tot", "majority", "Tree of Thoughts: a beam of states, or --search dfs",
     Make<TreeOfThoughts>},
    {"mcts", "best", "tree search by UCT with rollouts (ReST-MCTS*)", Make<Mcts>},
    {"rebase", "weighted", "reward-balanced tree of steps (REBASE)", Make<Rebase>},
    {"ets", "weighted", "REBASE whose nodes an integer program picks (ETS)", Make<Ets>},
});

constexpr std::array<std::string_view, 4> kRewards = {"conf", "ptrue", "judge", "prm"};

const Row* FindRow(std::string_view name) {
  const auto at =
      std::find_if(kRows.begin(), kRows.end(), [name](const Row& row) { return name == row.name; });
  return at == kRows.end() ? nullptr : &*at;
}

struct Parsed {
  const Row* row = nullptr;
  std::string_view reward;  // empty: as the options say
};

std::optional<Parsed> Parse(std::string_view name) {
  const size_t dash = name.find('-');
  const std::string_view reward =
      dash == std::string_view::npos ? std::string_view() : name.substr(dash + 1);
  const Row* row = FindRow(name.substr(0, dash));
  const bool known = dash == std::string_view::npos ||
                     std::find(kRewards.begin(), kRewards.end(), reward) != kRewards.end();
  return row != nullptr && known ? std::optional(Parsed{row, reward}) : std::nullopt;
}

}  // namespace

std::vector<MethodInfo> StepMethods() {
  std::vector<MethodInfo> methods;
  methods.reserve(kRows.size());
  for (const Row& row : kRows) {
    methods.push_back({std::string(row.name) + "-conf",
                       std::string(row.description) +
                           ", steps valued by confidence (also -ptrue, -judge, -prm)"});
  }
  return methods;
}

bool ApplyStepMethodDefaults(const std::string& name, MethodOptions& options) {
  const std::optional<Parsed> parsed = Parse(name);
  if (!parsed) {
    return false;
  }
  options.vote = parsed->row->vote;
  if (!parsed->reward.empty()) {
    options.tree.reward = parsed->reward;
  }
  return true;
}

Result<std::unique_ptr<Method>> MakeNamedStepMethod(const std::string& name,
                                                    const MethodOptions& options) {
  const std::optional<Parsed> parsed = Parse(name);
  if (!parsed) {
    return Error{ErrorCode::kNotFound, "step-wise method '" + name + "' is not known"};
  }
  const std::string reward(parsed->reward.empty() ? options.tree.reward : parsed->reward);
  // Tree of Thoughts has a judge's words in place of a number.
  if (reward == "judge" && parsed->row == FindRow("tot")) {
    return parsed->row->make(options, std::make_unique<JudgeReward>(options, JudgeScale::kWords));
  }
  Result<Reward> made = MakeStepReward(reward, options);
  if (!made) {
    return made.error();
  }
  return parsed->row->make(options, std::move(*made));
}

Result<std::unique_ptr<Method>> MakeStepMethod(const std::string& name,
                                               const MethodOptions& options, Reward reward) {
  const Row* row = FindRow(name);
  if (row == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "step-wise method '" + name + "' is not known; take tot, mcts, rebase or ets"};
  }
  return row->make(options, std::move(reward));
}

}  // namespace hyper
