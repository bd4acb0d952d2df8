// Without noise every route is the model itself: all methods that refine tokens then write what
// self-consistency writes, on each architecture of the paper whose experts can be routed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/llama_engine.h"

namespace hyper {
namespace {

constexpr int kWidth = 8;
constexpr int kWarmup = 4;
constexpr int kTokens = 24;

std::unique_ptr<Engine> EngineFor(const std::string& architecture) {
  LlamaOptions options;
  options.model_path =
      std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/" + architecture + ".gguf";
  options.context_cells = 2048;
  options.max_lanes = 2 * (kWidth + kWarmup);
  options.threads = 1;
  options.kv_type = KvType::kF32;
  options.flash_attention = Toggle::kOff;
  Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return engine ? std::move(*engine) : nullptr;
}

// A run to its end on made-up tokens, which these models of random weights go on with for ever.
std::unique_ptr<Session> RunOn(Engine& engine, const std::string& method, OptionValues values) {
  values.insert(values.end(), {{"interval", "4"},
                               {"window", "4"},
                               {"max-tokens", std::to_string(kTokens)},
                               {"loop-guard", "off"}});
  const Result<RunPlan> plan = ResolveRun({method, "short", values, {}}, engine.model());
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  SessionSpec spec;
  spec.prompt.tokens = {65, 70, 66, 71, 67, 72, 68, 73};
  spec.seed = {5, 0};
  Result<std::unique_ptr<Session>> session = OpenSession(engine, *plan, std::move(spec));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message);
  Driver driver(engine);
  driver.Add(session->get());
  EXPECT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE((*session)->status().ok());
  return std::move(*session);
}

class Noiseless : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

// Pruned paths are the beginnings of plain ones. Pruning leaves room for routes: r_t > 1.
TEST_P(Noiseless, MethodsWriteWhatPlainPathsWrite) {
  const auto& [architecture, method] = GetParam();
  const std::unique_ptr<Engine> engine = EngineFor(architecture);
  ASSERT_NE(engine, nullptr);
  const std::unique_ptr<Session> plain =
      RunOn(*engine, "sc", {{"width", std::to_string(kWidth + kWarmup)}});
  for (const char* weights : {"clean", "noisy"}) {
    OptionValues values = {
        {"width", std::to_string(kWidth)}, {"tau", "0"}, {"lambda", "0"}, {"weights", weights}};
    const std::string name = method;
    if (name.starts_with("roe")) {
      values.emplace_back("routes", "4");
    } else {
      values.emplace_back("threshold", "top:1");
    }
    if (name != "roe") {
      values.emplace_back("warmup", std::to_string(kWarmup));
    }
    if (name == "hyper") {
      values.emplace_back("actions", "single_token");
    }
    const std::unique_ptr<Session> refined = RunOn(*engine, name, values);
    if (name != "hyper") {  // whose controller may find nothing to refine
      EXPECT_GT(refined->pool().ledger().extra_routes, 0) << weights;
    }
    ASSERT_LE(refined->pool().paths().size(), plain->pool().paths().size());
    for (const Path& path : refined->pool().paths()) {
      const Path& other = plain->pool().path(path.id);
      ASSERT_EQ(path.key, other.key);
      ASSERT_LE(path.length(), other.length());
      for (size_t i = 0; i < path.tokens.size(); ++i) {
        ASSERT_EQ(path.tokens[i], other.tokens[i]) << weights << ", path " << path.id << ", " << i;
        ASSERT_NEAR(path.logprobs[i], other.logprobs[i], 1e-4) << weights << ", " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Paper, Noiseless,
    ::testing::Combine(::testing::Values("qwen3moe", "olmoe", "deepseek2", "qwen3next"),
                       ::testing::Values("roe", "roe-late", "single-token-only", "hyper")),
    [](const auto& name) {
      std::string text = std::string(std::get<0>(name.param)) + "_" + std::get<1>(name.param);
      std::replace(text.begin(), text.end(), '-', '_');
      return text;
    });

}  // namespace
}  // namespace hyper
