// MARS: what it learns from its first paths, and where it ends the others, computed again out of
// the known replies.
#include "src/decode/methods/switching_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr int kSwitchStep = 3;
constexpr int kSwitchWindow = 16;
constexpr size_t kFirstPaths = 4;

// What a path is: letters before "=" and the answer; each of `seed`'s replies but one in
// `steady` is the answer.
struct SwitchPath {
  int letters = 1;
  char answer = '1';
  uint32_t steady = 2;

  int tokens() const { return letters + 3; }  // "=", the answer and the end
};

char SwitchReply(const SwitchPath& path, int number, int length) {
  const auto words = Philox(number, {static_cast<uint32_t>(length), 5, 0, 0});
  const bool other = words[0] % path.steady == 0 && length < 60;
  return other ? static_cast<char>('1' + words[1] % 3) : path.answer;
}

FakeOptions SwitchEngine(const std::vector<SwitchPath>& paths) {
  return ScriptedOptions([=](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const auto i = static_cast<size_t>(written.empty() ? PathIndexOf(key) : written[0] - 'a');
    const float sureness = 4.0F + 0.1F * static_cast<float>(written.size() % 7);
    if (const size_t asked = written.find("\n\n="); asked != std::string_view::npos) {
      const char reply = SwitchReply(paths[i], static_cast<int>(i), static_cast<int>(asked));
      return {written.size() == asked + 3 ? reply : '$', 9.0F};
    }
    const std::string text =
        std::string(static_cast<size_t>(paths[i].letters), static_cast<char>('a' + i)) + "=" +
        paths[i].answer;
    return {written.size() < text.size() ? text[written.size()] : '$', sureness + 4};
  });
}

struct AskedSwitches {
  explicit AskedSwitches(const std::vector<SwitchPath>& known) : engine(SwitchEngine(known)) {
    MethodOptions options = *Preset("short");
    EXPECT_TRUE(ApplyMethodDefaults("mars", options).ok());
    options.width = static_cast<int>(known.size());
    options.mars_warmup = kFirstPaths;
    options.max_tokens = 400;
    options.lane_factor = 3;
    options.window = kSwitchWindow;
    options.probe_interval = kSwitchStep;
    options.probe_text = "=";
    session = ScriptedSession(engine, "mars", options);
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    for (const Path& path : session->pool().paths()) {
      if (path.kind == PathKind::kReasoning) {
        paths.push_back(path);
      }
    }
  }
  FakeEngine engine;
  std::unique_ptr<Session> session;
  std::vector<Path> paths;
};

// The features of a path's probe number `probe`, from 1.
SwitchFeatures SwitchState(const Path& path, const SwitchPath& known, int probe) {
  const auto confidence = [&](int number) {
    const int end = kSwitchStep * number;
    double sum = 0;
    for (int i = std::max(0, end - kSwitchWindow); i < end; ++i) {
      sum += path.confidences[static_cast<size_t>(i)];
    }
    return sum / std::min(end, kSwitchWindow);
  };
  double flips = 0;
  double streak = 1;
  for (int number = 2; number <= probe; ++number) {
    const bool same = SwitchReply(known, path.id, kSwitchStep * number) ==
                      SwitchReply(known, path.id, kSwitchStep * (number - 1));
    flips += same ? 0 : 1;
    streak = same ? streak + 1 : 1;
  }
  const double rise = probe > 1 ? confidence(probe) - confidence(probe - 1) : 0;
  return {static_cast<double>(kSwitchStep * probe), confidence(probe), flips, streak, rise};
}

// Ids of reasoning paths are not their numbers: probes are paths too.
std::vector<Path> Numbered(std::vector<Path> paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    paths[i].id = static_cast<PathId>(i);
  }
  return paths;
}

// The answers numbered in the order in which they come: of equals the first one leads.
void NumberByFirst(std::vector<SwitchVote>& votes, std::vector<int>& seen) {
  for (SwitchVote& vote : votes) {
    const auto at = std::find(seen.begin(), seen.end(), vote.answer);
    const auto number = static_cast<int>(at - seen.begin());
    if (at == seen.end()) {
      seen.push_back(vote.answer);
    }
    vote.answer = number;
  }
}

// Tokens at which the later paths are stopped by the rule; none: they all come to their ends.
int SwitchStop(const std::vector<Path>& paths, const std::vector<SwitchPath>& known) {
  std::vector<SwitchFeatures> states;
  std::vector<bool> switched;
  int most = 0;
  for (size_t i = 0; i < kFirstPaths; ++i) {
    for (int probe = 1; kSwitchStep * probe < known[i].tokens(); ++probe) {
      states.push_back(SwitchState(paths[i], known[i], probe));
      switched.push_back(SwitchReply(known[i], static_cast<int>(i), kSwitchStep * probe) !=
                         known[i].answer);
      most = std::max(most, probe);
    }
  }
  const SwitchModel model = FitSwitches(states, switched);
  const auto vote = [&](size_t i, int probe) -> SwitchVote {
    if (kSwitchStep * probe >= known[i].tokens()) {
      return {known[i].answer - '1', 1, 0};
    }
    return {SwitchReply(known[i], static_cast<int>(i), kSwitchStep * probe) - '1', 1,
            SwitchProbability(model, SwitchState(paths[i], known[i], probe))};
  };
  std::vector<std::vector<SwitchVote>> first;
  for (int probe = 1; probe <= most + 1; ++probe) {
    std::vector<SwitchVote>& votes = first.emplace_back();
    for (size_t i = 0; i < kFirstPaths; ++i) {
      votes.push_back(vote(i, probe));
    }
  }
  std::vector<int> seen;
  for (std::vector<SwitchVote>& votes : first) {
    NumberByFirst(votes, seen);
  }
  const double gamma = CalibrateGamma(first, LeaderOf(first.back()));
  for (int probe = 1; probe < 120; ++probe) {
    bool running = false;
    std::vector<SwitchVote> votes;
    for (size_t i = 0; i < known.size(); ++i) {
      const int at = i < kFirstPaths ? 200 : probe;
      running |= kSwitchStep * at < known[i].tokens();
      if (kSwitchStep * at < known[i].tokens() && paths[i].length() < kSwitchStep * at) {
        return kSwitchStep * (probe - 1);  // the run had stopped before: nothing to compute from
      }
      votes.push_back(vote(i, at));
    }
    if (!running) {
      return 0;
    }
    seen.clear();
    NumberByFirst(votes, seen);
    if (IsSafeLead(votes, gamma)) {
      return kSwitchStep * probe;
    }
  }
  return 0;
}

TEST(SwitchingPaths, StopsWhereTheRuleSaysOutOfItsOwnFirstPaths) {
  int stopped = 0;
  int whole = 0;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::vector<SwitchPath> known;
    for (uint32_t i = 0; i < 10; ++i) {
      const auto words = Philox(seed, {i, 0, 3, 0});
      // In each fifth pool no path is long enough to be asked.
      const uint32_t longest = seed % 5 == 4 ? kSwitchStep - 1 : 100;
      known.push_back({1 + static_cast<int>(words[0] % longest),
                       static_cast<char>('1' + (words[1] % 3 == 0 ? words[2] % 3 : seed % 2)),
                       2 + seed % 3});
    }
    const AskedSwitches ran(known);
    const std::vector<Path> paths = Numbered(ran.paths);
    ASSERT_EQ(paths.size(), known.size());
    for (size_t i = 0; i < kFirstPaths; ++i) {
      EXPECT_EQ(paths[i].length(), known[i].tokens()) << "the first paths come to their ends";
    }
    const int stop = SwitchStop(paths, known);
    for (size_t i = kFirstPaths; i < known.size(); ++i) {
      const int expected = stop > 0 ? std::min(stop, known[i].tokens()) : known[i].tokens();
      EXPECT_EQ(paths[i].length(), expected) << seed << " path " << i;
    }
    ++(stop > 0 ? stopped : whole);
  }
  EXPECT_GT(stopped, 10);
  EXPECT_GT(whole, 0);
}

TEST(SwitchingPaths, RepliesOfStoppedPathsVote) {
  // The first paths reply at once what they answer, so nothing is likely to change.
  const std::vector<SwitchPath> known(8, {40, '2', 1000});
  const AskedSwitches ran(known);
  EXPECT_EQ(ran.paths[5].length(), kSwitchStep);
  EXPECT_EQ(ran.paths[5].status, PathStatus::kCancelled);
  const SessionResult result = ran.session->Result();
  EXPECT_EQ(result.answer, "2");
  EXPECT_EQ(result.voting_paths, 8);
  EXPECT_FALSE(result.partial);
}

}  // namespace
}  // namespace hyper
