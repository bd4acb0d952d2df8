#include "src/engine/llama/llama_engine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

class LlamaEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
    engine_ = MakeOrFail(BundledOptions());
    ASSERT_NE(engine_, nullptr);
  }

  LaneId OpenGranted(const std::string& question, const LaneSpec& spec, int count) {
    const Result<LaneId> lane = engine_->Open(QuestionTokens(*engine_, question), spec);
    EXPECT_TRUE(lane.has_value());
    EXPECT_TRUE(engine_->Grant(*lane, count).ok());
    return *lane;
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_F(LlamaEngineTest, AnswersEasyQuestionsGreedily) {
  for (const auto& [question, answer] : std::vector<std::pair<std::string, std::string>>{
           {kSumQuestion, "\\boxed{78}"},
           {"Hugo has 6 jars with 4 eggs each. Finn brings 2 packs of 6 eggs. How many eggs does "
            "Hugo have now?",
            "\\boxed{36}"}}) {
    const LaneId lane = OpenGranted(question, Greedy(), 400);
    const LaneLog log = RunAll(*engine_)[lane];
    EXPECT_TRUE(log.ended);
    EXPECT_EQ(log.end_reason, EndReason::kStop);
    EXPECT_TRUE(engine_->IsEndOfGeneration(log.tokens.back()));
    EXPECT_NE(TextOf(*engine_, log.tokens).find(answer), std::string::npos)
        << TextOf(*engine_, log.tokens);
    engine_->Close(lane);
  }
  EXPECT_EQ(engine_->cost().cells_used, 0);
}

TEST_F(LlamaEngineTest, TokenEventsCarryTheRawDistribution) {
  LaneSpec spec = Greedy();
  spec.top_count = 640;
  const LaneId lane = OpenGranted(kSumQuestion, spec, 5);
  const LaneLog log = RunAll(*engine_)[lane];
  ASSERT_EQ(log.tokens.size(), 5U);
  EXPECT_EQ(log.kinds.back(), EventKind::kBoundary);
  for (size_t i = 0; i < log.tokens.size(); ++i) {
    ASSERT_EQ(log.tops[i].size(), 640U);
    EXPECT_EQ(log.tops[i][0].first, log.tokens[i]);
    EXPECT_EQ(log.tops[i][0].second, log.logprobs[i]);
    double sum = 0;
    double mean = 0;
    for (size_t j = 0; j < log.tops[i].size(); ++j) {
      sum += std::exp(log.tops[i][j].second);
      mean += log.tops[i][j].second / 640.0;
      EXPECT_TRUE(j == 0 || log.tops[i][j - 1].second >= log.tops[i][j].second);
    }
    EXPECT_NEAR(sum, 1.0, 1e-4);
    EXPECT_NEAR(mean, log.means[i], 1e-3);
  }
}

TEST_F(LlamaEngineTest, ForkAtAnyPositionGoesOnAsItsParentDid) {
  const LaneId parent = OpenGranted(kSumQuestion, Sampled(7), 30);
  const LaneLog whole = RunAll(*engine_)[parent];
  ASSERT_EQ(whole.tokens.size(), 30U);
  const int prompt = static_cast<int>(QuestionTokens(*engine_, kSumQuestion).size());
  for (const int kept : {0, 1, 17, 29, 30}) {
    const Result<LaneId> child = engine_->Fork(parent, prompt + kept, Sampled(7));
    ASSERT_TRUE(child.has_value());
    ASSERT_TRUE(engine_->Grant(*child, 30 - kept).ok());
    const LaneLog log = RunAll(*engine_)[*child];
    const std::vector<Token> rest(whole.tokens.begin() + kept, whole.tokens.end());
    EXPECT_EQ(log.tokens, rest) << "forked after " << kept;
    const std::vector<float> logprobs(whole.logprobs.begin() + kept, whole.logprobs.end());
    EXPECT_EQ(log.logprobs, logprobs) << "forked after " << kept;
    engine_->Close(*child);
  }
}

TEST_F(LlamaEngineTest, LanesOnOnePromptShareItsCells) {
  const std::vector<Token> prompt = QuestionTokens(*engine_, kSumQuestion);
  const auto length = static_cast<int64_t>(prompt.size());
  std::vector<LaneId> lanes;
  for (uint64_t i = 0; i < 32; ++i) {
    lanes.push_back(OpenGranted(kSumQuestion, Sampled(i), 4));
  }
  RunAll(*engine_);
  EXPECT_EQ(engine_->cost().prefill_tokens, length - 1);
  // Each lane has its own last prompt token and its tokens but the pending one.
  EXPECT_EQ(engine_->cost().cells_used, length - 1 + 32 * 4);
  EXPECT_EQ(engine_->cost().cells_peak, engine_->cost().cells_used);
  for (size_t i = 1; i < lanes.size(); ++i) {
    engine_->Close(lanes[i]);
  }
  EXPECT_EQ(engine_->cost().cells_used, length - 1 + 4);
  ASSERT_TRUE(engine_->Evict(lanes[0]).ok());
  EXPECT_EQ(engine_->cost().cells_used, 0);
  ASSERT_TRUE(engine_->Grant(lanes[0], 1).ok());
  RunAll(*engine_);
  EXPECT_EQ(engine_->cost().recomputed_tokens, length - 1 + 4);
  EXPECT_EQ(engine_->cost().prefill_tokens, length - 1);
}

TEST_F(LlamaEngineTest, ErrorsNameTheirValue) {
  EXPECT_EQ(engine_->Open({}, Greedy()).error().code, ErrorCode::kInvalidArgument);
  const std::vector<Token> longer(1025, 5);
  const Result<LaneId> open = engine_->Open(longer, Greedy());
  ASSERT_FALSE(open.has_value());
  EXPECT_NE(open.error().message.find("1025"), std::string::npos);
  EXPECT_NE(open.error().message.find("1024"), std::string::npos);
  const std::vector<Token> unknown = {1, 640};
  EXPECT_EQ(engine_->Open(unknown, Greedy()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(engine_->Grant(99, 1).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper::llama
