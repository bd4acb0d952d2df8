// A twin of the session, written from the paper alone: it knows the logits of the scripted engine
// and the texts that were decoded, and computes every statistic, maximum, score, threshold, pruning
// and vote of whole runs once more, by the most naive code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr int kCandidates = 8;
constexpr double kClose = 2e-5;  // an engine's log-probabilities are floats

MethodOptions TwinOptions() {
  MethodOptions options = *Preset("short");
  options.width = 12;
  options.warmup = 5;
  options.threshold = {ThresholdRule::Kind::kTop, 3, 0};
  options.interval = 4;
  options.window = 3;
  options.max_tokens = 60;
  options.late_expansion = true;
  return options;
}

double Unit(uint64_t a, uint64_t b, uint64_t c) {  // in [0, 1)
  uint64_t x = a * 0x9E3779B97F4A7C15U + b * 0xC2B2AE3D27D4EB4FU + c * 0x165667B19E3779F9U;
  x ^= x >> 31U;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 29U;
  return static_cast<double>(x >> 11U) * 0x1p-53;
}

// Logits of token number `at` of the path `key`: letters at random until the path's length, then
// "=", a digit and the end. The answer 7 is twice as frequent as each other.
std::vector<float> LogitsOf(uint64_t key, size_t at) {
  std::vector<float> logits(FakeEngine::kVocabulary);
  for (size_t v = 0; v < logits.size(); ++v) {
    logits[v] = -4.0F - 0.01F * static_cast<float>(v);
  }
  for (size_t letter = 0; letter < 14; ++letter) {
    logits['a' + letter] = static_cast<float>(4 * Unit(key, at, letter));
  }
  const auto length = static_cast<size_t>(14 + 20 * Unit(key, 1, 99));
  const char digit = "7738"[static_cast<size_t>(4 * Unit(key, 2, 99))];
  if (at >= length) {
    const char next = at == length ? '=' : digit;
    logits[at > length + 1 ? FakeEngine::kEnd : static_cast<size_t>(next)] = 9.0F;
  }
  return logits;
}

using Distribution = std::vector<std::pair<double, int>>;  // log-probability, token; best first

Distribution Softmaxed(const std::vector<float>& logits) {
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  Distribution all;
  for (size_t v = 0; v < logits.size(); ++v) {
    all.emplace_back(logits[v] - std::log(sum), static_cast<int>(v));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return all;
}

class Twin {
 public:
  explicit Twin(const Pool& pool) : pool_(pool) {}

  // The distribution that token `at` of a path was drawn from; an inherited one is an ancestor's.
  Distribution At(const Path& path, int at) const {
    const Path* owner = &path;
    while (at < owner->fork_position) {
      owner = &pool_.path(owner->parent);
    }
    return Softmaxed(LogitsOf(owner->key, static_cast<size_t>(at)));
  }

  Distribution At(PathId id, int at) const { return At(pool_.path(id), at); }

  double Confidence(const Path& path, int at) const {
    double sum = 0;
    int count = 0;
    for (const auto& [logprob, token] : At(path, at)) {
      if (token != path.tokens[static_cast<size_t>(at)] && count < kCandidates) {
        sum += logprob;
        ++count;
      }
    }
    return -sum / count;
  }

  std::map<int, double> TopShares(const Path& path, int at) const {
    Distribution all = At(path, at);
    all.resize(kCandidates);
    double sum = 0;
    for (const auto& [logprob, token] : all) {
      sum += std::exp(logprob);
    }
    std::map<int, double> shares;
    for (const auto& [logprob, token] : all) {
      shares[token] = std::exp(logprob) / sum;
    }
    return shares;
  }

  // The statistics of some paths after `length` of their tokens.
  PoolStatistics Statistics(const std::vector<PathId>& ids, int length) const {
    PoolStatistics result;
    const auto count = static_cast<double>(ids.size());
    std::map<int, int> chosen;
    int most = 0;
    for (const PathId id : ids) {
      const Path& path = pool_.path(id);
      result.confidence += Confidence(path, length - 1) / count;
      for (const auto& [token, share] : TopShares(path, length - 1)) {
        result.entropy -= share * std::log(share) / count;
      }
      most = std::max(most, ++chosen[path.tokens[static_cast<size_t>(length - 1)]]);
    }
    result.consensus = most / count;
    for (const PathId id : ids) {
      const double off = Confidence(pool_.path(id), length - 1) - result.confidence;
      result.variance += off * off / count;
    }
    for (size_t p = 0; p < ids.size(); ++p) {
      for (size_t q = p + 1; q < ids.size(); ++q) {
        const double pairs = count * (count - 1) / 2;
        result.distribution_diversity += Divergence(ids[p], ids[q], length) / pairs;
        result.sequence_diversity += EditDistance(ids[p], ids[q], length) / pairs;
      }
    }
    result.diversity = 0.4 * result.distribution_diversity + 0.6 * result.sequence_diversity;
    return result;
  }

  // Mean confidence of a path's tokens [begin, end).
  double Mean(const Path& path, int begin, int end) const {
    double sum = 0;
    for (int at = begin; at < end; ++at) {
      sum += Confidence(path, at);
    }
    return sum / (end - begin);
  }

  double LowestWindow(const Path& path, int window) const {
    if (path.length() < window) {
      return Mean(path, 0, path.length());
    }
    double lowest = 1e9;
    for (int end = window; end <= path.length(); ++end) {
      lowest = std::min(lowest, Mean(path, end - window, end));
    }
    return lowest;
  }

 private:
  double Divergence(PathId a, PathId b, int length) const {
    const std::map<int, double> p = TopShares(pool_.path(a), length - 1);
    const std::map<int, double> q = TopShares(pool_.path(b), length - 1);
    std::set<int> tokens;
    for (const auto& [token, share] : p) {
      tokens.insert(token);
    }
    for (const auto& [token, share] : q) {
      tokens.insert(token);
    }
    double sum = 0;
    for (const int token : tokens) {
      const double x = p.count(token) > 0 ? p.at(token) : 0;
      const double y = q.count(token) > 0 ? q.at(token) : 0;
      const double middle = (x + y) / 2;
      sum +=
          (x > 0 ? x * std::log(x / middle) : 0) / 2 + (y > 0 ? y * std::log(y / middle) : 0) / 2;
    }
    return sum;
  }

  // Of the last T tokens (L = T), over the longer.
  double EditDistance(PathId a, PathId b, int length) const {
    const int begin = std::max(0, length - pool_.options().interval);
    const std::vector<Token>& x = pool_.path(a).tokens;
    const std::vector<Token>& y = pool_.path(b).tokens;
    const auto size = static_cast<size_t>(length - begin);
    std::vector<std::vector<int>> table(size + 1, std::vector<int>(size + 1));
    for (size_t i = 0; i <= size; ++i) {
      for (size_t j = 0; j <= size; ++j) {
        if (i == 0 || j == 0) {
          table[i][j] = static_cast<int>(i + j);
          continue;
        }
        const size_t from = static_cast<size_t>(begin) - 1;
        const int change = x[from + i] == y[from + j] ? 0 : 1;
        table[i][j] =
            std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + change});
      }
    }
    return static_cast<double>(table[size][size]) / static_cast<double>(size);
  }

  const Pool& pool_;
};

void ExpectClose(const PoolStatistics& twin, const PoolStatistics& ours) {
  EXPECT_NEAR(twin.confidence, ours.confidence, kClose);
  EXPECT_NEAR(twin.entropy, ours.entropy, kClose);
  EXPECT_NEAR(twin.consensus, ours.consensus, kClose);
  EXPECT_NEAR(twin.distribution_diversity, ours.distribution_diversity, kClose);
  EXPECT_NEAR(twin.sequence_diversity, ours.sequence_diversity, kClose);
  EXPECT_NEAR(twin.diversity, ours.diversity, kClose);
  EXPECT_NEAR(twin.variance, ours.variance, kClose);
}

struct Maxima {
  double confidence = 0;
  double entropy = 0;
  double diversity = 0;
  double variance = 0;
};

Maxima CheckWarmup(const Twin& twin, const Pool& pool, const WarmupRecord& warmup) {
  Maxima maxima;
  for (int length = 1;; ++length) {
    std::vector<PathId> ids;
    for (const Path& path : pool.paths()) {
      if (path.warmup && path.length() >= length) {
        ids.push_back(path.id);
      }
    }
    if (ids.empty()) {
      EXPECT_EQ(warmup.positions.size(), static_cast<size_t>(length - 1));
      break;
    }
    const PoolStatistics at = twin.Statistics(ids, length);
    const WarmupRecord::Position& ours = warmup.positions.at(static_cast<size_t>(length - 1));
    ExpectClose(at, ours.statistics);
    EXPECT_EQ(static_cast<int>(ids.size()), ours.paths);
    maxima.confidence = std::max(maxima.confidence, at.confidence);
    maxima.entropy = std::max(maxima.entropy, at.entropy);
    maxima.diversity = std::max(maxima.diversity, at.diversity);
    maxima.variance = std::max(maxima.variance, at.variance);
  }
  EXPECT_NEAR(maxima.confidence, warmup.maxima.confidence.value, kClose);
  EXPECT_NEAR(maxima.entropy, warmup.maxima.entropy.value, kClose);
  EXPECT_NEAR(maxima.diversity, warmup.maxima.diversity.value, kClose);
  EXPECT_NEAR(maxima.variance, warmup.maxima.variance.value, kClose);
  // top:3 of 5: the third highest of the lowest windows.
  std::vector<double> lowest;
  for (const Path& path : pool.paths()) {
    if (path.warmup) {
      lowest.push_back(twin.LowestWindow(path, pool.options().window));
    }
  }
  std::sort(lowest.rbegin(), lowest.rend());
  EXPECT_TRUE(warmup.has_threshold);
  EXPECT_NEAR(lowest.at(2), warmup.threshold, kClose);
  return maxima;
}

void CheckDecision(const Twin& twin, const Maxima& maxima, const std::set<PathId>& running,
                   const DecisionRecord& decision, int width) {
  SCOPED_TRACE("decision " + std::to_string(decision.step));
  ExpectClose(twin.Statistics({running.begin(), running.end()}, decision.position), decision.raw);
  const auto part = [](double value, double most) { return std::min(value / most, 1.0); };
  const double c = part(decision.raw.confidence, maxima.confidence);
  const double h = part(decision.raw.entropy, maxima.entropy);
  const double d = part(decision.raw.diversity, maxima.diversity);
  const double v = part(decision.raw.variance, maxima.variance);
  const double beta = decision.raw.consensus;
  const std::array<double, 4> scores = {(c + 1 - h + d) / 3, (1 - c + h + 1 - beta) / 3,
                                        (1 - d + 1 - c + v) / 3, (1 - d + 1 - beta) / 2};
  size_t best = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(scores[i], decision.scores[i], kClose);
    best = scores[i] > scores[best] ? i : best;
  }
  EXPECT_EQ(static_cast<size_t>(decision.action), best);
  const auto survivors = static_cast<int>(running.size());
  EXPECT_EQ(decision.paths_before, survivors);
  EXPECT_EQ(decision.expansion, (width + survivors - 1) / survivors);
  EXPECT_EQ(decision.readings.size(), running.size());
  for (const DecisionRecord::Reading& reading : decision.readings) {
    ASSERT_EQ(running.count(reading.path), 1U);
    const Distribution drawn = twin.At(reading.path, decision.position - 1);
    ASSERT_GE(reading.top.size(), static_cast<size_t>(kCandidates));
    for (size_t i = 0; i < reading.top.size(); ++i) {
      EXPECT_EQ(reading.top[i].token, drawn[i].second);
      EXPECT_NEAR(reading.top[i].logprob, drawn[i].first, kClose);
    }
  }
}

// A path of the pool is pruned at the first of its own tokens where a full window lies below the
// threshold, unless it ends with that token.
void CheckPruning(const Twin& twin, const Path& path, int window, double threshold) {
  SCOPED_TRACE("path " + std::to_string(path.id));
  for (int end = std::max(window, path.fork_position + 1); end <= path.length(); ++end) {
    const double mean = twin.Mean(path, end - window, end);
    if (std::abs(mean - threshold) < kClose) {
      return;  // cannot be told apart in floats
    }
    const bool ends = path.tokens[static_cast<size_t>(end - 1)] == FakeEngine::kEnd;
    EXPECT_EQ(mean < threshold && !ends,
              end == path.length() && path.reason.find("below the threshold") != std::string::npos)
        << end << " of " << path.length() << ": " << mean << ", " << threshold;
  }
}

void CheckVote(const Twin& twin, const Session& session) {
  struct Ballot {
    std::string answer;
    double length = 0;
    double confidence = 0;
  };
  std::vector<Ballot> ballots;
  std::map<std::string, int> counts;
  double lengths = 0;
  double surest = 0;
  for (const Path& path : session.pool().paths()) {
    const size_t at = path.text.rfind('=');
    if (path.status == PathStatus::kMerged || at == std::string::npos ||
        at + 1 == path.text.size()) {
      continue;
    }
    ballots.push_back({path.text.substr(at + 1), static_cast<double>(path.length()),
                       twin.Mean(path, 0, path.length())});
    ++counts[ballots.back().answer];
    lengths += ballots.back().length;
    surest = std::max(surest, ballots.back().confidence);
  }
  std::map<std::string, double> scores;
  for (const Ballot& ballot : ballots) {
    scores[ballot.answer] += 0.6 * ballot.length / lengths + 0.4 * ballot.confidence / surest;
  }
  const SessionResult result = session.Result();
  EXPECT_EQ(result.voting_paths, static_cast<int>(ballots.size()));
  const VoteOutcome& vote = result.votes.at("length_confidence");
  std::string winner;
  ASSERT_LE(scores.size(), 3U);  // K_a = 3 leaves none of them out
  for (const auto& [answer, score] : scores) {
    const std::string& name = answer;
    winner = winner.empty() || score > scores[winner] ? answer : winner;
    const auto ours =
        std::find_if(vote.scores.begin(), vote.scores.end(),
                     [&name](const AnswerTally& tally) { return tally.answer == name; });
    ASSERT_NE(ours, vote.scores.end());
    EXPECT_NEAR(ours->score, score, 1e-4);
    EXPECT_EQ(ours->paths, counts[answer]);
  }
  EXPECT_EQ(result.answer, winner);
}

TEST(Twin, ComputesWholeRunsAgain) {
  std::map<Action, int> acted;
  for (uint64_t question = 0; question < 10; ++question) {
    SCOPED_TRACE("question " + std::to_string(question));
    FakeOptions fake;
    fake.logits = [](const FakeStep& step, std::span<float> logits) {
      const std::vector<float> all =
          LogitsOf(step.path_key, step.history.size() - static_cast<size_t>(step.prompt_tokens));
      std::copy(all.begin(), all.end(), logits.begin());
    };
    FakeEngine engine(fake);
    MethodOptions options = TwinOptions();
    auto session = ScriptedSession(engine, "hyper", options, 1 << 20, {}, {11, question});
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    const Twin twin(session->pool());
    Maxima maxima;
    std::set<PathId> running;
    for (const Record& record : session->TakeRecords()) {
      if (const auto* path = std::get_if<PathRecord>(&record)) {
        running.insert(path->path);
      } else if (const auto* finish = std::get_if<FinishRecord>(&record)) {
        running.erase(finish->path);
      } else if (const auto* warmup = std::get_if<WarmupRecord>(&record)) {
        maxima = CheckWarmup(twin, session->pool(), *warmup);
      } else if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
        // The forks of the decision are recorded before it.
        std::set<PathId> before;
        for (const PathId id : running) {
          if (session->pool().path(id).fork_position < decision->position) {
            before.insert(id);
          }
        }
        CheckDecision(twin, maxima, before, *decision, options.width);
        acted[decision->acted ? decision->action : Action::kNone] += 1;
      }
    }
    for (const Path& path : session->pool().paths()) {
      if (!path.warmup) {
        CheckPruning(twin, path, options.window, *session->pool().threshold());
      }
    }
    CheckVote(twin, *session);
  }
  EXPECT_GT(acted[Action::kNone], 0);
  EXPECT_GE(acted.size(), 2U) << "no expansion in any of the runs";
}

}  // namespace
}  // namespace hyper
