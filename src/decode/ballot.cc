#include "src/decode/ballot.h"

#include <algorithm>
#include <tuple>

#include "src/core/vote.h"

namespace hyper {
namespace {

// Group number per answer: equal texts share one.
std::vector<int> GroupAnswers(const std::vector<std::string>& texts) {
  std::map<std::string, int> groups;
  std::vector<int> result;
  for (const std::string& text : texts) {
    result.push_back(groups.emplace(text, static_cast<int>(groups.size())).first->second);
  }
  return result;
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

std::map<std::string, VoteOutcome> AllVotes(const std::vector<const Path*>& voters,
                                            const MethodOptions& options) {
  std::vector<std::string> texts;
  texts.reserve(voters.size());
  for (const Path* path : voters) {
    texts.push_back(path->answer);
  }
  const std::vector<int> groups = GroupAnswers(texts);
  std::vector<std::map<std::string, int>> spellings;
  std::vector<Ballot> ballots;
  for (size_t i = 0; i < voters.size(); ++i) {
    const auto group = static_cast<size_t>(groups[i]);
    spellings.resize(std::max(spellings.size(), group + 1));
    ++spellings[group][texts[i]];
    ballots.push_back(
        {groups[i], voters[i]->length(), voters[i]->mean_confidence, voters[i]->lowest_window});
  }
  std::vector<std::string> answers;
  for (const auto& group : spellings) {
    answers.push_back(Representative(group));
  }
  const VoteOptions vote{options.vote_top, options.lambda_length, options.lambda_confidence};
  std::map<std::string, VoteOutcome> outcomes;
  for (const VoteRule rule : kVoteRules) {
    outcomes[VoteRuleName(rule)] = ToOutcome(CountVotes(ballots, answers, rule, vote), answers);
  }
  return outcomes;
}

}  // namespace hyper
