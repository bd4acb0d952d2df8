// Sessions under each signal of --confidence, computed again from the paths' series.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "src/core/random.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Letters by chance, some rows peaked and some flat, so that samples now and then slip.
FakeOptions AnyLetters() {
  FakeOptions options;
  options.logits = [](const FakeStep& step, std::span<float> logits) {
    const auto at = static_cast<uint32_t>(step.history.size());
    std::fill(logits.begin(), logits.end(), -12.0F);
    for (uint32_t i = 0; i < 26; ++i) {
      const auto words = Philox(step.path_key, {at, i, 0, 0});
      const float spread = at % 3 == 0 ? 1.0F : 6.0F;
      logits['a' + i] = spread * static_cast<float>(words[0] % 1000) / 1000;
    }
    logits[FakeEngine::kEnd] = at > 14 ? 2.0F : -12.0F;
  };
  return options;
}

// A session of `method` under the signal, run to its end.
std::unique_ptr<Session> RunUnder(FakeEngine& engine, const std::string& method,
                                  const std::string& signal) {
  AskOptions options;
  options.method = method;
  options.preset = "short";
  // Not all methods read all of these.
  options.defaults = {{"width", 12},        {"warmup", 6},         {"threshold", "top:3"},
                      {"window", 4},        {"interval", 4},       {"max-tokens", 40},
                      {"temperature", 1.0}, {"confidence", signal}};
  options.seed = 11;
  Result<std::unique_ptr<Session>> session = PrepareSession(engine, "q", options);
  EXPECT_TRUE(session.has_value()) << session.error().message;
  Driver driver(engine);
  driver.Add(session->get());
  EXPECT_TRUE(driver.RunAll().ok());
  return std::move(*session);
}

// The logarithm of a token's signal where the signal is a mean of such, else the signal.
long double Nats(const std::string& signal, const Path& path, size_t at) {
  const long double logprob = path.logprobs[at];
  const long double entropy = path.entropies[at];
  if (signal == "logprob") {
    return logprob;
  }
  if (signal == "surprise") {
    return logprob + entropy;
  }
  return signal == "entropy" ? -entropy : -static_cast<long double>(path.mean_logprobs[at]);
}

// The mean of `count` tokens from `first` on, as the path has it.
double MeanOfTokens(const std::string& signal, const Path& path, size_t first, size_t count) {
  long double sum = 0;
  for (size_t i = first; i < first + count; ++i) {
    sum += Nats(signal, path, i);
  }
  const long double mean = sum / static_cast<long double>(count);
  return static_cast<double>(signal == "self-certainty" ? mean : std::exp(mean));
}

double LowestOf(const std::string& signal, const Path& path, size_t window) {
  const auto length = static_cast<size_t>(path.length());
  double lowest = MeanOfTokens(signal, path, 0, std::min(length, window));
  for (size_t first = 1; first + window <= length; ++first) {
    lowest = std::min(lowest, MeanOfTokens(signal, path, first, window));
  }
  return lowest;
}

class SessionsUnderASignal : public testing::TestWithParam<const char*> {};

TEST_P(SessionsUnderASignal, MeanWindowsAndThresholdFollowFromTheSeries) {
  const std::string signal = GetParam();
  FakeEngine engine(AnyLetters());
  const auto session = RunUnder(engine, "hyper", signal);
  std::vector<double> lowest;
  int pruned = 0;
  for (const Path& path : session->pool().paths()) {
    const auto length = static_cast<size_t>(path.length());
    for (size_t i = 0; i < length; ++i) {
      ASSERT_NEAR(path.confidences[i], MeanOfTokens(signal, path, i, 1), 1e-5) << i;
    }
    EXPECT_NEAR(path.mean_confidence, MeanOfTokens(signal, path, 0, length), 1e-5);
    EXPECT_NEAR(path.lowest_window, LowestOf(signal, path, 4), 1e-5);
    if (path.warmup && CameToItsEnd(path.status)) {
      lowest.push_back(LowestOf(signal, path, 4));
    }
  }
  ASSERT_GE(lowest.size(), 3U);
  std::sort(lowest.rbegin(), lowest.rend());
  ASSERT_TRUE(session->pool().threshold().has_value());
  const double threshold = *session->pool().threshold();
  EXPECT_NEAR(threshold, lowest[2], 1e-5);
  for (const Path& path : session->pool().paths()) {
    if (path.status != PathStatus::kPruned) {
      continue;
    }
    ++pruned;
    const auto last = static_cast<size_t>(path.length()) - 4;
    EXPECT_LT(MeanOfTokens(signal, path, last, 4), threshold + 1e-5);
    EXPECT_GE(LowestOf(signal, path, 4), path.window_mean - 1e-5) << "it fell at its last token";
  }
  EXPECT_GT(pruned, 0);
}

TEST_P(SessionsUnderASignal, TheControllerReadsIt) {
  const std::string signal = GetParam();
  FakeEngine engine(AnyLetters());
  const auto session = RunUnder(engine, "hyper", signal);
  int decisions = 0;
  for (const Record& record : session->TakeRecords()) {
    const auto* decision = std::get_if<DecisionRecord>(&record);
    if (decision == nullptr) {
      continue;
    }
    ++decisions;
    double sum = 0;
    for (const DecisionRecord::Reading& reading : decision->readings) {
      const auto at = static_cast<size_t>(decision->position) - 1;
      sum += MeanOfTokens(signal, session->pool().path(reading.path), at, 1);
    }
    const auto paths = static_cast<double>(decision->readings.size());
    EXPECT_NEAR(decision->raw.confidence, sum / paths, 1e-5);
    EXPECT_GE(decision->normalised.confidence, 0);
    EXPECT_LE(decision->normalised.confidence, 1);
  }
  EXPECT_GT(decisions, 0);
}

TEST_P(SessionsUnderASignal, TheVoteWeighsByIt) {
  const std::string signal = GetParam();
  FakeEngine engine(AnyLetters());
  auto session = RunUnder(engine, "deepconf-offline", signal);
  for (const Path& path : session->pool().paths()) {
    const double weight = session->method().Weight(session->pool(), path);
    EXPECT_NEAR(weight, MeanOfTokens(signal, path, 0, static_cast<size_t>(path.length())), 1e-5);
  }
}

TEST_P(SessionsUnderASignal, MultiTokenKeepsTheSurestContinuation) {
  const std::string signal = GetParam();
  FakeEngine engine(AnyLetters());
  const auto session = RunUnder(engine, "multi-token-only", signal);
  int merged = 0;
  for (const Path& path : session->pool().paths()) {
    // One that was pruned on the way had no part in it.
    if (path.status != PathStatus::kMerged ||
        path.reason.find("below the threshold") != std::string::npos) {
      continue;
    }
    ++merged;
    const Path& kept = session->pool().path(path.kept);
    const int start = std::max(path.fork_position, kept.fork_position);
    const auto mean = [&](const Path& one) {
      const int count = std::min(4, one.length() - start);
      return MeanOfTokens(signal, one, static_cast<size_t>(start), static_cast<size_t>(count));
    };
    EXPECT_GE(mean(kept), mean(path) - 1e-6) << path.id << " lost to " << kept.id;
  }
  EXPECT_GT(merged, 0);
}

INSTANTIATE_TEST_SUITE_P(All, SessionsUnderASignal,
                         testing::Values("logprob", "surprise", "entropy", "self-certainty"),
                         [](const auto& one) {
                           const std::string name = one.param;
                           return name.substr(0, name.find('-'));
                         });

TEST(SelfCertaintySignal, IsRefusedWhereOnlyTheLikeliestTokensAreKnown) {
  FakeOptions fake = AnyLetters();
  fake.capabilities.full_logits = false;
  FakeEngine engine(fake);
  AskOptions options;
  options.preset = "short";
  options.options = {{"confidence", "self-certainty"}};
  const auto refused = PrepareSession(engine, "q", options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("whole vocabulary"), std::string::npos);
  for (const char* signal : {"alternatives", "topk", "logprob", "surprise", "entropy"}) {
    options.options = {{"confidence", signal}};
    EXPECT_TRUE(PrepareSession(engine, "q", options).has_value()) << signal;
  }
}

}  // namespace
}  // namespace hyper
