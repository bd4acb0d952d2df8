#include "src/decode/methods/tot.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hyper {
namespace {

constexpr int kBranches = 5;
constexpr int kKept = 5;
constexpr int kExpansions = 100;

}  // namespace

int TreeOfThoughts::Branches() const {
  return options().tree.branches > 0 ? options().tree.branches : kBranches;
}

Status TreeOfThoughts::Plant(Pool& pool) {
  ++expansions_;
  const Result<std::vector<int>> children = Expand(pool, 0, Branches());
  return children ? Status() : children.error();
}

Status TreeOfThoughts::OnSteps(Pool& pool, const std::vector<int>& steps) {
  const std::vector<int> different = WithoutRepeats(pool, steps);
  return InDepth() ? OnDepth(pool, different) : OnLevel(pool, different);
}

std::vector<int> TreeOfThoughts::WithoutRepeats(Pool& pool, const std::vector<int>& steps) {
  std::set<std::pair<int, std::string>> seen;  // parent and words
  std::vector<int> different;
  for (const int step : steps) {
    if (seen.emplace(node(step).parent, StepText(pool, step)).second) {
      different.push_back(step);
    } else {
      Prune(pool, step, "a sibling wrote the same step");
    }
  }
  return different;
}

Status TreeOfThoughts::OnLevel(Pool& pool, const std::vector<int>& steps) {
  std::vector<int> states;
  std::copy_if(beam_.begin(), beam_.end(), std::back_inserter(states),
               [this](int state) { return node(state).ended; });
  states.insert(states.end(), steps.begin(), steps.end());
  std::stable_sort(states.begin(), states.end(),
                   [this](int a, int b) { return node(a).value > node(b).value; });
  const auto kept = static_cast<size_t>(options().tree.keep > 0 ? options().tree.keep : kKept);
  beam_.assign(states.begin(),
               states.begin() + static_cast<std::ptrdiff_t>(std::min(kept, states.size())));
  found_.clear();
  for (const int state : beam_) {
    found_.insert(node(state).path);
  }
  for (size_t i = beam_.size(); i < states.size(); ++i) {
    Prune(pool, states[i],
          fmt::format("value {:.3f} is not among the best", node(states[i]).value));
  }
  for (const int state : beam_) {
    if (!node(state).ended && !AtDepthLimit(state)) {
      const Result<std::vector<int>> children = Expand(pool, state, Branches());
      if (!children) {
        return children.error();
      }
    }
  }
  return {};
}

Status TreeOfThoughts::OnDepth(Pool& pool, const std::vector<int>& steps) {
  std::vector<int> states;
  for (const int step : steps) {
    if (node(step).value > options().tree.prune_value) {
      states.push_back(step);
    } else {
      Prune(pool, step, fmt::format("value {:.3f} is too low to enter", node(step).value));
    }
  }
  // The best last, on top of the stack; of equals the earlier.
  std::stable_sort(states.begin(), states.end(),
                   [this](int a, int b) { return node(a).value > node(b).value; });
  beam_.insert(beam_.end(), states.rbegin(), states.rend());
  return Descend(pool);
}

Status TreeOfThoughts::Descend(Pool& pool) {
  const int limit = options().tree.iterations > 0 ? options().tree.iterations : kExpansions;
  while (!beam_.empty()) {
    const int state = beam_.back();
    beam_.pop_back();
    if (node(state).ended) {
      found_.insert(node(state).path);
      if (node(state).value >= options().tree.end_value) {
        Stop(pool, "an answer of enough value was found");
        return {};
      }
    } else if (AtDepthLimit(state)) {
      Prune(pool, state, fmt::format("{} steps without an end", node(state).depth));
    } else if (expansions_ == limit) {
      break;
    } else {
      ++expansions_;
      const Result<std::vector<int>> children = Expand(pool, state, Branches());
      if (!children) {
        return children.error();
      }
      if (!children->empty()) {
        return {};
      }
    }
  }
  Stop(pool, "the search is over");
  return {};
}

std::string TreeOfThoughts::VoteRule(const Pool& pool) const {
  return InDepth() ? "best" : StepTreeMethod::VoteRule(pool);
}

bool TreeOfThoughts::Votes(const Pool& pool, const Path& path) const {
  return StepTreeMethod::Votes(pool, path) && found_.count(path.id) > 0;
}

}  // namespace hyper
