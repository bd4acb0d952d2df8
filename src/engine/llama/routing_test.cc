// Refinement through the router hook: Clean Cache, waves, cells.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

class RoutingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
  }
};

RouteSpec Routes(int count) {
  RouteSpec spec;
  spec.routes = count;
  return spec;
}

LaneSpec Endless(uint64_t key) {
  LaneSpec spec = Sampled(key);
  spec.stop_at_end = false;
  return spec;
}

// Opens `lanes` lanes with keys from 0 on, the odd ones refined with `routes` routes (all, if
// `all`), and runs each for `tokens` tokens.
std::map<LaneId, LaneLog> RunRefined(LlamaEngine& engine, int lanes, int routes, int tokens,
                                     bool all) {
  const std::vector<Token> prompt = QuestionTokens(engine, kRemainderQuestion);
  for (int i = 0; i < lanes; ++i) {
    const Result<LaneId> lane = engine.Open(prompt, Endless(static_cast<uint64_t>(i)));
    EXPECT_TRUE(lane && engine.Grant(*lane, tokens).ok());
    if (all || i % 2 == 1) {
      EXPECT_TRUE(engine.Route(*lane, Routes(routes)).ok());
    }
  }
  return RunAll(engine);
}

TEST_F(RoutingTest, RouteZeroIsPlainDecodingBitForBit) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kRemainderQuestion);
  std::map<std::pair<int, int>, std::vector<float>> seen;  // by position and route
  EngineProbe::OnLogits(*engine, [&](const LogitRecord& record) {
    seen[{record.position, record.route}].assign(record.logits.begin(), record.logits.end());
  });
  const Result<LaneId> plain = engine->Open(prompt, Endless(3));
  ASSERT_TRUE(plain && engine->Grant(*plain, 40).ok());
  RunAll(*engine);
  const auto plain_logits = seen;
  for (int i = 0; i < 40; ++i) {
    const int position = static_cast<int>(prompt.size()) + i;
    const Result<LaneId> refined = engine->Fork(*plain, position, Endless(9));
    ASSERT_TRUE(refined && engine->Route(*refined, Routes(4)).ok());
    ASSERT_TRUE(engine->Grant(*refined, 1).ok());
    seen.clear();
    RunAll(*engine);
    EXPECT_EQ((seen[{position, 0}]), plain_logits.at({position, 0})) << "position " << position;
    EXPECT_NE((seen[{position, 1}]), plain_logits.at({position, 0}));
    EXPECT_NE((seen[{position, 2}]), (seen[{position, 1}]));
    EXPECT_EQ(seen.count({position, -1}), 1U);
    engine->Close(*refined);
  }
}

TEST_F(RoutingTest, RefinedNeighboursChangeNothingForPlainLanes) {
  const std::unique_ptr<LlamaEngine> plain = MakeOrFail(BundledOptions());
  std::map<LaneId, LaneLog> expected = RunRefined(*plain, 6, 1, 40, true);
  const std::unique_ptr<LlamaEngine> mixed = MakeOrFail(BundledOptions());
  std::map<LaneId, LaneLog> logs = RunRefined(*mixed, 6, 4, 40, false);
  for (LaneId lane = 1; lane <= 6; ++lane) {
    EXPECT_EQ(logs[lane].tokens.size(), 40U);
    EXPECT_EQ(logs[lane].logprobs == expected[lane].logprobs, lane % 2 == 1) << "lane " << lane;
  }
  EXPECT_EQ(mixed->cost().route_rows, 3 * 40 * 3);
  EXPECT_EQ(mixed->cost().decode_rows, 6 * 40 + 3 * 40 * 3);
  EXPECT_GT(mixed->cost().penalty_sums, 0);
  EXPECT_LE(mixed->cost().penalty_rewards, mixed->cost().penalty_sums);
}

TEST_F(RoutingTest, KvDoesNotGrowWithTheNumberOfRoutes) {
  std::map<int, size_t> state;
  std::map<int, int64_t> used;
  for (const int routes : {1, 2, 8}) {
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
    RunRefined(*engine, 3, routes, 30, true);
    EngineProbe::Pool(*engine).ForgetPrefixes();
    state[routes] = llama_state_get_size(EngineProbe::Context(*engine));
    used[routes] = engine->cost().cells_used;
    const auto prompt = static_cast<int64_t>(QuestionTokens(*engine, kRemainderQuestion).size());
    EXPECT_EQ(used[routes], prompt - 1 + 3 * 30);
    EXPECT_EQ(engine->cost().cells_peak, used[routes] + (routes > 1 ? 3 * (routes - 1) : 0));
  }
  EXPECT_EQ(state[2], state[1]);
  EXPECT_EQ(state[8], state[1]);
}

TEST_F(RoutingTest, TheMeasuredStateAgreesWithBytesPerCell) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const size_t empty = llama_state_get_size(EngineProbe::Context(*engine));
  RunRefined(*engine, 1, 1, 100, true);
  const EngineCost cost = engine->cost();
  const size_t full = llama_state_get_size(EngineProbe::Context(*engine));
  // A cell has its position, its sequences and a header besides its K and V.
  const double bytes = static_cast<double>(full - empty) / static_cast<double>(cost.cells_used);
  EXPECT_GE(bytes, cost.bytes_per_cell);
  EXPECT_LE(bytes, cost.bytes_per_cell + 32);
}

TEST_F(RoutingTest, ATightContextNeverStalls) {
  constexpr int kLanes = 3;
  constexpr int kRoutes = 4;
  constexpr int kTokens = 90;
  const std::unique_ptr<LlamaEngine> roomy = MakeOrFail(BundledOptions());
  const std::map<LaneId, LaneLog> expected = RunRefined(*roomy, kLanes, kRoutes, kTokens, true);
  LlamaOptions options = BundledOptions();
  const auto prompt = static_cast<int>(QuestionTokens(*roomy, kRemainderQuestion).size());
  options.context_cells = prompt - 1 + kLanes * kTokens + kLanes * kRoutes;
  const std::unique_ptr<LlamaEngine> tight = MakeOrFail(options);
  const std::map<LaneId, LaneLog> logs = RunRefined(*tight, kLanes, kRoutes, kTokens, true);
  for (const auto& [lane, log] : logs) {
    EXPECT_EQ(log.stalls, 0);
    EXPECT_EQ(log.tokens, expected.at(lane).tokens);
    EXPECT_EQ(log.logprobs, expected.at(lane).logprobs);
  }
}

TEST_F(RoutingTest, WavesGiveTheSameBytesAsOneForward) {
  const std::unique_ptr<LlamaEngine> whole = MakeOrFail(BundledOptions());
  const std::map<LaneId, LaneLog> expected = RunRefined(*whole, 2, 9, 25, true);
  LlamaOptions narrow = BundledOptions();
  narrow.max_forward_rows = 4;
  LlamaOptions tight = BundledOptions();
  // Room for the tokens and one route at a time.
  tight.context_cells =
      static_cast<int>(QuestionTokens(*whole, kRemainderQuestion).size()) - 1 + 2 * 25 + 1;
  for (const LlamaOptions& options : {narrow, tight}) {
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    const std::map<LaneId, LaneLog> logs = RunRefined(*engine, 2, 9, 25, true);
    for (const auto& [lane, log] : expected) {
      EXPECT_EQ(logs.at(lane).tokens, log.tokens);
      EXPECT_EQ(logs.at(lane).logprobs, log.logprobs);
    }
    EXPECT_EQ(engine->cost().decode_rows, 2 * 25 * 9);
  }
}

TEST_F(RoutingTest, MoreRoutesThanRowsOfAForward) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::map<LaneId, LaneLog> logs = RunRefined(*engine, 1, 100, 3, true);
  EXPECT_EQ(logs.at(1).tokens.size(), 3U);
  EXPECT_EQ(engine->cost().route_rows, 3 * 99);
}

TEST_F(RoutingTest, RevokeBetweenWavesTakesNoTokenAndLosesNothing) {
  LlamaOptions options = BundledOptions();
  options.max_forward_rows = 3;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  const std::map<LaneId, LaneLog> expected = RunRefined(*engine, 1, 7, 4, true);
  const std::vector<Token> prompt = QuestionTokens(*engine, kRemainderQuestion);
  const Result<LaneId> lane = engine->Open(prompt, Endless(0));
  ASSERT_TRUE(lane && engine->Route(*lane, Routes(7)).ok());
  ASSERT_TRUE(engine->Grant(*lane, 4).ok());
  ASSERT_TRUE(engine->Poll(0).has_value());  // the first wave of the first token
  ASSERT_TRUE(engine->Revoke(*lane).ok());
  EXPECT_TRUE(RunAll(*engine).empty());
  ASSERT_TRUE(engine->Grant(*lane, 4).ok());
  const std::map<LaneId, LaneLog> logs = RunAll(*engine);
  EXPECT_EQ(logs.at(*lane).tokens, expected.at(1).tokens);
  EXPECT_EQ(logs.at(*lane).logprobs, expected.at(1).logprobs);
}

TEST_F(RoutingTest, RoutesMayEndAndBadSpecsAreRefused) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const Result<LaneId> lane = engine->Open(QuestionTokens(*engine, kRemainderQuestion), Endless(1));
  ASSERT_TRUE(lane.has_value());
  EXPECT_EQ(engine->Route(*lane, Routes(0)).error().code, ErrorCode::kInvalidArgument);
  RouteSpec bad = Routes(2);
  bad.tau = std::nan("");
  EXPECT_EQ(engine->Route(*lane, bad).error().code, ErrorCode::kInvalidArgument);
  bad = Routes(2);
  bad.aggregate_temperature = 0;
  EXPECT_EQ(engine->Route(*lane, bad).error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(engine->Route(*lane, Routes(3)).ok());
  ASSERT_TRUE(engine->Grant(*lane, 2).ok());
  RunAll(*engine);
  EXPECT_EQ(engine->cost().route_rows, 2 * 2);
  ASSERT_TRUE(engine->Route(*lane, std::nullopt).ok());
  ASSERT_TRUE(engine->Grant(*lane, 2).ok());
  RunAll(*engine);
  EXPECT_EQ(engine->cost().route_rows, 2 * 2);
}

TEST_F(RoutingTest, SkippedLayersStayClean) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  std::map<int, int> records;  // by layer
  EngineProbe::OnRoutes(*engine, [&](const RoutingRecord& record) { ++records[record.layer]; });
  RouteSpec spec = Routes(3);
  spec.skip_first_layers = 1;
  spec.skip_last_layers = 2;
  const Result<LaneId> lane = engine->Open(QuestionTokens(*engine, kRemainderQuestion), Endless(1));
  ASSERT_TRUE(lane && engine->Route(*lane, spec).ok() && engine->Grant(*lane, 1).ok());
  RunAll(*engine);
  EXPECT_EQ(records, (std::map<int, int>{{1, 3}, {2, 3}, {3, 3}}));
}

}  // namespace
}  // namespace hyper::llama
