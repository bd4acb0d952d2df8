#include "apps/hyper/printers/plan_text.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

MemoryPlan Plan() {
  MemoryPlan plan;
  plan.model.name = "Some Model";
  plan.model.architecture = "qwen3moe";
  plan.model.expert_count = 128;
  plan.weights_bytes = 18'000'000'000;
  plan.context_bytes = 4'000'000'000;
  plan.compute_bytes = 50'000'000;
  plan.available_bytes = 64'000'000'000;
  plan.cells = 40'000;
  plan.lanes = 100;
  return plan;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(PlanTextTest, SaysWhatFits) {
  const std::string text = PlanText(Plan(), "f16", {0, 400});
  EXPECT_TRUE(Has(text, "weights    18.0 GB\n")) << text;
  EXPECT_TRUE(Has(text, "KV          4.0 GB  40,000 cells of f16 for 100 lanes\n")) << text;
  EXPECT_TRUE(Has(text, "buffers    50.0 MB\n")) << text;
  EXPECT_TRUE(Has(text, "total      22.1 GB of 64.0 GB available: fits\n")) << text;
  EXPECT_FALSE(Has(text, "--ctx")) << "every path has room for its 400 tokens: " << text;
  // 41.95 GB are spare, 100 kB a cell.
  EXPECT_TRUE(Has(PlanText(Plan(), "f16", {0, 32768}),
                  "--ctx up to 459,500 fits: 4,595 tokens for each of 100 lanes"));
  EXPECT_TRUE(Has(PlanText(Plan(), "f16", {0, 1000}), "--ctx up to 100,000 fits: 1,000 tokens"))
      << "what all paths may need is enough";
}

TEST(PlanTextTest, NamesContextsAndStreams) {
  MemoryPlan plan = Plan();
  plan.lanes = 845;
  plan.contexts = 4;
  EXPECT_TRUE(Has(PlanText(plan, "f16", {0, 400}), "for 845 lanes in 4 contexts\n"));
  plan.streams = true;
  EXPECT_TRUE(Has(PlanText(plan, "q8_0", {0, 400}),
                  "of q8_0 for 845 lanes in 4 contexts, a buffer for each"));
}

TEST(PlanTextTest, SaysWhatPathsWillLack) {
  EXPECT_FALSE(Has(PlanText(Plan(), "f16", {0, 400}), "paths "));
  EXPECT_TRUE(Has(PlanText(Plan(), "f16", {150, 401}),
                  "a path may have 401\n         Expected: 150. If many"));
  const std::string text = PlanText(Plan(), "f16", {0, 32768});
  EXPECT_TRUE(
      Has(text, "paths          400 tokens of each fit side by side; a path may have 32,768"))
      << text;
  EXPECT_TRUE(Has(text, "Lower --width or --max-tokens, or use --kv-type q8_0\n")) << text;
  EXPECT_TRUE(Has(PlanText(Plan(), "q4_0", {0, 401}), "Lower --width or --max-tokens\n"));
}

TEST(PlanTextTest, SaysWhatDoesNot) {
  MemoryPlan plan = Plan();
  plan.available_bytes = 20'000'000'000;
  const std::string text = PlanText(plan, "f16", {0, 400});
  EXPECT_TRUE(Has(text, "does not fit")) << text;
  EXPECT_TRUE(Has(text, "--ctx up to 19,500 fits")) << text;
  EXPECT_TRUE(Has(text, "--kv-type q8_0")) << text;
  EXPECT_FALSE(Has(PlanText(plan, "q4_0", {0, 400}), "--kv-type"));
  plan.available_bytes = 10'000'000'000;
  EXPECT_TRUE(Has(PlanText(plan, "f16", {0, 400}), "no --ctx makes it fit"));
  plan.available_bytes = -1;
  EXPECT_FALSE(Has(PlanText(plan, "f16", {0, 400}), "available"));
}

}  // namespace
}  // namespace hyper::app
