#include "src/decode/methods/probed_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hyper/equal.h"

namespace hyper {
namespace {

constexpr int kEqualProbes = 8;

// What a path answers now.
const std::string& AnswerNow(const Path& path) {
  return path.running() && !path.probed.empty() ? path.probed.back() : path.answer;
}

bool IsStable(const std::vector<std::string>& probed) {
  if (probed.size() < kEqualProbes) {
    return false;
  }
  const std::vector<std::string> last(probed.end() - kEqualProbes, probed.end());
  const std::vector<int> groups = GroupAnswers(last);
  return std::all_of(last.begin(), last.end(),
                     [](const auto& answer) { return !answer.empty(); }) &&
         std::all_of(groups.begin(), groups.end(), [](int group) { return group == 0; });
}

}  // namespace

bool ParallelProbe::Votes(const Pool& pool, const Path& path) const {
  return SelfConsistency::Votes(pool, path) && path.status != PathStatus::kPruned;
}

void ParallelProbe::OnProbed(Pool& pool) {
  // As its program has it: the first answers start the branches, the second ones are the first
  // step.
  if (!std::exchange(started_, true)) {
    return;
  }
  std::vector<PathId> ids;
  std::vector<std::string> answers;  // "": none; the last winner comes after them
  for (const Path& path : pool.paths()) {
    if (path.kind == PathKind::kReasoning) {
      ids.push_back(path.id);
      answers.push_back(AnswerNow(path));
    }
  }
  answers.push_back(winner_);
  const std::vector<int> groups = GroupReplies(answers);
  std::vector<ProbedBranch> branches;
  for (size_t i = 0; i < ids.size(); ++i) {
    branches.push_back({groups[i], pool.path(ids[i]).running()});
  }
  const bool stable = StepParallelProbe(branches, groups.back(), ProbeRules(), state_);
  winner_.clear();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (branches[i].answer >= 0 && branches[i].answer == state_.winner) {
      winner_ = answers[i];
    }
    if (state_.pruned[i]) {
      pool.Finish(ids[i], PathStatus::kPruned, "its probes differ from the majority");
    }
  }
  if (stable) {
    pool.Emit(NoticeRecord{fmt::format("the majority of the probes has been {} for {} probes",
                                       winner_, state_.stable)});
    pool.CancelAll("the majority is stable");
  }
}

void StablePaths::OnProbed(Pool& pool) {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    if (IsStable(pool.path(id).probed)) {
      pool.Finish(id, PathStatus::kCancelled,
                  fmt::format("the last {} probes agree", kEqualProbes));
    }
  }
}

}  // namespace hyper
