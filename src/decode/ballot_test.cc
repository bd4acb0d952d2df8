#include "src/decode/ballot.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyper {
namespace {

Path Answered(const std::string& answer, double confidence = 5.0, int length = 10) {
  Path path;
  path.status = PathStatus::kFinished;
  path.answer = answer;
  path.mean_confidence = confidence;
  path.lowest_window = confidence;
  path.tokens.assign(static_cast<size_t>(length), 'x');
  return path;
}

std::map<std::string, VoteOutcome> VotesOf(const std::vector<Path>& paths,
                                           const std::vector<double>& weights = {}) {
  std::vector<Voter> voters;
  for (size_t i = 0; i < paths.size(); ++i) {
    voters.push_back({&paths[i], i < weights.size() ? weights[i] : NAN, !paths[i].answer.empty()});
  }
  return AllVotes(voters, MethodOptions{});
}

TEST(Ballot, EqualAnswersVoteTogetherWhateverTheirSpelling) {  // V01
  const std::vector<Path> paths = {Answered("\\frac12"), Answered("0.5"), Answered("1/2"),
                                   Answered("3"), Answered("3")};
  const VoteOutcome majority = VotesOf(paths).at("majority");
  EXPECT_EQ(majority.scores[0].paths, 3);
  EXPECT_EQ(majority.answer, "0.5");  // all three spellings once: the shortest, then the smallest
  EXPECT_EQ(majority.scores[1].answer, "3");
}

TEST(Ballot, TheMostFrequentSpellingStandsForItsGroup) {
  const std::vector<Path> paths = {Answered("1/2"), Answered("1/2"), Answered("0.5")};
  EXPECT_EQ(VotesOf(paths).at("majority").answer, "1/2");
}

TEST(Ballot, LengthAndConfidenceHaveTheirOwnWeights) {
  // 0.6 x 30/40 + 0.4 x 4/8 = 0.65 against 0.6 x 10/40 + 0.4 x 8/8 = 0.55.
  const std::vector<Path> paths = {Answered("long", 4, 30), Answered("sure", 8, 10)};
  const VoteOutcome vote = VotesOf(paths).at("length_confidence");
  EXPECT_EQ(vote.answer, "long");
  EXPECT_NEAR(vote.scores[0].score, 0.65, 1e-12);
  EXPECT_NEAR(vote.scores[1].score, 0.55, 1e-12);
}

TEST(Ballot, OrderOfPathsCannotMatter) {  // V03
  const std::vector<Path> one = {Answered("A"), Answered("B"), Answered("A"), Answered("B")};
  const std::vector<Path> other = {Answered("B"), Answered("B"), Answered("A"), Answered("A")};
  for (const auto& [rule, vote] : VotesOf(one)) {
    EXPECT_EQ(vote.answer, VotesOf(other).at(rule).answer) << rule;
    EXPECT_EQ(vote.answer, "A") << rule;
  }
  EXPECT_TRUE(VotesOf(one).at("majority").tie);
}

TEST(Ballot, InfiniteConfidenceIsClippedAndFlagged) {  // V08
  const std::vector<Path> paths = {Answered("9", INFINITY), Answered("4", 5), Answered("4", 5)};
  for (const std::string rule : {"confidence", "length_confidence", "deepconf"}) {
    EXPECT_EQ(VotesOf(paths).at(rule).answer, "4") << rule;
    EXPECT_EQ(VotesOf(paths).at(rule).clipped, 1) << rule;
  }
}

TEST(Ballot, PathsWithoutAWeightAreNeverChosenForIt) {  // V10
  const std::vector<Path> paths = {Answered("1"), Answered("2"), Answered("3")};
  const auto votes = VotesOf(paths, {NAN, 3.1, 2.9});
  EXPECT_EQ(votes.at("best").answer, "2");
  EXPECT_EQ(votes.at("weighted").answer, "2");
  EXPECT_EQ(votes.at("borda").answer, "2");
  EXPECT_EQ(votes.at("best").scores.size(), 2U);
  EXPECT_EQ(VotesOf(paths).count("best"), 0U);  // no weight known: no such vote
}

TEST(Ballot, BordaKeepsTheRankOfPathsWithoutAnswer) {
  // Ranks by weight: the silent path first, then "1", then "2" twice. N = 4, p = 1.2.
  const std::vector<Path> paths = {Answered(""), Answered("1"), Answered("2"), Answered("2")};
  const VoteOutcome borda = VotesOf(paths, {9, 8, 7, 6}).at("borda");
  ASSERT_EQ(borda.scores.size(), 2U);
  EXPECT_EQ(borda.answer, "1");  // 3^1.2 against 2^1.2 + 1^1.2
  EXPECT_NEAR(borda.scores[0].score, std::pow(3, 1.2), 1e-12);
  EXPECT_NEAR(borda.scores[1].score, std::pow(2, 1.2) + 1, 1e-12);
}

TEST(Ballot, NobodyVotes) {  // V11
  const auto votes = VotesOf({});
  EXPECT_EQ(votes.size(), 7U);
  for (const auto& [rule, vote] : votes) {
    EXPECT_FALSE(vote.answer.has_value()) << rule;
    EXPECT_TRUE(vote.scores.empty()) << rule;
  }
}

TEST(Ballot, ZeroLengthsAndConfidencesDivideByNothing) {  // V11
  const std::vector<Path> paths = {Answered("1", 0, 0), Answered("1", 0, 0), Answered("2", 0, 0)};
  for (const auto& [rule, vote] : VotesOf(paths)) {
    EXPECT_EQ(vote.answer, "1") << rule;
    for (const AnswerTally& tally : vote.scores) {
      EXPECT_TRUE(std::isfinite(tally.score)) << rule;
    }
  }
}

}  // namespace
}  // namespace hyper
