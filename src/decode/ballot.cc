#include "src/decode/ballot.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hyper/equal.h"
#include "src/core/vote.h"

namespace hyper {
namespace {

const std::string& AnswerOf(const Voter& voter) {
  return voter.probed ? voter.path->probed.back() : voter.path->answer;
}

// The spelling that stands for a group.
std::string Representative(const std::map<std::string, int>& spellings) {
  const auto best =
      std::min_element(spellings.begin(), spellings.end(), [](const auto& a, const auto& b) {
        return std::tuple(-a.second, a.first.size(), a.first) <
               std::tuple(-b.second, b.first.size(), b.first);
      });
  return best->first;
}

VoteOutcome ToOutcome(const VoteResult& counted, const std::vector<std::string>& answers) {
  VoteOutcome outcome;
  if (counted.winner >= 0) {
    outcome.answer = answers[static_cast<size_t>(counted.winner)];
  }
  outcome.tie = counted.tied;
  outcome.clipped = static_cast<int>(counted.clipped.size());
  for (const AnswerScore& score : counted.scores) {
    outcome.scores.push_back({answers[static_cast<size_t>(score.group)], score.score, score.share,
                              score.paths, score.candidate});
  }
  return outcome;
}

}  // namespace

std::vector<Voter> VotersOf(const Method& method, const Pool& pool) {
  std::vector<Voter> voters;
  for (const Path& path : pool.paths()) {
    const bool votes = method.Votes(pool, path);
    // Samples that came to their end without an answer keep their rank in the Borda vote.
    const bool ranks = path.kind == PathKind::kReasoning && CameToItsEnd(path.status);
    if (votes || ranks) {
      voters.push_back({&path, method.Weight(pool, path), votes});
    }
  }
  return voters;
}

Ballots BallotsOf(const std::vector<Voter>& voters) {
  std::vector<std::string> texts;
  for (const Voter& voter : voters) {
    if (voter.votes) {
      texts.push_back(AnswerOf(voter));
    }
  }
  const std::vector<int> groups = GroupAnswers(texts);
  std::vector<std::map<std::string, int>> spellings;
  Ballots all;
  all.ballots.reserve(voters.size());
  size_t next = 0;
  for (const Voter& voter : voters) {
    Ballot ballot{-1, voter.path->length(), voter.path->mean_confidence, voter.path->lowest_window,
                  voter.weight};
    if (voter.votes) {
      ballot.group = groups[next++];
      const auto group = static_cast<size_t>(ballot.group);
      spellings.resize(std::max(spellings.size(), group + 1));
      ++spellings[group][AnswerOf(voter)];
    }
    all.ballots.push_back(ballot);
  }
  all.answers.reserve(spellings.size());
  for (const auto& group : spellings) {
    all.answers.push_back(Representative(group));
  }
  return all;
}

std::map<std::string, VoteOutcome> AllVotes(const std::vector<Voter>& voters,
                                            const MethodOptions& options) {
  const Ballots all = BallotsOf(voters);
  std::map<std::string, VoteOutcome> outcomes;
  const auto count = [&](VoteRule rule) {
    outcomes[NameOf(rule)] =
        ToOutcome(CountVotes(all.ballots, all.answers, rule, options.vote), all.answers);
  };
  std::for_each(kVoteRules.begin(), kVoteRules.end(), count);
  if (std::any_of(voters.begin(), voters.end(),
                  [](const Voter& voter) { return std::isfinite(voter.weight); })) {
    std::for_each(kWeightRules.begin(), kWeightRules.end(), count);
  }
  return outcomes;
}

}  // namespace hyper
