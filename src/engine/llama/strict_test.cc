// Strict determinism: what a lane says depends on its prompt, sampler and key alone.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr int kTokens = 40;

class StrictTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
  }
};

// Runs lanes with path keys [first_key, last_key), `width` of them side by side: as soon as one has
// ended it is closed and the next opened, so that cells are freed and taken again all the time. At
// most `opened` lanes begin at the same step; few of them never end together, so that the cells
// are never all free.
std::map<uint64_t, LaneLog> RunPool(LlamaEngine& engine, uint64_t first_key, uint64_t last_key,
                                    size_t width, int opened = 1000) {
  const std::vector<Token> prompt = QuestionTokens(engine, kEquationQuestion);
  std::map<LaneId, uint64_t> keys;
  std::map<uint64_t, LaneLog> logs;
  uint64_t next = first_key;
  while (next < last_key || !keys.empty()) {
    for (int i = 0; i < opened && next < last_key && keys.size() < width; ++i) {
      const Result<LaneId> lane = engine.Open(prompt, Sampled(next));
      EXPECT_TRUE(lane && engine.Grant(*lane, kTokens).ok());
      keys[*lane] = next++;
    }
    const Result<std::span<const Event>> events = engine.Poll(0);
    EXPECT_TRUE(events.has_value());
    if (!events) {
      break;
    }
    std::vector<LaneId> done;
    for (const Event& event : *events) {
      Record(event, &logs[keys.at(event.lane)]);
      if (event.kind == EventKind::kEnd || event.kind == EventKind::kBoundary ||
          event.kind == EventKind::kFailed) {
        done.push_back(event.lane);
      }
    }
    for (const LaneId lane : done) {
      engine.Close(lane);
      keys.erase(lane);
    }
  }
  return logs;
}

struct PoolCase {
  size_t width;
  uint64_t lanes;
  int threads;
  int cells;
  int opened;
  bool moves;  // cells run out above, so that live ones are moved together
};

TEST_F(StrictTest, LanesSayTheSameInPoolsOfAnySizeAndWithAnyThreads) {
  const std::unique_ptr<LlamaEngine> alone = MakeOrFail(BundledOptions());
  ASSERT_TRUE(alone->capabilities().strict);
  std::map<uint64_t, LaneLog> expected;
  for (const uint64_t key : {0, 1, 4, 61, 79}) {
    expected[key] = RunPool(*alone, key, key + 1, 1)[key];
    EXPECT_GT(expected[key].tokens.size(), 10U);
  }
  EXPECT_NE(expected[0].tokens, expected[1].tokens);
  for (const PoolCase& pool :
       {PoolCase{2, 3, 1, 512, 2, false}, PoolCase{5, 5, 1, 512, 5, false},
        PoolCase{8, 62, 1, 512, 1, true}, PoolCase{32, 62, 2, 1500, 32, false},
        PoolCase{80, 80, 1, 8192, 80, false}}) {
    LlamaOptions options = BundledOptions();
    options.threads = pool.threads;
    options.context_cells = pool.cells;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    std::map<uint64_t, LaneLog> logs = RunPool(*engine, 0, pool.lanes, pool.width, pool.opened);
    for (const auto& [key, log] : expected) {
      if (key < pool.lanes) {
        ExpectSame(logs[key], log,
                   "key " + std::to_string(key) + ", width " + std::to_string(pool.width));
      }
    }
    EXPECT_EQ(engine->cost().cells_used, 0);
    EXPECT_EQ(EngineProbe::Pool(*engine).moves() > 0, pool.moves) << "width " << pool.width;
  }
}

TEST_F(StrictTest, EvictedLanesGoOnAsIfNothingHadHappened) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
  const Result<LaneId> whole = engine->Open(prompt, Sampled(5));
  ASSERT_TRUE(whole && engine->Grant(*whole, 24).ok());
  const LaneLog expected = RunAll(*engine)[*whole];
  engine->Close(*whole);
  const Result<LaneId> lane = engine->Open(prompt, Sampled(5));
  ASSERT_TRUE(lane.has_value());
  LaneLog log;
  for (int part = 0; part < 3; ++part) {
    ASSERT_TRUE(engine->Grant(*lane, 8).ok());
    for (const auto& [id, more] : RunAll(*engine)) {
      log.tokens.insert(log.tokens.end(), more.tokens.begin(), more.tokens.end());
      log.logprobs.insert(log.logprobs.end(), more.logprobs.begin(), more.logprobs.end());
    }
    ASSERT_TRUE(engine->Evict(*lane).ok());
    EXPECT_EQ(engine->cost().cells_used, 0);
  }
  EXPECT_EQ(log.tokens, expected.tokens);
  EXPECT_EQ(log.logprobs, expected.logprobs);
  const auto length = static_cast<int64_t>(prompt.size());
  EXPECT_EQ(engine->cost().recomputed_tokens, (length - 1 + 8) + (length - 1 + 16));
}

// llama.cpp #7052: more slots, other answers even at temperature 0.
TEST_F(StrictTest, EqualGreedyPromptsSayOneText) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
  for (int i = 0; i < 8; ++i) {
    LaneSpec spec = Greedy();
    spec.path_key = static_cast<uint64_t>(i);
    const Result<LaneId> lane = engine->Open(prompt, spec);
    ASSERT_TRUE(lane && engine->Grant(*lane, kTokens).ok());
  }
  const std::map<LaneId, LaneLog> logs = RunAll(*engine);
  ASSERT_EQ(logs.size(), 8U);
  for (const auto& [lane, log] : logs) {
    ExpectSame(log, logs.begin()->second, "lane " + std::to_string(lane));
  }
}

TEST_F(StrictTest, FastModeSaysSo) {
  LlamaOptions options = BundledOptions();
  options.strict = false;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  EXPECT_FALSE(engine->capabilities().strict);
  const std::map<uint64_t, LaneLog> logs = RunPool(*engine, 0, 70, 70);
  EXPECT_EQ(logs.size(), 70U);
  EXPECT_EQ(engine->cost().padding_rows, 0);
  EXPECT_EQ(engine->cost().cells_used, 0);
  options = BundledOptions();
  options.flash_attention = Toggle::kOff;
  EXPECT_FALSE(MakeOrFail(options)->capabilities().strict);
}

}  // namespace
}  // namespace hyper::llama
