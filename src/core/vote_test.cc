#include "src/core/vote.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

std::vector<std::string> Names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  return names;
}

VoteResult Vote(const std::vector<Ballot>& ballots, const std::vector<std::string>& answers,
                VoteRule rule, const VoteOptions& options = {}) {
  return CountVotes(ballots, answers, rule, options);
}

TEST(Vote, ScoresEqualTheOracle) {
  const auto goldens = CoreGoldens("votes");
  ASSERT_GE(goldens.size(), 6U);
  for (const auto& golden : goldens) {
    std::vector<Ballot> ballots;
    for (const auto& ballot : golden["ballots"]) {
      ballots.push_back({ballot[0], ballot[1], ballot[2], ballot[3]});
    }
    VoteOptions options{3, golden["lambda_length"], golden["lambda_confidence"]};
    options.temperature = golden["temperature"];
    for (VoteRule rule : kVoteRules) {
      SCOPED_TRACE(NameOf(rule));
      const auto& expected = golden["scores"][NameOf(rule)];
      const VoteResult result = Vote(ballots, Names(26), rule, options);
      ASSERT_EQ(result.scores.size(), expected.size());
      double total = 0;
      for (const AnswerScore& score : result.scores) {
        const double wanted = expected[std::to_string(score.group)].get<double>();
        EXPECT_NEAR(score.score, wanted, 1e-12 * std::max(1.0, wanted));
        total += score.score;
        const auto& entered = golden["candidates"];
        const bool in_top = std::find(entered.begin(), entered.end(), score.group) != entered.end();
        EXPECT_EQ(score.candidate, rule != VoteRule::kLengthConfidence || in_top);
      }
      for (const AnswerScore& score : result.scores) {
        EXPECT_NEAR(score.share, score.score / total, 1e-12);
        if (!score.candidate) {
          continue;
        }
        EXPECT_LE(score.score, result.scores.front().score);
      }
      EXPECT_EQ(result.winner, result.scores.front().group);
      EXPECT_TRUE(result.clipped.empty());
    }
  }
}

// Eq. hyper-marginalize-full by hand: L = 100, 300; 600; c = 10, 5; 8.
TEST(Vote, LengthConfidenceByHand) {
  const std::vector<Ballot> ballots = {{0, 100, 10, 1}, {0, 300, 5, 1}, {1, 600, 8, 1}};
  const VoteResult result = Vote(ballots, {"x", "y"}, VoteRule::kLengthConfidence);
  ASSERT_EQ(result.winner, 0);
  EXPECT_NEAR(result.scores[0].score, 0.6 * 0.4 + 0.4 * 1.5, 1e-12);
  EXPECT_NEAR(result.scores[1].score, 0.6 * 0.6 + 0.4 * 0.8, 1e-12);
  // Weighted by length alone, the long path wins.
  EXPECT_EQ(Vote(ballots, {"x", "y"}, VoteRule::kLength).winner, 1);
}

// The existence-selection gap: the rules may disagree on the same paths.
TEST(Vote, RulesDisagree) {
  const std::vector<Ballot> ballots = {{0, 50, 6, 5},  {0, 50, 6, 5},  {0, 50, 6, 5},
                                       {1, 900, 9, 1}, {1, 900, 9, 1}, {2, 10, 30, 20}};
  const std::vector<std::string> answers = {"few", "long", "sure"};
  EXPECT_EQ(Vote(ballots, answers, VoteRule::kMajority).winner, 0);
  EXPECT_EQ(Vote(ballots, answers, VoteRule::kLength).winner, 1);
  EXPECT_EQ(Vote(ballots, answers, VoteRule::kConfidence).winner, 2);
  EXPECT_EQ(Vote(ballots, answers, VoteRule::kDeepConf).winner, 2);
  EXPECT_EQ(Vote(ballots, answers, VoteRule::kLengthConfidence).winner, 1);
}

TEST(Vote, OnlyTheMostFrequentAnswersEnterAndTiesAtTheLastPlaceAll) {
  // Group 3 has one path, but a length that would win.
  std::vector<Ballot> ballots = {{0, 10, 5, 5}, {0, 10, 5, 5}, {1, 10, 5, 5},  {1, 10, 5, 5},
                                 {2, 10, 5, 5}, {2, 10, 5, 5}, {3, 9000, 5, 5}};
  const std::vector<std::string> answers = {"a", "b", "c", "d"};
  VoteResult result = Vote(ballots, answers, VoteRule::kLengthConfidence);
  EXPECT_EQ(result.winner, 0);
  EXPECT_FALSE(result.scores.back().candidate);
  EXPECT_EQ(result.scores.back().group, 3);
  EXPECT_GT(result.scores.back().score, result.scores.front().score);
  // With one path fewer, group 2 shares the third place with group 3 and both enter.
  ballots.erase(ballots.begin() + 5);
  result = Vote(ballots, answers, VoteRule::kLengthConfidence);
  EXPECT_EQ(result.winner, 3);
  // With K_a = 2 neither does.
  result = Vote(ballots, answers, VoteRule::kLengthConfidence, {2, 0.6, 0.4});
  EXPECT_EQ(result.winner, 0);
}

// CISC by hand: softmax of 2, 1, 1 at T = 0.5 is e^2, 1, 1 over e^2 + 2.
TEST(Vote, CiscGivesSharesOfASoftmax) {
  const std::vector<Ballot> ballots = {{0, 9, 2, 5}, {1, 9, 1, 5}, {1, 9, 1, 5}};
  VoteOptions options;
  options.temperature = 0.5;
  const VoteResult sharp = Vote(ballots, {"x", "y"}, VoteRule::kCisc, options);
  EXPECT_EQ(sharp.winner, 0);
  EXPECT_NEAR(sharp.scores[0].share, std::exp(2.0) / (std::exp(2.0) + 2), 1e-12);
  options.temperature = 100;  // a majority vote
  EXPECT_EQ(Vote(ballots, {"x", "y"}, VoteRule::kCisc, options).winner, 1);
}

// V01: equality is decided before; the group of 1/2 has three of five votes.
TEST(Vote, CountsGroupsNotSpellings) {
  const std::vector<Ballot> ballots = {
      {0, 9, 5, 5}, {0, 9, 5, 5}, {0, 9, 5, 5}, {1, 9, 5, 5}, {1, 9, 5, 5}};
  const VoteResult result = Vote(ballots, {"1/2", "3"}, VoteRule::kMajority);
  EXPECT_EQ(result.winner, 0);
  EXPECT_EQ(result.scores[0].score, 3);
  EXPECT_NEAR(result.scores[0].share, 0.6, 1e-15);
}

// V03: a tie is decided the same way in any order, and flagged.
TEST(Vote, TiesAreDecidedByPathsThenConfidenceThenText) {
  std::vector<Ballot> ballots = {{0, 10, 5, 5}, {1, 10, 5, 5}, {0, 10, 5, 5}, {1, 10, 5, 5}};
  for (VoteRule rule : kVoteRules) {
    VoteResult result = Vote(ballots, {"B", "A"}, rule);
    EXPECT_EQ(result.winner, 1) << NameOf(rule);  // the smaller text
    EXPECT_TRUE(result.tied);
    EXPECT_EQ(Vote(ballots, {"A", "B"}, rule).winner, 0) << NameOf(rule);
  }
  ballots[0].mean_confidence = 6;  // more confidence decides a majority tie
  EXPECT_EQ(Vote(ballots, {"B", "A"}, VoteRule::kMajority).winner, 0);
  EXPECT_TRUE(Vote(ballots, {"B", "A"}, VoteRule::kMajority).tied);
  EXPECT_FALSE(Vote(ballots, {"B", "A"}, VoteRule::kConfidence).tied);
  // Equal confidence sums: more paths decide.
  const std::vector<Ballot> uneven = {{0, 10, 3, 3}, {0, 10, 3, 3}, {1, 10, 6, 6}};
  EXPECT_EQ(Vote(uneven, {"B", "A"}, VoteRule::kConfidence).winner, 0);
  EXPECT_TRUE(Vote(uneven, {"B", "A"}, VoteRule::kConfidence).tied);
}

TEST(Vote, DoesNotDependOnTheOrderOfTheBallots) {
  std::vector<Ballot> ballots;
  ballots.reserve(9);
  for (int i = 0; i < 9; ++i) {
    ballots.push_back({i % 3, 10 + i * i, 0.1 * (i + 1), 0.3 / (i + 1)});
  }
  // Groups 0 and 1 get the same values, in different orders.
  const double values[3] = {0.1, 0.7, 0.3};
  for (size_t i = 0; i < 3; ++i) {
    ballots[i * 3].mean_confidence = values[i];
    ballots[i * 3 + 1].mean_confidence = values[2 - i];
  }
  for (VoteRule rule : kVoteRules) {
    const VoteResult expected = Vote(ballots, Names(3), rule);
    std::vector<Ballot> shuffled = ballots;
    for (int round = 0; round < 20; ++round) {
      std::rotate(shuffled.begin(), shuffled.begin() + 1 + round % 4, shuffled.end());
      std::swap(shuffled[0], shuffled[static_cast<size_t>(round) % 9]);
      const VoteResult result = Vote(shuffled, Names(3), rule);
      EXPECT_EQ(result.winner, expected.winner);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.scores[i].score, expected.scores[i].score) << NameOf(rule);
      }
    }
  }
}

// V04: paths without an answer do not vote; nobody voting is no answer.
TEST(Vote, PathsWithoutAnAnswerDoNotVote) {
  const Ballot none{-1, 5000, 50, 50};
  for (VoteRule rule : kVoteRules) {
    const VoteResult result = Vote({none, none, none, {0, 10, 5, 5}}, {"17"}, rule);
    EXPECT_EQ(result.winner, 0);
    EXPECT_EQ(result.ballots, 1);
    EXPECT_NEAR(result.scores[0].share, 1, 1e-15);
    const VoteResult silent = Vote({none, none}, {}, rule);
    EXPECT_EQ(silent.winner, -1);
    EXPECT_EQ(silent.ballots, 0);
    EXPECT_TRUE(silent.scores.empty());
    EXPECT_FALSE(silent.tied);
  }
  EXPECT_EQ(Vote({}, {}, VoteRule::kLengthConfidence).winner, -1);
}

// A path without an answer has no part in the denominators either.
TEST(Vote, NonVotersDoNotChangeTheScores) {
  const std::vector<Ballot> voters = {{0, 10, 5, 5}, {1, 30, 4, 4}};
  std::vector<Ballot> with_silent = voters;
  with_silent.push_back({-1, 1000, 59, 59});
  for (VoteRule rule : kVoteRules) {
    EXPECT_EQ(Vote(with_silent, Names(2), rule).scores[0].score,
              Vote(voters, Names(2), rule).scores[0].score);
  }
}

// V06: half is not a majority.
TEST(Vote, HalfIsNotAMajority) {
  EXPECT_FALSE(IsMajority(2, 4));
  EXPECT_TRUE(IsMajority(3, 5));
  EXPECT_FALSE(IsMajority(2, 5));
  EXPECT_TRUE(IsMajority(1, 1));
  EXPECT_FALSE(IsMajority(0, 0));
}

// V08: an infinite confidence wins no vote; it is clipped and named.
TEST(Vote, DegenerateConfidencesAreClippedAndNamed) {
  for (double broken : {kInfinity, 1e300, 61.0}) {
    const std::vector<Ballot> ballots = {{0, 10, broken, broken}, {1, 10, 5, 5}, {1, 10, 5, 5}};
    for (VoteRule rule : kVoteRules) {
      const VoteResult result = Vote(ballots, {"9", "4"}, rule);
      EXPECT_EQ(result.winner, 1) << NameOf(rule) << ' ' << broken;
      EXPECT_EQ(result.clipped, std::vector<size_t>{0});
      for (const AnswerScore& score : result.scores) {
        EXPECT_TRUE(std::isfinite(score.score));
      }
      EXPECT_EQ(result.scores[1].confidence_sum, 5);
    }
  }
}

// V10: a path without log-probabilities is never chosen for a sentinel.
TEST(Vote, AMissingConfidenceWeighsNothing) {
  for (double missing : {kNan, -kInfinity, -1.0}) {
    const std::vector<Ballot> ballots = {
        {0, 10, missing, missing}, {1, 10, 3.1, 3.1}, {2, 10, 2.9, 2.9}};
    for (VoteRule rule : {VoteRule::kConfidence, VoteRule::kDeepConf, VoteRule::kLengthConfidence,
                          VoteRule::kImportanceSampling}) {
      const VoteResult result = Vote(ballots, {"missing", "high", "low"}, rule);
      EXPECT_EQ(result.winner, 1) << NameOf(rule);
      EXPECT_EQ(result.scores.back().group, 0) << NameOf(rule);
      EXPECT_EQ(result.clipped, std::vector<size_t>{0});
    }
  }
}

// V11: no division by zero when all confidences or lengths are 0, or all confidences unknown.
TEST(Vote, ZeroDenominatorsLeaveTheOtherTerms) {
  const std::vector<Ballot> no_length = {{0, 0, 4, 4}, {1, 0, 8, 8}};
  VoteResult result = Vote(no_length, Names(2), VoteRule::kLengthConfidence);
  EXPECT_EQ(result.winner, 1);
  EXPECT_NEAR(result.scores[0].score, 0.4, 1e-15);
  const std::vector<Ballot> no_confidence = {{0, 10, 0, 0}, {1, 30, 0, 0}};
  result = Vote(no_confidence, Names(2), VoteRule::kLengthConfidence);
  EXPECT_EQ(result.winner, 1);
  EXPECT_NEAR(result.scores[0].score, 0.6 * 0.75, 1e-15);
  EXPECT_TRUE(result.clipped.empty());
  const std::vector<Ballot> nothing = {{0, 0, kNan, kNan}, {1, 0, kNan, kNan}, {1, 0, kNan, kNan}};
  for (VoteRule rule : kVoteRules) {
    result = Vote(nothing, Names(2), rule);
    EXPECT_EQ(result.winner, 1) << NameOf(rule);  // more paths
    for (const AnswerScore& score : result.scores) {
      EXPECT_TRUE(std::isfinite(score.score));
      EXPECT_TRUE(std::isfinite(score.share));
    }
  }
}

// App. F, prop. linearized-proxy-is: Z_proxy(a) = n_a + score(a) + O(eps^2) where all
// |theta . phi| <= eps. The remainder falls a hundredfold when the weights fall tenfold, and is
// bounded by n_a eps^2 (exp(x) - 1 - x <= x^2 for |x| <= 1).
TEST(ImportanceSampling, IsTheLinearScoreToFirstOrder) {
  std::vector<Ballot> ballots;
  ballots.reserve(24);
  for (int i = 0; i < 24; ++i) {
    ballots.push_back({i % 3, 40 + (i * 53) % 310, 4 + (i * 7) % 11 * 1.25, 3});
  }
  const auto remainders = [&](double scale) {
    const VoteOptions options{3, 0.6 * scale, 0.4 * scale};
    const VoteResult proxy = Vote(ballots, Names(3), VoteRule::kImportanceSampling, options);
    const VoteResult linear = Vote(ballots, Names(3), VoteRule::kLengthConfidence, options);
    std::vector<double> values(3);
    for (const AnswerScore& score : proxy.scores) {
      values[static_cast<size_t>(score.group)] += score.score - score.paths;
    }
    for (const AnswerScore& score : linear.scores) {
      values[static_cast<size_t>(score.group)] -= score.score;
      const double epsilon = scale * (0.6 + 0.4);
      EXPECT_GT(values[static_cast<size_t>(score.group)], 0);
      EXPECT_LE(values[static_cast<size_t>(score.group)], score.paths * epsilon * epsilon);
    }
    return values;
  };
  const std::vector<double> coarse = remainders(0.1);
  const std::vector<double> fine = remainders(0.01);
  for (size_t group = 0; group < 3; ++group) {
    EXPECT_NEAR(coarse[group] / fine[group], 100, 3);
  }
}

// The rankings need not agree: n_a is no constant, so frequency counts for more in Z_proxy.
TEST(ImportanceSampling, MayRankOtherwise) {
  const std::vector<Ballot> ballots = {{0, 10, 1, 1}, {0, 10, 1, 1}, {1, 900, 10, 10}};
  EXPECT_EQ(Vote(ballots, Names(2), VoteRule::kImportanceSampling).winner, 1);
  const VoteOptions mild{3, 0.06, 0.04};
  EXPECT_EQ(Vote(ballots, Names(2), VoteRule::kImportanceSampling, mild).winner, 0);
  EXPECT_EQ(Vote(ballots, Names(2), VoteRule::kLengthConfidence, mild).winner, 1);
}

// App. F, lemma freq-var: the relative error of the empirical share is sqrt((1 - p) / (N p)).
TEST(Vote, ShareOfAnAnswerHasTheErrorOfTheLemma) {
  constexpr double kShare = 0.3;
  constexpr int kPaths = 50;
  constexpr int kRounds = 4000;
  uint64_t state = 1;
  double squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Ballot> ballots;
    for (int i = 0; i < kPaths; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const double u = static_cast<double>(state >> 11) * 0x1p-53;
      ballots.push_back({u < kShare ? 0 : 1, 1, 1, 1});
    }
    double share = 0;
    for (const AnswerScore& score : Vote(ballots, Names(2), VoteRule::kMajority).scores) {
      if (score.group == 0) {
        share = score.share;
      }
    }
    squares += (share - kShare) * (share - kShare);
  }
  const double relative_error = std::sqrt(squares / kRounds) / kShare;
  EXPECT_NEAR(relative_error, std::sqrt((1 - kShare) / (kPaths * kShare)), 0.01);
}

TEST(Vote, RulesHaveTheNamesOfTheRecords) {
  std::vector<std::string> names;
  names.reserve(kVoteRules.size());
  for (VoteRule rule : kVoteRules) {
    names.emplace_back(NameOf(rule));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"length_confidence", "majority", "confidence",
                                             "length", "deepconf", "importance_sampling", "cisc"}));
}

}  // namespace
}  // namespace hyper
