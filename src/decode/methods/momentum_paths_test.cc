// CMC against a second program: paths whose ends and replies are known, counted round by round.
#include "src/decode/methods/momentum_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr int kRoundStep = 3;
constexpr int kRoundWidth = 12;

// What a path is: its letters before "=" and the answer, and what it replies when it is asked.
struct RoundPath {
  int letters = 0;
  char answer = '1';

  int tokens() const { return letters + 3; }  // "=", the answer and the end
};

char RoundReply(uint32_t seed, int path, int length, char answer) {
  const auto words =
      Philox(seed, {static_cast<uint32_t>(path), static_cast<uint32_t>(length), 7, 0});
  return words[0] % 4 == 0 ? static_cast<char>('1' + words[1] % 3) : answer;
}

std::vector<RoundPath> RoundPaths(uint32_t seed) {
  std::vector<RoundPath> paths;
  for (uint32_t i = 0; i < kRoundWidth; ++i) {
    const auto words = Philox(seed, {i, 0, 1, 0});
    const bool hard = seed % 3 == 0;
    paths.push_back({static_cast<int>(words[0] % 90),
                     static_cast<char>('1' + (words[1] % 3 == 0 || hard ? words[2] % 3 : 0))});
  }
  return paths;
}

struct RoundEnd {
  int tokens = 0;
  bool pruned = false;
  bool opened = false;
};

// P(p > 1/2) for p ~ Beta(a + 1, b + 1), by its recursion in b.
double RoundPosterior(int a, int b) {
  double term = std::pow(0.5, a + b + 1);
  double sum = 0;
  for (int j = 0; j <= a; ++j) {
    sum += term;
    term *= static_cast<double>(a + b + 1 - j) / (j + 1);
  }
  return sum;
}

class RoundProgram {
 public:
  RoundProgram(std::vector<RoundPath> paths, uint32_t seed)
      : paths_(std::move(paths)), seed_(seed) {}

  // Rules of beta 0.5: 5 paths first, 6 rounds of warm-up, patience 8, window 5, burst 2, 2 more.
  std::vector<RoundEnd> Run() {
    ended_.resize(paths_.size());
    apart_.resize(paths_.size());
    Open(5);
    Advance(std::vector<int>(paths_.size(), 1));
    for (int round = 0; Running() > 0; ++round) {
      const auto [winner, confidence] = Leader();
      Move(confidence, /*begins=*/true);
      std::vector<int> steps;
      for (const RoundEnd& path : ended_) {
        steps.push_back(path.tokens == 0 ? 2 : 1);
      }
      if (round >= 6 && winner != 0) {
        Drop(winner);
        for (size_t i = 0; i < paths_.size(); ++i) {
          steps[i] = Runs(i) && (ended_[i].tokens == 0 || Now(i) == winner) ? 2 : 1;
        }
      }
      Advance(steps);
      if (Running() == 0) {
        break;
      }
      Move(Leader().second, /*begins=*/false);
      const double risen = means_.back() - means_.front();
      if (round >= 6 && Finished() >= 4 && mean_ >= 0.91 && risen >= -0.025) {
        break;
      }
      if (round >= 3 && mean_ < 0.91 && risen <= 0.025) {
        Open(2);
      }
    }
    return ended_;
  }

 private:
  bool Runs(size_t i) const {
    return ended_[i].opened && !ended_[i].pruned && ended_[i].tokens < paths_[i].tokens();
  }
  bool IsFinished(size_t i) const { return ended_[i].tokens == paths_[i].tokens(); }
  char Now(size_t i) const {
    return RoundReply(seed_, static_cast<int>(i), ended_[i].tokens, paths_[i].answer);
  }
  int Running() const {
    int count = 0;
    for (size_t i = 0; i < paths_.size(); ++i) {
      count += Runs(i) ? 1 : 0;
    }
    return count;
  }
  int Finished() const {
    int count = 0;
    for (size_t i = 0; i < paths_.size(); ++i) {
      count += IsFinished(i) ? 1 : 0;
    }
    return count;
  }
  void Open(int count) {
    for (RoundEnd& path : ended_) {
      if (!path.opened && count > 0) {
        path.opened = true;
        --count;
      }
    }
  }
  void Advance(const std::vector<int>& steps) {
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (Runs(i)) {
        ended_[i].tokens = std::min(ended_[i].tokens + kRoundStep * steps[i], paths_[i].tokens());
      }
    }
  }
  // The answer of most finished paths, 0 where there is none, and the confidence in it.
  std::pair<char, double> Leader() const {
    std::map<char, int> counts;
    for (size_t i = 0; i < paths_.size(); ++i) {
      counts[paths_[i].answer] += IsFinished(i) ? 1 : 0;
    }
    char winner = 0;
    int first = 0;
    int second = 0;
    for (size_t i = 0; i < paths_.size(); ++i) {  // of equals that of the earliest path
      if (IsFinished(i) && counts[paths_[i].answer] > first) {
        winner = paths_[i].answer;
        first = counts[winner];
      }
    }
    for (const auto& [answer, count] : counts) {
      second = answer == winner ? second : std::max(second, count);
    }
    return {winner, first == 0 ? 0.0 : RoundPosterior(first, second)};
  }
  void Move(double confidence, bool begins) {
    mean_ += 0.5 * (confidence - mean_);
    if (begins) {
      means_.push_back(mean_);
      if (means_.size() > 5) {
        means_.erase(means_.begin());
      }
    }
    means_.back() = mean_;
  }
  void Drop(char winner) {
    std::vector<std::pair<int, size_t>> longest;  // rounds as a negative number, path
    const int running = Running();
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (Runs(i)) {
        apart_[i] = ended_[i].tokens == 0 || Now(i) == winner ? 0 : apart_[i] + 1;
        if (apart_[i] >= 8) {
          longest.emplace_back(-apart_[i], i);
        }
      }
    }
    std::sort(longest.begin(), longest.end());
    for (size_t i = 0; i < longest.size() && static_cast<int>(i) < running - 2; ++i) {
      ended_[longest[i].second].pruned = true;
    }
  }

  std::vector<RoundPath> paths_;
  uint32_t seed_;
  std::vector<RoundEnd> ended_;
  std::vector<int> apart_;
  std::vector<double> means_;
  double mean_ = 0;
};

std::unique_ptr<Session> AskedInRounds(FakeEngine& engine) {
  MethodOptions options = *Preset("short");
  EXPECT_TRUE(ApplyMethodDefaults("cmc", options).ok());
  options.width = kRoundWidth;
  options.max_tokens = 400;
  options.lane_factor = 3;
  options.probe_interval = kRoundStep;
  options.probe_text = "=";
  return ScriptedSession(engine, "cmc", options);
}

FakeOptions RoundEngine(const std::vector<RoundPath>& paths, uint32_t seed) {
  return ScriptedOptions([=](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const auto i = static_cast<size_t>(written.empty() ? PathIndexOf(key) : written[0] - 'a');
    if (const size_t asked = written.find("\n\n="); asked != std::string_view::npos) {
      const bool first = written.size() == asked + 3;
      return {first
                  ? RoundReply(seed, static_cast<int>(i), static_cast<int>(asked), paths[i].answer)
                  : '$',
              5.0F};
    }
    const std::string text =
        std::string(static_cast<size_t>(paths[i].letters), static_cast<char>('a' + i)) + "=" +
        paths[i].answer;
    return {written.size() < text.size() ? text[written.size()] : '$', 5.0F};
  });
}

TEST(MomentumPaths, TakesTheStepsThatASecondProgramTakes) {
  int pruned = 0;
  int stopped = 0;
  int opened = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<RoundPath> paths = RoundPaths(seed);
    for (RoundPath& path : paths) {
      path.letters += 1;  // the first letter tells the path
    }
    const std::vector<RoundEnd> expected = RoundProgram(paths, seed).Run();
    FakeEngine engine(RoundEngine(paths, seed));
    const std::unique_ptr<Session> session = AskedInRounds(engine);
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    size_t i = 0;
    for (const Path& path : session->pool().paths()) {
      if (path.kind != PathKind::kReasoning) {
        continue;
      }
      ASSERT_LT(i, expected.size());
      EXPECT_EQ(path.length(), expected[i].tokens) << seed << " path " << i;
      EXPECT_EQ(path.status == PathStatus::kPruned, expected[i].pruned) << seed << " path " << i;
      pruned += expected[i].pruned ? 1 : 0;
      stopped += path.status == PathStatus::kCancelled ? 1 : 0;
      ++i;
    }
    opened += static_cast<int>(i) - 5;
    EXPECT_TRUE(i == expected.size() || !expected[i].opened) << seed;
  }
  EXPECT_GT(pruned, 10);
  EXPECT_GT(stopped, 10);
  EXPECT_GT(opened, 60);
}

TEST(MomentumPaths, FinishedPathsVoteAndOthersWhereThereAreNone) {
  // Of the first five paths two end soon, with 1; the others mostly reply 2.
  const std::vector<RoundPath> paths = {{20, '1'},  {20, '1'},  {390, '2'}, {390, '2'},
                                        {390, '2'}, {390, '2'}, {390, '2'}, {390, '2'},
                                        {390, '2'}, {390, '2'}, {390, '2'}, {390, '2'}};
  FakeEngine engine(RoundEngine(paths, 0));
  for (const int64_t budget : {800, 60}) {
    std::unique_ptr<Session> session = AskedInRounds(engine);
    Driver driver(engine);
    driver.Add(session.get());
    while (!session->finished() && session->pool().ledger().effective() < budget) {
      ASSERT_TRUE(driver.Step(0.1).ok());
    }
    session->Stop("enough");
    EXPECT_EQ(session->Result().answer, budget == 800 ? "1" : "2");
    EXPECT_EQ(session->Result().voting_paths == 2, budget == 800);
    driver.Remove(session.get());
  }
}

}  // namespace
}  // namespace hyper
