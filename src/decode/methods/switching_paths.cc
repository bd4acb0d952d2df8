#include "src/decode/methods/switching_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyper/equal.h"

namespace hyper {
namespace {

bool SameReply(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a.empty() && b.empty()
                                : AnswersEqual(a, b).verdict == Verdict::kEqual;
}

}  // namespace

int SwitchingPaths::Next(Pool& pool) {
  const int width = options().width;
  if (opened() == 0) {
    return std::min(options().mars_warmup, width);
  }
  if (opened() < width) {
    Learn(pool);
  }
  return width - opened();
}

void SwitchingPaths::Note(const Path& path) {
  const auto id = static_cast<size_t>(path.id);
  asked_.resize(std::max(asked_.size(), id + 1));
  std::vector<Asked>& probes = asked_[id];
  if (path.probed.size() == probes.size()) {
    return;  // lanes were few: it was not asked this time
  }
  Asked asked;
  asked.answer = path.probed.back();
  const double confidence = std::isfinite(path.window_mean) ? path.window_mean : 0.0;
  const bool same = !probes.empty() && SameReply(probes.back().answer, asked.answer);
  asked.state = NextSwitchFeatures(probes.empty() ? nullptr : &probes.back().state, path.length(),
                                   confidence, same);
  probes.push_back(std::move(asked));
}

void SwitchingPaths::Learn(const Pool& pool) {
  asked_.resize(pool.paths().size());
  std::vector<const Path*> ended;
  std::vector<SwitchFeatures> states;
  std::vector<bool> switched;
  size_t most = 0;
  for (const Path& path : pool.paths()) {
    if (path.kind != PathKind::kReasoning) {
      continue;
    }
    ended.push_back(&path);
    const std::vector<Asked>& probes = asked_[static_cast<size_t>(path.id)];
    most = std::max(most, probes.size());
    for (const Asked& asked : probes) {
      states.push_back(asked.state);
      switched.push_back(!SameReply(asked.answer, path.answer));
    }
  }
  model_ = FitSwitches(states, switched);
  // The votes of these paths at each probe; those that had ended have their final answers.
  std::vector<std::string> answers;
  for (size_t probe = 0; probe <= most; ++probe) {
    for (const Path* path : ended) {
      const std::vector<Asked>& probes = asked_[static_cast<size_t>(path->id)];
      answers.push_back(probe < probes.size() ? probes[probe].answer : path->answer);
    }
  }
  const std::vector<int> numbers = GroupReplies(answers);
  std::vector<std::vector<SwitchVote>> votes(most + 1);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t probe = i / ended.size();
    const std::vector<Asked>& probes = asked_[static_cast<size_t>(ended[i % ended.size()]->id)];
    const double q = probe < probes.size() ? SwitchProbability(*model_, probes[probe].state) : 0;
    votes[probe].push_back({numbers[i], 1, q});
  }
  gamma_ = CalibrateGamma(votes, LeaderOf(votes.back()));
}

std::vector<SwitchVote> SwitchingPaths::VotesNow(const Pool& pool) const {
  std::vector<std::string> answers;
  std::vector<double> switching;
  for (const Path& path : pool.paths()) {
    if (path.kind != PathKind::kReasoning || !(path.running() || Votes(pool, path))) {
      continue;
    }
    const auto id = static_cast<size_t>(path.id);
    const bool known = path.running() && id < asked_.size() && !asked_[id].empty();
    answers.push_back(known ? asked_[id].back().answer : path.running() ? "" : path.answer);
    switching.push_back(known            ? SwitchProbability(*model_, asked_[id].back().state)
                        : path.running() ? 1.0
                                         : 0.0);
  }
  std::vector<SwitchVote> votes;
  const std::vector<int> numbers = GroupReplies(answers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    votes.push_back({numbers[i], 1, switching[i]});
  }
  return votes;
}

void SwitchingPaths::OnProbed(Pool& pool) {
  for (const PathId id : pool.running()) {
    if (pool.path(id).kind == PathKind::kReasoning) {
      Note(pool.path(id));
    }
  }
  if (model_ && IsSafeLead(VotesNow(pool), gamma_)) {
    pool.Emit(NoticeRecord{fmt::format(
        "no likely change of the replies turns the vote (gamma {:.2f}): the run ends", gamma_)});
    pool.CancelAll("the vote is safe");
  }
}

}  // namespace hyper
