// What a study keeps of a run is enough to compute its decisions again: here the statistics at each
// decision out of the stored readings alone, by their formulas, and X_max out of the warm-up.
#include "src/eval/run/session_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "src/store/store.h"
#include "tests/support/scripted_paths.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

// Paths of different sureness and length, so that survivors are fewer than the width.
FakeOptions Unequal() {
  return ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const size_t length = 9 + key % 23;
    if (written.size() + 2 < length) {
      return {static_cast<char>('a' + (written.size() + key) % 7),
              4.0F + static_cast<float>(key % 5)};
    }
    return {written.size() + 2 == length ? '=' : written.size() + 1 == length ? '7' : '$', 6.0F};
  });
}

std::unique_ptr<Session> RunHyper(Engine& engine) {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = 4;
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 40;
  std::unique_ptr<Session> session = ScriptedSession(engine, "hyper", options);
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  return session;
}

// What a run left in a file and what is read back.
StoredItem ThroughAFile(const Session& session, const std::vector<Record>& records) {
  const test::TemporaryFolder folder;
  Result<Store> store = Store::Open(folder.File("s.db"), DatabaseMode::kCreate);
  EXPECT_TRUE(store.has_value());
  const ItemKey key{*store->AddRun(StoredRun()), *store->AddQuestion(StoredQuestion()), 0};
  EXPECT_TRUE(*store->SaveItem(RecordSession(session, records, key)));
  return *store->LoadItem(key);
}

template <class Value>
std::vector<Value> Values(const StoredItem& item, PathId path, const std::string& name) {
  const auto at = std::find_if(item.series.begin(), item.series.end(), [&](const auto& series) {
    return series.path == path && series.name == name;
  });
  return at == item.series.end() ? std::vector<Value>() : std::get<std::vector<Value>>(at->values);
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

// The mean of -log p over the first 8 alternatives to `chosen`.
double Confidence(const std::vector<TokenLogprob>& top, Token chosen) {
  std::vector<double> values;
  for (const TokenLogprob& candidate : top) {
    if (candidate.token != chosen && values.size() < 8) {
      values.push_back(-candidate.logprob);
    }
  }
  return Mean(values);
}

// Of the first 8, renormalised.
double Entropy(const std::vector<TokenLogprob>& top) {
  double total = 0;
  for (size_t i = 0; i < 8; ++i) {
    total += std::exp(top[i].logprob);
  }
  double entropy = 0;
  for (size_t i = 0; i < 8; ++i) {
    const double share = std::exp(top[i].logprob) / total;
    entropy -= share * std::log(share);
  }
  return entropy;
}

TEST(SessionRecord, ReadingsTellTheStatisticsOfEveryDecision) {
  FakeEngine engine(Unequal());
  const std::unique_ptr<Session> session = RunHyper(engine);
  const StoredItem item = ThroughAFile(*session, session->TakeRecords());
  ASSERT_GE(item.decisions.size(), 3U);
  for (const DecisionRecord& decision : item.decisions) {
    std::vector<double> confidences;
    std::vector<double> entropies;
    std::map<Token, int> chosen;
    for (const StoredPath& path : item.paths) {
      const std::vector<int32_t> positions = Values<int32_t>(item, path.path, "read_position");
      const std::vector<int32_t> tokens = Values<int32_t>(item, path.path, "read_token");
      const std::vector<float> logprobs = Values<float>(item, path.path, "read_logprob");
      ASSERT_EQ(tokens.size(), logprobs.size());
      const auto at = std::find(positions.begin(), positions.end(), decision.position);
      if (at == positions.end()) {
        continue;
      }
      const size_t each = tokens.size() / positions.size();
      const size_t first = static_cast<size_t>(at - positions.begin()) * each;
      std::vector<TokenLogprob> top;
      for (size_t i = first; i < first + each; ++i) {
        top.push_back({tokens[i], logprobs[i]});
      }
      const Token token =
          session->pool().path(path.path).tokens.at(static_cast<size_t>(decision.position - 1));
      confidences.push_back(Confidence(top, token));
      entropies.push_back(Entropy(top));
      ++chosen[token];
    }
    ASSERT_EQ(static_cast<int>(confidences.size()), decision.paths_before);
    EXPECT_NEAR(Mean(confidences), decision.raw.confidence, 1e-5);
    EXPECT_NEAR(Mean(entropies), decision.raw.entropy, 1e-5);
    int most = 0;
    for (const auto& [token, count] : chosen) {
      most = std::max(most, count);
    }
    EXPECT_NEAR(static_cast<double>(most) / decision.paths_before, decision.raw.consensus, 1e-12);
  }
}

TEST(SessionRecord, WarmupSeriesTellTheMaxima) {
  FakeEngine engine(Unequal());
  const std::unique_ptr<Session> session = RunHyper(engine);
  const StoredItem item = ThroughAFile(*session, session->TakeRecords());
  ASSERT_TRUE(item.warmup.has_value());
  size_t longest = 0;
  for (const StoredPath& path : item.paths) {
    longest = std::max(longest, path.warmup ? static_cast<size_t>(path.tokens) : 0);
  }
  const std::vector<float> paths = Values<float>(item, kNoPath, "warmup_paths");
  ASSERT_EQ(paths.size(), longest);
  EXPECT_EQ(paths.front(), 4);
  MaxStatistics::ForEach(item.warmup->maxima, [&](const char* name, const Maximum& maximum) {
    const std::vector<float> values = Values<float>(item, kNoPath, std::string("warmup_") + name);
    ASSERT_EQ(values.size(), longest) << name;
    EXPECT_FLOAT_EQ(*std::max_element(values.begin(), values.end()),
                    static_cast<float>(maximum.value))
        << name;
  });
}

}  // namespace
}  // namespace hyper::eval
