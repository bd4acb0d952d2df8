// The memory plan against the account of the engine that is really made.
#include <gtest/gtest.h>
#include <llama-ext.h>

#include <algorithm>
#include <string>

#include "hyper/model_defaults.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

struct Account {
  double weights = 0;
  double context = 0;
  double compute = 0;
};

Account Of(LlamaEngine& engine) {
  Account account;
  for (const auto& [type, part] : llama_get_memory_breakdown(EngineProbe::Context(engine))) {
    account.weights += static_cast<double>(part.model);
    account.context += static_cast<double>(part.context);
    account.compute += static_cast<double>(part.compute);
  }
  return account;
}

void ExpectPlanned(const LlamaOptions& options) {
  const Result<MemoryPlan> plan = PlanLlamaMemory(options);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  ASSERT_NE(engine, nullptr);
  const Account account = Of(*engine);
  EXPECT_NEAR(static_cast<double>(plan->weights_bytes), account.weights, account.weights * 0.01);
  EXPECT_NEAR(static_cast<double>(plan->context_bytes), account.context, account.context * 0.01);
  EXPECT_NEAR(static_cast<double>(plan->compute_bytes), account.compute, account.compute * 0.1);
  EXPECT_EQ(plan->lanes, engine->capabilities().max_lanes);
  EXPECT_EQ(plan->cells, engine->capabilities().cells_total);
}

LlamaOptions Small(const std::string& name) {
  LlamaOptions options;
  options.model_path = std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/" + name + ".gguf";
  options.threads = 1;
  options.context_cells = 4096;
  options.max_lanes = 20;
  return options;
}

TEST(MemoryPlanTest, IsWhatTheEngineTakes) {
  for (const char* const name : {"qwen3", "olmoe", "deepseek2"}) {
    SCOPED_TRACE(name);
    ExpectPlanned(Small(name));
  }
}

TEST(MemoryPlanTest, TakesTheCellsThatARunNeeds) {
  LlamaOptions options = Small("qwen3");
  const int train = ReadModelInfo(options.model_path)->context_train_tokens;
  options.context_cells = 0;
  options.needed_cells = 3000;
  EXPECT_EQ(PlanLlamaMemory(options)->cells, 3000);
  options.needed_cells = 1'000'000'000;
  EXPECT_EQ(PlanLlamaMemory(options)->cells, 20 * train) << "no more than the lanes can fill";
  options.needed_cells = 0;
  EXPECT_EQ(PlanLlamaMemory(options)->cells, std::min(20 * train, std::max(32768, train)));
  options.needed_cells = 3000;
  options.context_cells = 5000;
  EXPECT_EQ(PlanLlamaMemory(options)->cells, 5000) << "what is asked for counts";
}

TEST(MemoryPlanTest, LargeContextsAreToldFromSmallOnes) {
  LlamaOptions options = Small("qwen3");
  options.context_cells = 100'000;
  ExpectPlanned(options);
  options.kv_type = KvType::kF32;
  options.context_cells = 70'000;
  ExpectPlanned(options);
}

TEST(MemoryPlanTest, CountsARecurrentStateForEachLane) {
  LlamaOptions options = Small("qwen3next");
  ExpectPlanned(options);
  const Result<MemoryPlan> few = PlanLlamaMemory(options);
  options.max_lanes = 120;
  const Result<MemoryPlan> many = PlanLlamaMemory(options);
  ASSERT_TRUE(few && many);
  EXPECT_TRUE(few->recurrent);
  EXPECT_GT(many->context_bytes, few->context_bytes);
}

TEST(MemoryPlanTest, CountsEveryContext) {
  LlamaOptions options = Small("qwen3");
  const Result<MemoryPlan> one = PlanLlamaMemory(options);
  options.context_lanes = 10;
  const Result<MemoryPlan> two = PlanLlamaMemory(options);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->contexts, 1);
  EXPECT_EQ(two->contexts, 2);
  EXPECT_EQ(two->lanes, 20);
  EXPECT_EQ(two->cells, 4096);
  EXPECT_EQ(two->weights_bytes, one->weights_bytes);
  // Two halves; each has spare cells of its own and its own buffers.
  EXPECT_NEAR(static_cast<double>(two->context_bytes), static_cast<double>(one->context_bytes),
              static_cast<double>(one->context_bytes) * 0.1);
  EXPECT_GT(two->compute_bytes, one->compute_bytes);
}

TEST(MemoryPlanTest, CountsAStreamForEachLane) {
  LlamaOptions options = Small("qwen3");
  options.strict = false;
  options.kv_layout = KvLayout::kStreams;
  ExpectPlanned(options);
}

TEST(MemoryPlanTest, RefusesNothingForWantOfMemory) {
  LlamaOptions options = Small("qwen3moe");
  options.context_cells = 1'000'000'000;
  const Result<MemoryPlan> plan = PlanLlamaMemory(options);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_GT(static_cast<double>(plan->context_bytes), 1e9 * plan->bytes_per_cell * 0.99);
  EXPECT_EQ(LlamaEngine::Make(options).error().code, ErrorCode::kResourceExhausted);
}

TEST(MemoryPlanTest, MissingFilesAreErrors) {
  EXPECT_EQ(PlanLlamaMemory(Small("none")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper::llama
