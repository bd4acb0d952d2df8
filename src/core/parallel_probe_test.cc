#include "src/core/parallel_probe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper {
namespace {

// Branches from letters: "a" answers and runs, "A" has ended with it, "." has no answer.
std::vector<ProbedBranch> Branches(const std::string& letters) {
  std::vector<ProbedBranch> branches;
  for (const char letter : letters) {
    const bool running = letter < 'A' || letter >= 'a';
    branches.push_back({letter == '.' ? -1 : (letter | 32) - 'a', running});
  }
  return branches;
}

struct Played {
  int stopped_after = 0;            // steps; 0: not stopped
  std::vector<std::string> pruned;  // by step, 'x' for a branch that is pruned by then
  std::vector<int> winners;
};

Played Play(const std::vector<std::string>& steps, const ProbeRules& rules) {
  Played played;
  ProbeState state;
  for (const std::string& letters : steps) {
    const bool stop = StepParallelProbe(Branches(letters), state.winner, rules, state);
    std::string pruned;
    for (const bool is : state.pruned) {
      pruned += is ? 'x' : '-';
    }
    played.pruned.push_back(pruned);
    played.winners.push_back(state.winner);
    if (stop) {
      played.stopped_after = static_cast<int>(played.winners.size());
      break;
    }
  }
  return played;
}

TEST(ParallelProbe, StopsOnceTheWinnerHasStayed) {
  // b wins the first step; a wins from the second on, and has stayed in the third and fourth.
  const Played played = Play({"abb.", "aabb", "aa.b", "aacb", "aacb"}, {2, 9, 9});
  EXPECT_EQ(played.winners, (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(played.stopped_after, 4);
  EXPECT_EQ(Play({"abb.", "aabb", "aa.b", "bbab", "bbab"}, {2, 9, 9}).stopped_after, 0);
}

TEST(ParallelProbe, NoAnswerIsNoWinner) {
  const Played played = Play({"...", "...", "...", "A..", "A..", "A.."}, {2, 9, 9});
  EXPECT_EQ(played.winners, (std::vector<int>{-1, -1, -1, 0, 0, 0}));
  EXPECT_EQ(played.stopped_after, 6);
}

TEST(ParallelProbe, PrunesABranchThatKeepsDiffering) {
  // Branch 2 differs three times in a row from the second step on; branch 3 agrees in between.
  const Played played = Play({"aabb", "aabb", "aaba", "aabb", "aabb", "aabb"}, {99, 3, 1});
  EXPECT_EQ(played.pruned,
            (std::vector<std::string>{"----", "----", "----", "--x-", "--x-", "--xx"}));
}

TEST(ParallelProbe, BranchesThatHaveEndedOrSayNothingStay) {
  EXPECT_EQ(Play({"aaB.", "aaB.", "aaB."}, {99, 1, 0}).pruned.back(), "----");
  // A pause in the answers starts the count again.
  EXPECT_EQ(Play({"aab", "aa.", "aab"}, {99, 2, 0}).pruned.back(), "---");
}

TEST(ParallelProbe, ThePrunedDoNotVote) {
  // Branch 2 is pruned in the first step; with it a would win the second, three to two.
  const Played played = Play({"BBab.", "BBaaA"}, {99, 1, 0});
  EXPECT_EQ(played.pruned[0], "--x--");
  EXPECT_EQ(played.winners, (std::vector<int>{1, 1}));
  // Branch 4 would make it three to three, with branch 0 as the earliest.
  EXPECT_EQ(Play({".BBBa.", "aBBBaA"}, {99, 1, 0}).winners, (std::vector<int>{1, 1}));
  // One to one: branch 1 is the earliest that is left.
  EXPECT_EQ(Play({"abb", "aba"}, {99, 1, 0}).winners, (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace hyper
