// Cells that run out, scores, given tokens, rows without sense: a lane's trouble stays its own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "src/engine/llama/backend.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

class LimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
  }

  static LaneSpec Endless(uint64_t key) {
    LaneSpec spec = Sampled(key);
    spec.stop_at_end = false;
    return spec;
  }

  static std::vector<LaneId> OpenLanes(LlamaEngine& engine, int count, int tokens) {
    std::vector<LaneId> lanes;
    for (int i = 0; i < count; ++i) {
      const Result<LaneId> lane =
          engine.Open(QuestionTokens(engine, kSumQuestion), Endless(static_cast<uint64_t>(i)));
      EXPECT_TRUE(lane && engine.Grant(*lane, tokens).ok());
      lanes.push_back(*lane);
    }
    return lanes;
  }
};

// llama.cpp #23652: one overflow of the shared pool aborts every generation there.
TEST_F(LimitsTest, LanesStallWithoutCellsAndGoOnWhenThereAreSome) {
  const std::unique_ptr<LlamaEngine> roomy = MakeOrFail(BundledOptions());
  OpenLanes(*roomy, 4, 100);
  const std::map<LaneId, LaneLog> expected = RunAll(*roomy);
  LlamaOptions options = BundledOptions();
  options.context_cells = 256;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  std::vector<LaneId> lanes = OpenLanes(*engine, 4, 100);
  std::map<LaneId, LaneLog> logs = RunAll(*engine);
  EXPECT_EQ(engine->cost().cells_used, 256);
  for (const LaneId lane : lanes) {
    EXPECT_EQ(logs[lane].kinds.back(), EventKind::kStalled);
    EXPECT_LT(logs[lane].tokens.size(), 100U);
    EXPECT_TRUE(logs[lane].error.empty());
  }
  for (size_t closed = 3; closed >= 2; --closed) {
    engine->Close(lanes[closed]);
    for (auto& [lane, more] : RunAll(*engine)) {
      LaneLog& log = logs[lane];
      log.tokens.insert(log.tokens.end(), more.tokens.begin(), more.tokens.end());
      log.logprobs.insert(log.logprobs.end(), more.logprobs.begin(), more.logprobs.end());
    }
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(logs[lanes[i]].tokens, expected.at(lanes[i]).tokens);
    EXPECT_EQ(logs[lanes[i]].logprobs, expected.at(lanes[i]).logprobs);
  }
}

// A long prompt comes while a lane decodes: in turns, and what either says does not change.
TEST_F(LimitsTest, PromptsAndDecodingTakeTurnsWhereAsked) {
  std::map<LaneId, LaneLog> plain;
  for (const bool interleave : {false, true}) {
    LlamaOptions options = BundledOptions();
    options.interleave = interleave;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    const LaneId first = OpenLanes(*engine, 1, 60)[0];
    std::map<LaneId, LaneLog> logs;
    const auto poll = [&] {
      const Result<std::span<const Event>> events = engine->Poll(0);
      ASSERT_TRUE(events.has_value());
      for (const Event& event : *events) {
        Record(event, &logs[event.lane]);
      }
    };
    while (logs[first].tokens.empty()) {
      poll();
    }
    std::string words;
    for (int i = 0; i < 40; ++i) {
      words += "Start with 25, add 13, add 40. ";
    }
    const Result<LaneId> second = engine->Open(QuestionTokens(*engine, words), Endless(9));
    ASSERT_TRUE(second && engine->Grant(*second, 5).ok());
    int forwards = 0;
    while (logs[*second].tokens.empty()) {
      const size_t before = logs[first].tokens.size();
      const int64_t given = engine->cost().prefill_tokens;
      poll();
      const bool decoded = logs[first].tokens.size() > before;
      EXPECT_NE(decoded, engine->cost().prefill_tokens > given);
      EXPECT_EQ(decoded, (interleave && forwards % 2 == 1) || !logs[*second].tokens.empty());
      ++forwards;
    }
    EXPECT_GT(forwards, 5);
    for (auto& [lane, more] : RunAll(*engine)) {
      for (size_t i = 0; i < more.tokens.size(); ++i) {
        logs[lane].tokens.push_back(more.tokens[i]);
        logs[lane].logprobs.push_back(more.logprobs[i]);
      }
    }
    plain = interleave ? plain : logs;
    for (const auto& [lane, log] : logs) {
      EXPECT_EQ(log.tokens, plain[lane].tokens);
      EXPECT_EQ(log.logprobs, plain[lane].logprobs);
    }
  }
}

// Prompts that come together: the first is answered before the last is read, and once lanes decode,
// a forward takes as many prompts as their turn is worth.
TEST_F(LimitsTest, OfPromptsThatComeTogetherTheFirstIsAnsweredFirst) {
  std::map<LaneId, LaneLog> plain;
  for (const bool interleave : {false, true}) {
    LlamaOptions options = BundledOptions();
    options.strict = false;
    options.interleave = interleave;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    std::vector<LaneId> lanes;
    for (int i = 0; i < 20; ++i) {  // more than 40 rows each
      const std::string name = std::to_string(i);
      const Result<LaneId> lane = engine->Open(
          QuestionTokens(*engine, name + name +
                                      " boxes hold 34 pens each, then 5 times as many. "
                                      "How many pens are there now, in all boxes?"),
          Greedy());
      ASSERT_TRUE(lane && engine->Grant(*lane, 30).ok());
      lanes.push_back(*lane);
    }
    std::vector<int64_t> given;  // rows of each forward of prompts
    std::map<LaneId, LaneLog> logs;
    bool read = false;  // by the last forward
    while (logs.size() < lanes.size()) {
      const int64_t before = engine->cost().prefill_tokens;
      const Result<std::span<const Event>> events = engine->Poll(0);
      ASSERT_TRUE(events.has_value());
      for (const Event& event : *events) {
        Record(event, &logs[event.lane]);
      }
      const int64_t rows = engine->cost().prefill_tokens - before;
      EXPECT_FALSE(interleave && read && rows > 0) << "lanes that decode wait for two forwards";
      read = rows > 0;
      if (read) {
        given.push_back(rows);
        EXPECT_EQ(!events->empty(), interleave) << "a prompt that is whole is answered with it";
      }
    }
    if (interleave) {
      EXPECT_GE(given.size(), 6U);
      EXPECT_LT(given.front(), 80) << "one prompt alone";
      EXPECT_GT(*std::max_element(given.begin(), given.end()), 80) << "two, once eight decode";
      EXPECT_GT(logs[lanes.front()].tokens.size(), logs[lanes.back()].tokens.size() + 4);
    } else {
      EXPECT_LE(given.size(), 2U);
    }
    for (auto& [lane, more] : RunAll(*engine)) {
      LaneLog& log = logs[lane];
      log.tokens.insert(log.tokens.end(), more.tokens.begin(), more.tokens.end());
    }
    plain = interleave ? plain : logs;
    for (const auto& [lane, log] : logs) {
      EXPECT_EQ(log.tokens, plain[lane].tokens);
    }
  }
}

// On CPUs more rows than 63 would take an attention kernel that computes masked products too,
// unless the compiled backend's attention takes them.
TEST_F(LimitsTest, AWidePoolDecodesInPartsWhereAttentionReadsMaskedCells) {
  struct Case {
    KvLayout layout;
    KvType type;
    Toggle flash_attention;
    int rows;
  };
  ASSERT_NE(MakeOrFail(BundledOptions()), nullptr);  // loads the backends
  const int most = HasPoolAttention() ? 70 : 63;
  for (const Case& one : {Case{KvLayout::kUnified, KvType::kF16, Toggle::kAuto, most},
                          Case{KvLayout::kUnified, KvType::kQ8_0, Toggle::kAuto, 63},
                          Case{KvLayout::kUnified, KvType::kF16, Toggle::kOff, 63},
                          Case{KvLayout::kStreams, KvType::kF16, Toggle::kAuto, 70}}) {
    LlamaOptions options = BundledOptions();
    options.strict = false;
    options.gpu_layers = 0;
    options.kv_layout = one.layout;
    options.kv_type = one.type;
    options.flash_attention = one.flash_attention;
    options.max_lanes = 70;
    options.context_cells = 70 * 256;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    OpenLanes(*engine, 70, 2);
    while (engine->cost().decode_rows == 0) {
      ASSERT_TRUE(engine->Poll(0).has_value());
    }
    EXPECT_EQ(engine->cost().decode_rows, one.rows);
    for (const auto& [lane, log] : RunAll(*engine)) {
      EXPECT_FALSE(log.tokens.empty());
    }
    EXPECT_EQ(engine->cost().decode_rows, 140);
  }
}

TEST_F(LimitsTest, AFullContextEndsTheLane) {
  LlamaOptions options = BundledOptions();
  options.context_cells = 64;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  EXPECT_EQ(engine->capabilities().context_tokens, 64);
  const std::vector<LaneId> lanes = OpenLanes(*engine, 1, 1000);
  const LaneLog log = RunAll(*engine)[lanes[0]];
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.end_reason, EndReason::kContextFull);
  EXPECT_EQ(log.tokens.size(), 64 - QuestionTokens(*engine, kSumQuestion).size());
  EXPECT_EQ(engine->Grant(lanes[0], 1).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(LimitsTest, NoMoreLanesThanPlanned) {
  LlamaOptions options = BundledOptions();
  options.max_lanes = 2;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  const std::vector<LaneId> lanes = OpenLanes(*engine, 2, 3);
  const std::vector<Token> prompt = QuestionTokens(*engine, kSumQuestion);
  EXPECT_EQ(engine->Open(prompt, Greedy()).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(engine->Fork(lanes[0], 3, Greedy()).error().code, ErrorCode::kResourceExhausted);
  engine->Close(lanes[1]);
  EXPECT_TRUE(engine->Fork(lanes[0], 3, Greedy()).has_value());
  options.max_lanes = 4000;
  const Result<std::unique_ptr<LlamaEngine>> wide = LlamaEngine::Make(options);
  ASSERT_FALSE(wide.has_value());
  EXPECT_EQ(wide.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(wide.error().message.find("4000"), std::string::npos);
}

TEST_F(LimitsTest, RevokedAndClosedLanesTakeNoFurtherToken) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<LaneId> lanes = OpenLanes(*engine, 3, 50);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(engine->Poll(0).has_value());
  }
  ASSERT_TRUE(engine->Revoke(lanes[0]).ok());
  engine->Close(lanes[1]);
  std::map<LaneId, LaneLog> logs = RunAll(*engine);
  EXPECT_EQ(logs.size(), 1U);
  EXPECT_EQ(logs.count(lanes[2]), 1U);
}

TEST_F(LimitsTest, ScoresAreTheLogProbabilitiesOfDecoding) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kSumQuestion);
  const std::vector<LaneId> lanes = OpenLanes(*engine, 1, 20);
  const std::vector<Token> said = RunAll(*engine)[lanes[0]].tokens;
  // Continuations of the prompt: what was said, its first half then something else, nothing.
  std::vector<Token> other(said.begin(), said.begin() + 10);
  other.insert(other.end(), 90, Token{17});
  const std::vector<std::vector<Token>> continuations = {said, other, {}};
  const Result<LaneId> scored = engine->Fork(lanes[0], static_cast<int>(prompt.size()), Greedy());
  const int64_t used = engine->cost().cells_used;
  const Result<uint64_t> request = engine->Score(*scored, continuations);
  ASSERT_TRUE(request.has_value());
  std::vector<std::vector<float>> scores;
  while (scores.empty()) {
    const Result<std::span<const Event>> events = engine->Poll(0);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      ASSERT_EQ(event.kind, EventKind::kScored);
      EXPECT_EQ(event.request, *request);
      scores = event.scores;
    }
  }
  EXPECT_EQ(engine->cost().cells_used, used);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_TRUE(scores[2].empty());
  for (int which = 0; which < 2; ++which) {
    const std::vector<Token>& tokens = continuations[which];
    ASSERT_EQ(scores[which].size(), tokens.size());
    std::vector<Token> history = prompt;
    history.insert(history.end(), tokens.begin(), tokens.end());
    for (size_t i = 0; i < tokens.size(); i += 7) {
      float logprob = 1;
      EngineProbe::OnLogits(*engine, [&](const LogitRecord& record) {
        RowSummary summary;
        SummarizeRow(record.logits, 0, summary);
        logprob = static_cast<float>(record.logits[tokens[i]] - summary.log_sum_exp);
      });
      const std::span<const Token> prefix(history.data(), prompt.size() + i);
      const Result<LaneId> lane = engine->Open(prefix, Greedy());
      ASSERT_TRUE(lane && engine->Grant(*lane, 1).ok());
      RunAll(*engine);
      EXPECT_EQ(scores[which][i], logprob) << "continuation " << which << ", token " << i;
      engine->Close(*lane);
    }
  }
}

TEST_F(LimitsTest, ClosingALaneDropsItsScores) {
  LlamaOptions options = BundledOptions();
  options.max_forward_rows = 8;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  const std::vector<LaneId> lanes = OpenLanes(*engine, 1, 1);
  RunAll(*engine);
  const std::vector<std::vector<Token>> continuations = {std::vector<Token>(30, Token{9})};
  ASSERT_TRUE(engine->Score(lanes[0], continuations).has_value());
  ASSERT_TRUE(engine->Poll(0).has_value());
  EXPECT_GT(engine->cost().cells_used, 8);
  engine->Close(lanes[0]);
  EXPECT_EQ(engine->cost().cells_used, 0);
  EXPECT_TRUE(RunAll(*engine).empty());
}

TEST_F(LimitsTest, ExtendedLanesGoOnAfterTheGivenTokens) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kSumQuestion);
  const std::vector<LaneId> lanes = OpenLanes(*engine, 1, 12);
  const std::vector<Token> said = RunAll(*engine)[lanes[0]].tokens;
  const Result<std::vector<Token>> probe = engine->Tokenize("\n</think>\n\nThe answer is ", true);
  ASSERT_TRUE(probe.has_value());
  ASSERT_TRUE(engine->Extend(lanes[0], *probe).ok());
  ASSERT_TRUE(engine->Grant(lanes[0], 6).ok());
  const LaneLog log = RunAll(*engine)[lanes[0]];
  std::vector<Token> history = prompt;
  history.insert(history.end(), said.begin(), said.end());
  history.insert(history.end(), probe->begin(), probe->end());
  const std::unique_ptr<LlamaEngine> fresh = MakeOrFail(BundledOptions());
  const Result<LaneId> lane = fresh->Open(history, Endless(0));
  ASSERT_TRUE(lane && fresh->Grant(*lane, 6).ok());
  const LaneLog expected = RunAll(*fresh)[*lane];
  EXPECT_EQ(log.tokens, expected.tokens);
  EXPECT_EQ(log.logprobs, expected.logprobs);
  EXPECT_EQ(engine->cost().recomputed_tokens, 0);
}

TEST_F(LimitsTest, RowsWithoutSenseAreMarkedAndStayWithTheirLane) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<LaneId> lanes = OpenLanes(*engine, 3, 1);
  EngineProbe::OnLogits(*engine, [&](const LogitRecord& record) {
    if (record.lane == lanes[0]) {
      record.logits[3] = std::nanf("");
    } else if (record.lane == lanes[1]) {
      std::fill(record.logits.begin(), record.logits.end(),
                -std::numeric_limits<float>::infinity());
    }
  });
  std::map<LaneId, LaneLog> logs;
  while (logs.empty()) {
    const Result<std::span<const Event>> events = engine->Poll(0);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      Record(event, &logs[event.lane]);
      if (event.kind == EventKind::kToken) {
        EXPECT_EQ(event.degenerate, event.lane == lanes[0]);
        EXPECT_EQ(event.mean_logprob.has_value(), event.lane == lanes[2]);
        EXPECT_EQ(event.top.empty(), event.lane == lanes[0]);
      }
    }
  }
  EXPECT_EQ(logs[lanes[0]].tokens.size(), 1U);
  EXPECT_TRUE(logs[lanes[1]].ended);
  EXPECT_FALSE(logs[lanes[1]].error.empty());
  EXPECT_EQ(logs[lanes[2]].tokens.size(), 1U);
}

TEST_F(LimitsTest, BiasMovesTheDrawAndNotTheStatistics) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<Token> prompt = QuestionTokens(*engine, kSumQuestion);
  LaneSpec biased = Greedy();
  biased.logit_bias = {{Token{42}, 1000.0F}};
  const Result<LaneId> plain = engine->Open(prompt, Greedy());
  const Result<LaneId> pushed = engine->Open(prompt, biased);
  ASSERT_TRUE(engine->Grant(*plain, 1).ok() && engine->Grant(*pushed, 1).ok());
  std::map<LaneId, LaneLog> logs = RunAll(*engine);
  EXPECT_EQ(logs[*pushed].tokens, std::vector<Token>{42});
  EXPECT_EQ(logs[*pushed].tops, logs[*plain].tops);
  EXPECT_EQ(logs[*pushed].means, logs[*plain].means);
}

TEST_F(LimitsTest, WidePoolsAdvanceEvenly) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const std::vector<LaneId> lanes = OpenLanes(*engine, 100, 20);
  std::map<LaneId, int> taken;
  for (int i = 0; i < 12; ++i) {
    const Result<std::span<const Event>> events = engine->Poll(0);
    ASSERT_TRUE(events.has_value());
    EXPECT_LE(events->size(), 63U);
    for (const Event& event : *events) {
      ++taken[event.lane];
    }
    int least = 100;
    int most = 0;
    for (const LaneId lane : lanes) {
      least = std::min(least, taken[lane]);
      most = std::max(most, taken[lane]);
    }
    EXPECT_LE(most - least, 1);
  }
}

}  // namespace
}  // namespace hyper::llama
