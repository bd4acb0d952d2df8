#include "src/engine/llama/kv/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

// A wide pool of long paths of a small dense model with memory to spare.
LayoutCase Roomy() {
  LayoutCase layout;
  layout.possible = true;
  layout.lanes = 128;
  layout.sequences = 128;
  layout.cells = 128000;
  layout.train_tokens = 1000;
  layout.affordable_cells = 1e6;
  return layout;
}

TEST(KvLayout, AutoTakesStreamsWhereTheyPay) {
  const LayoutChoice choice = ChooseLayout(Roomy());
  EXPECT_TRUE(choice.streams);
  EXPECT_EQ(choice.stream_cells, 1024);  // the model's whole length, rounded up
}

TEST(KvLayout, AutoStaysUnifiedWhereStreamsWouldTakeSomethingAway) {
  LayoutCase layout = Roomy();
  layout.possible = false;
  EXPECT_FALSE(ChooseLayout(layout).streams);
  layout = Roomy();
  layout.affordable_cells = 1024.0 * 128 - 1;
  EXPECT_FALSE(ChooseLayout(layout).streams);
  layout.affordable_cells = 1024.0 * 128;
  EXPECT_TRUE(ChooseLayout(layout).streams);
}

TEST(KvLayout, AutoTakesStreamsForManyLongPaths) {
  struct Case {
    int lanes;
    int path_tokens;
    bool streams;
  };
  for (const Case& one : {Case{63, 400, false}, Case{64, 399, false}, Case{64, 400, true},
                          Case{128, 100, false}, Case{128, 440, true}}) {
    LayoutCase layout = Roomy();
    layout.lanes = one.lanes;
    layout.cells = int64_t{one.lanes} * one.path_tokens;
    EXPECT_EQ(ChooseLayout(layout).streams, one.streams)
        << one.lanes << " lanes, " << one.path_tokens << " tokens";
  }
  LayoutCase layout = Roomy();
  layout.train_tokens = 399;
  EXPECT_FALSE(ChooseLayout(layout).streams);
}

TEST(KvLayout, AutoStaysUnifiedWhereAttentionReadsOwnCellsAlone) {
  LayoutCase layout = Roomy();
  layout.pool_attention = true;
  EXPECT_FALSE(ChooseLayout(layout).streams);
  layout.wish = KvLayout::kStreams;
  EXPECT_TRUE(ChooseLayout(layout).streams);
}

TEST(KvLayout, AWishIsKept) {
  LayoutCase layout = Roomy();
  layout.wish = KvLayout::kUnified;
  EXPECT_FALSE(ChooseLayout(layout).streams);
  layout = Roomy();
  layout.wish = KvLayout::kStreams;
  layout.possible = false;
  layout.lanes = 2;
  layout.cells_given = true;
  layout.cells = 1030;
  EXPECT_TRUE(ChooseLayout(layout).streams);
  EXPECT_EQ(ChooseLayout(layout).stream_cells, 768);  // 515 each, rounded up
  layout.cells_given = false;
  layout.affordable_cells = 600.0 * 128;
  EXPECT_EQ(ChooseLayout(layout).stream_cells, 512);
  layout.affordable_cells = 0;
  EXPECT_EQ(ChooseLayout(layout).stream_cells, 256);
}

class StreamsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
  }

  static LlamaOptions Options(KvLayout layout) {
    LlamaOptions options = BundledOptions();
    options.strict = false;
    options.kv_layout = layout;
    options.max_lanes = 8;
    options.context_cells = 4096;
    return options;
  }
};

// Three greedy lanes and, when they are 12 tokens long, a fork of each: at its end, inside what it
// wrote, and inside the prompt.
std::vector<LaneLog> RunForks(LlamaEngine& engine) {
  const std::vector<std::string> questions = {"Solve 5x+43=173 for x.", "What is 12 * (7 + 5)?",
                                              "Start with 25, add 13, add 40."};
  std::vector<LaneId> lanes;
  for (const std::string& question : questions) {
    const Result<LaneId> lane = engine.Open(QuestionTokens(engine, question), Greedy());
    EXPECT_TRUE(lane && engine.Grant(*lane, 12).ok());
    lanes.push_back(*lane);
  }
  std::map<LaneId, LaneLog> first = RunAll(engine);
  std::vector<LaneLog> logs;
  for (size_t i = 0; i < lanes.size(); ++i) {
    logs.push_back(first[lanes[i]]);
    const int length = engine.HistoryLength(lanes[i]);
    const std::vector<int> cut = {0, 5, 20};
    const Result<LaneId> child = engine.Fork(lanes[i], length - cut[i], Greedy());
    EXPECT_TRUE(child && engine.Grant(*child, 10).ok() && engine.Grant(lanes[i], 10).ok());
  }
  for (const auto& [lane, log] : RunAll(engine)) {
    logs.push_back(log);
  }
  return logs;
}

TEST_F(StreamsTest, WriteWhatAUnifiedBufferWrites) {
  const std::unique_ptr<LlamaEngine> unified = MakeOrFail(Options(KvLayout::kUnified));
  const std::unique_ptr<LlamaEngine> streams = MakeOrFail(Options(KvLayout::kStreams));
  EXPECT_TRUE(unified->capabilities().routing);
  EXPECT_FALSE(streams->capabilities().routing);  // each route would copy its path's buffer
  EXPECT_EQ(streams->capabilities().context_tokens, 512);
  const std::vector<LaneLog> expected = RunForks(*unified);
  const std::vector<LaneLog> logs = RunForks(*streams);
  ASSERT_EQ(logs.size(), expected.size());
  for (size_t i = 0; i < logs.size(); ++i) {
    EXPECT_EQ(logs[i].tokens, expected[i].tokens) << i;
    ASSERT_EQ(logs[i].logprobs.size(), expected[i].logprobs.size());
    for (size_t token = 0; token < logs[i].logprobs.size(); ++token) {
      EXPECT_NEAR(logs[i].logprobs[token], expected[i].logprobs[token], 5e-3) << i;
    }
  }
}

TEST_F(StreamsTest, PromptsThatComeTogetherShareAForward) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(Options(layout));
    int64_t missing = 0;
    for (const char* question : {"Solve 5x+43=173 for x.", "What is 12 * (7 + 5)?"}) {
      const std::vector<Token> prompt = QuestionTokens(*engine, question);
      missing += static_cast<int64_t>(prompt.size()) - 1;
      for (int twin = 0; twin < 2; ++twin) {  // the second one waits, and shares the first one's
        const Result<LaneId> lane = engine->Open(prompt, Greedy());
        ASSERT_TRUE(lane && engine->Grant(*lane, 1).ok());
      }
    }
    ASSERT_TRUE(engine->Poll(0).has_value());
    EXPECT_EQ(engine->cost().forwards, 1);
    EXPECT_EQ(engine->cost().prefill_tokens, missing);
    RunAll(*engine);
    EXPECT_EQ(engine->cost().prefill_tokens, missing);
    EXPECT_EQ(engine->cost().decode_rows, 4);
  }
}

TEST_F(StreamsTest, NeedFastDeterminism) {
  LlamaOptions options = Options(KvLayout::kStreams);
  options.strict = true;
  const auto engine = LlamaEngine::Make(options);
  ASSERT_FALSE(engine.has_value());
  EXPECT_NE(engine.error().message.find("--determinism fast"), std::string::npos);
}

TEST_F(StreamsTest, QuantisedKvDecodesInBothLayouts) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    for (const KvType type : {KvType::kQ8_0, KvType::kQ4_0}) {
      LlamaOptions options = Options(layout);
      options.kv_type = type;
      const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
      ASSERT_NE(engine, nullptr);
      const Result<LaneId> lane = engine->Open(
          QuestionTokens(*engine, "Start with 25, add 13, add 40. What is the result?"), Greedy());
      ASSERT_TRUE(lane && engine->Grant(*lane, 400).ok());
      const LaneLog log = RunAll(*engine)[*lane];
      EXPECT_TRUE(log.ended);
      if (type == KvType::kQ8_0) {
        EXPECT_NE(TextOf(*engine, log.tokens).find("\\boxed{78}"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace hyper::llama
