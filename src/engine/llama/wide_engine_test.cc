// Pools over several contexts of one model: the same bytes as in one context, lanes spread so that
// children find room, and moves that are charged.
#include "src/engine/llama/wide_engine.h"

#include <gtest/gtest.h>

#include <set>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

LlamaOptions Options(int lanes, int context_lanes, int cells = 8192) {
  LlamaOptions options = BundledOptions();
  options.max_lanes = lanes;
  options.context_lanes = context_lanes;
  options.context_cells = cells;
  return options;
}

std::unique_ptr<WideEngine> MakeWide(const LlamaOptions& options) {
  Result<LoadedModel> loaded = LoadModel(options);
  EXPECT_TRUE(loaded.has_value());
  Result<std::unique_ptr<WideEngine>> engine =
      WideEngine::Make(std::make_unique<LoadedModel>(std::move(*loaded)), options);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return std::move(*engine);
}

void ExpectEmpty(const WideEngine& engine) {
  EXPECT_EQ(engine.cost().cells_used, 0);
  EXPECT_EQ(engine.cost().lanes_open, 0);
}

class WideEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
  }
};

// Hot, so that lanes of one prompt soon differ.
LaneSpec Hot(uint64_t path_key) {
  LaneSpec spec = Sampled(path_key);
  spec.sampler.temperature = 3;
  spec.stop_at_end = false;
  return spec;
}

// What lanes say that are opened, refined, forked at their ends, inside what they wrote and inside
// the prompt, and closed, in an order that depends on nothing.
std::map<uint64_t, LaneLog> RunForest(Engine& engine, int roots, int children) {
  const std::vector<Token> prompt = QuestionTokens(engine, kEquationQuestion);
  std::map<LaneId, uint64_t> keys;
  std::map<uint64_t, LaneLog> logs;
  const auto run = [&](int tokens) {
    for (const auto& [lane, key] : keys) {
      EXPECT_TRUE(engine.Grant(lane, tokens).ok());
    }
    for (const auto& [lane, log] : RunAll(engine)) {
      LaneLog& all = logs[keys.at(lane)];
      all.tokens.insert(all.tokens.end(), log.tokens.begin(), log.tokens.end());
      all.logprobs.insert(all.logprobs.end(), log.logprobs.begin(), log.logprobs.end());
      all.means.insert(all.means.end(), log.means.begin(), log.means.end());
      all.tops.insert(all.tops.end(), log.tops.begin(), log.tops.end());
    }
  };
  for (int i = 0; i < roots; ++i) {
    const Result<LaneId> lane = engine.Open(prompt, Hot(static_cast<uint64_t>(i)));
    EXPECT_TRUE(lane.has_value());
    keys[*lane] = static_cast<uint64_t>(i);
  }
  run(9);
  const std::vector<std::pair<LaneId, uint64_t>> parents(keys.begin(), keys.end());
  const auto length = static_cast<int>(prompt.size());
  const std::vector<int> positions = {length + 9, length + 4, length - 3};
  for (int child = 0; child < children; ++child) {
    const auto& [parent, key] = parents[0];  // all of one lane: its context must overflow
    const uint64_t own = 100 + static_cast<uint64_t>(child);
    const Result<LaneId> lane =
        engine.Fork(parent, positions[static_cast<size_t>(child) % positions.size()], Hot(own));
    EXPECT_TRUE(lane.has_value()) << (lane ? "" : lane.error().message);
    keys[*lane] = own;
  }
  EXPECT_TRUE(engine.Route(keys.begin()->first, RouteSpec{.routes = 4}).ok());
  EXPECT_TRUE(engine.Route(keys.rbegin()->first, RouteSpec{.routes = 3}).ok());
  run(7);
  for (const auto& [lane, key] : keys) {
    engine.Close(lane);
  }
  return logs;
}

TEST_F(WideEngineTest, TwoContextsOf16SayWhatOneOf32Says) {
  const std::unique_ptr<LlamaEngine> one = MakeOrFail(Options(32, 32));
  ASSERT_TRUE(one->capabilities().strict);
  const std::unique_ptr<WideEngine> two = MakeWide(Options(32, 16));
  ASSERT_EQ(EngineProbe::Shards(*two).size(), 2U);
  EXPECT_EQ(two->capabilities().max_lanes, 32);
  EXPECT_TRUE(two->capabilities().strict);
  EXPECT_EQ(two->capabilities().cells_total, one->capabilities().cells_total);
  const std::map<uint64_t, LaneLog> expected = RunForest(*one, 6, 24);
  std::map<uint64_t, LaneLog> logs = RunForest(*two, 6, 24);
  ASSERT_EQ(logs.size(), expected.size());
  for (const auto& [key, log] : expected) {
    EXPECT_EQ(log.tokens.size(), key < 100 ? 16U : 7U);
    ExpectSame(logs[key], log, "key " + std::to_string(key));
  }
  EXPECT_GT(two->cost().moved_tokens, 0);
  EXPECT_EQ(two->cost().recomputed_tokens, 0);
  EXPECT_EQ(one->cost().moved_tokens, 0);
  EXPECT_EQ(two->cost().route_rows, one->cost().route_rows);
  EXPECT_EQ(two->cost().decode_rows, one->cost().decode_rows);
  ExpectEmpty(*two);
}

TEST_F(WideEngineTest, LanesAreSpreadSoThatChildrenFindRoom) {
  const std::unique_ptr<WideEngine> engine = MakeWide(Options(24, 8));
  ASSERT_EQ(EngineProbe::Shards(*engine).size(), 3U);
  const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
  std::vector<LaneId> lanes;
  for (int i = 0; i < 12; ++i) {
    const Result<LaneId> lane = engine->Open(prompt, Sampled(static_cast<uint64_t>(i)));
    ASSERT_TRUE(lane.has_value());
    lanes.push_back(*lane);
  }
  for (size_t shard = 0; shard < 3; ++shard) {
    EXPECT_EQ(EngineProbe::Shards(*engine)[shard]->free_lanes(), 4);
  }
  // Each of them has a child in its own context: nothing moves.
  for (const LaneId lane : lanes) {
    ASSERT_TRUE(engine->Fork(lane, static_cast<int>(prompt.size()), Greedy()).has_value());
  }
  EXPECT_EQ(engine->cost().moved_tokens, 0);
  const Result<LaneId> full = engine->Open(prompt, Greedy());
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, ErrorCode::kResourceExhausted);
  EXPECT_FALSE(engine->Fork(lanes[0], 1, Greedy()).has_value());
  EXPECT_EQ(engine->cost().lanes_peak, 24);
}

TEST_F(WideEngineTest, AMoveIsChargedToTheLaneThatMoved) {
  const std::unique_ptr<WideEngine> engine = MakeWide(Options(4, 2));
  const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
  const Result<LaneId> root = engine->Open(prompt, Greedy());
  ASSERT_TRUE(root && engine->Grant(*root, 6).ok());
  RunAll(*engine);
  const int length = static_cast<int>(prompt.size()) + 6;
  const Result<LaneId> near = engine->Fork(*root, length, Greedy());
  const Result<LaneId> far = engine->Fork(*root, length, Greedy());
  ASSERT_TRUE(near && far);
  EXPECT_EQ(engine->cost().moved_tokens, length - 1);
  for (const LaneId lane : {*near, *far}) {
    ASSERT_TRUE(engine->Grant(lane, 2).ok());
  }
  std::map<LaneId, std::vector<int>> charged;
  for (int i = 0; i < 8; ++i) {
    const Result<std::span<const Event>> events = engine->Poll(0);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      if (event.kind == EventKind::kToken) {
        charged[event.lane].push_back(event.recomputed_tokens);
      }
    }
  }
  EXPECT_EQ(charged[*near], (std::vector<int>{0, 0}));
  EXPECT_EQ(charged[*far], (std::vector<int>{length - 1, 0}));
  // A second fork into that context finds all it needs there.
  engine->Close(*far);
}

TEST_F(WideEngineTest, AForkIntoAnotherContextSharesWhatIsThereAlready) {
  const std::unique_ptr<WideEngine> engine = MakeWide(Options(6, 3));
  const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
  const auto length = static_cast<int>(prompt.size());
  std::vector<LaneId> roots;
  for (int i = 0; i < 2; ++i) {  // one in each context
    const Result<LaneId> lane = engine->Open(prompt, Sampled(7));
    ASSERT_TRUE(lane && engine->Grant(*lane, 4 + 4 * i).ok());
    roots.push_back(*lane);
  }
  RunAll(*engine);
  ASSERT_TRUE(engine->Fork(roots[1], length, Greedy()).has_value());
  ASSERT_TRUE(engine->Fork(roots[1], length, Greedy()).has_value());  // its context is full now
  ASSERT_TRUE(engine->Fork(roots[1], length + 8, Greedy()).has_value());
  // Root 0 has the prompt and three of the tokens; four more lie in the other context only.
  EXPECT_EQ(engine->cost().moved_tokens, 4);
}

TEST_F(WideEngineTest, ALaneThatFindsNoCellsMovesWhereSomeAre) {
  const std::unique_ptr<LlamaEngine> one = MakeOrFail(Options(8, 8));
  const std::vector<Token> prompt = QuestionTokens(*one, kEquationQuestion);
  const auto length = static_cast<int>(prompt.size());
  std::map<uint64_t, LaneLog> expected;
  for (const uint64_t key : {0, 2}) {
    const Result<LaneId> lane = one->Open(prompt, Sampled(key));
    ASSERT_TRUE(lane && one->Grant(*lane, 40).ok());
    expected[key] = RunAll(*one)[*lane];
    one->Close(*lane);
  }
  // Each context holds the prompt and 50 tokens; two paths of 40 do not fit into one.
  const std::unique_ptr<WideEngine> two = MakeWide(Options(8, 4, 2 * (length + 50)));
  std::map<uint64_t, LaneId> lanes;
  for (uint64_t key = 0; key < 3; ++key) {
    const Result<LaneId> lane = two->Open(prompt, Sampled(key));
    ASSERT_TRUE(lane.has_value());
    lanes[key] = *lane;
  }
  two->Close(lanes[1]);  // leaves the second context empty, and 0 and 2 in the first
  ASSERT_TRUE(two->Grant(lanes[0], 40).ok());
  ASSERT_TRUE(two->Grant(lanes[2], 40).ok());
  std::map<LaneId, LaneLog> logs = RunAll(*two);
  for (const uint64_t key : {0, 2}) {
    ExpectSame(logs[lanes[key]], expected[key], "key " + std::to_string(key));
  }
  EXPECT_GT(two->cost().moved_tokens, length);
  two->Close(lanes[0]);
  two->Close(lanes[2]);
  ExpectEmpty(*two);
}

TEST_F(WideEngineTest, ScoresAreThoseOfOneContext) {
  const std::unique_ptr<LlamaEngine> one = MakeOrFail(Options(4, 4));
  const std::unique_ptr<WideEngine> two = MakeWide(Options(4, 2));
  std::vector<std::vector<std::vector<float>>> answers;
  for (Engine* engine : std::vector<Engine*>{one.get(), two.get()}) {
    const std::vector<Token> prompt = QuestionTokens(*engine, kEquationQuestion);
    for (int i = 0; i < 2; ++i) {
      const Result<LaneId> lane = engine->Open(prompt, Greedy());
      ASSERT_TRUE(lane.has_value());
      const std::vector<std::vector<Token>> continuations = {{prompt[0], prompt[1]}, {prompt[2]}};
      const Result<uint64_t> request = engine->Score(*lane, continuations);
      ASSERT_TRUE(request.has_value());
      EXPECT_EQ(*request, static_cast<uint64_t>(i + 1));
    }
    for (int poll = 0; poll < 12; ++poll) {
      const Result<std::span<const Event>> events = engine->Poll(0);
      ASSERT_TRUE(events.has_value());
      for (const Event& event : *events) {
        if (event.kind == EventKind::kScored) {
          answers.push_back(event.scores);
        }
      }
    }
  }
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0], answers[2]);
  EXPECT_EQ(answers[1], answers[3]);
}

// A whole run of HyPER: what it wrote, and its answer.
std::vector<std::vector<Token>> RunSession(Engine& engine) {
  const RunPlan plan =
      *ResolveRun({"hyper", "short", {{"width", 12}, {"warmup", 6}, {"max-tokens", 60}}, {}}, {});
  SessionSpec spec;
  spec.prompt.tokens = QuestionTokens(engine, kEquationQuestion);
  spec.seed = {5, 0};
  spec.most.cells = 1 << 20;
  const Result<std::unique_ptr<Session>> opened = OpenSession(engine, plan, std::move(spec));
  EXPECT_TRUE(opened.has_value());
  Session& session = **opened;
  Driver driver(engine);
  driver.Add(&session);
  EXPECT_TRUE(driver.RunAll().ok());
  std::vector<std::vector<Token>> tokens;
  for (const Path& path : session.pool().paths()) {
    tokens.push_back(path.tokens);
  }
  return tokens;
}

TEST_F(WideEngineTest, AWholeRunIsTheSameInAnyNumberOfContexts) {
  const std::unique_ptr<LlamaEngine> one = MakeOrFail(Options(20, 20));
  const std::vector<std::vector<Token>> expected = RunSession(*one);
  for (const int context_lanes : {10, 5}) {
    const std::unique_ptr<WideEngine> wide = MakeWide(Options(20, context_lanes));
    EXPECT_EQ(RunSession(*wide), expected) << context_lanes;
    ExpectEmpty(*wide);
  }
}

TEST_F(WideEngineTest, OptionsDecideTheNumberOfContexts) {
  struct Case {
    int lanes;
    int context_lanes;
    int contexts;
    int each;
  };
  for (const Case& test : {Case{240, 0, 1, 240}, Case{241, 0, 2, 121}, Case{845, 0, 4, 212},
                           Case{0, 0, 1, 132}, Case{7, 3, 3, 3}}) {
    const Result<LoadedModel> loaded =
        LoadModel(Options(test.lanes, test.context_lanes, 0), Weights::kMeasure);
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(loaded->plan.contexts, test.contexts) << test.lanes;
    EXPECT_EQ(loaded->plan.lanes, test.each) << test.lanes;
    EXPECT_LE(loaded->plan.sequences(), 256);
  }
  EXPECT_FALSE(LoadModel(Options(kMostLanes + 1, 0), Weights::kMeasure).has_value());
  EXPECT_FALSE(LoadModel(Options(8, 241), Weights::kMeasure).has_value());
}

TEST(WideEngineRecurrent, AForkIntoAnotherContextTakesTheStateAlong) {
  LlamaOptions options;
  options.model_path = std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/qwen3next.gguf";
  options.context_cells = 512;
  options.threads = 1;
  options.max_lanes = 4;
  options.context_lanes = 2;
  const std::unique_ptr<WideEngine> engine = MakeWide(options);
  const std::vector<Token> prompt = {72, 101, 108, 108, 111, 63, 10};
  const Result<LaneId> root = engine->Open(prompt, Greedy());
  ASSERT_TRUE(root && engine->Grant(*root, 6).ok());
  RunAll(*engine);
  const Result<LaneId> near = engine->Fork(*root, 13, Greedy());
  const Result<LaneId> far = engine->Fork(*root, 13, Greedy());
  ASSERT_TRUE(near && far);
  EXPECT_EQ(engine->cost().moved_tokens, 12);
  for (const LaneId lane : {*near, *far}) {
    ASSERT_TRUE(engine->Grant(lane, 8).ok());
  }
  std::map<LaneId, LaneLog> logs = RunAll(*engine);
  EXPECT_EQ(logs[*near].tokens, logs[*far].tokens);
  EXPECT_EQ(logs[*near].tokens.size(), 8U);
  EXPECT_EQ(engine->cost().recomputed_tokens, 0);
}

}  // namespace
}  // namespace hyper::llama
