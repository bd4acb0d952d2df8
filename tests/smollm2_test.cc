// A real dense model, SmolLM2-135M-Instruct: greedy texts equal those of plain llama.cpp on the
// same machine (tests/goldens/smollm2_golden.cc), and HyPER runs on it controller-only. Skipped
// where the model has not been fetched (make models).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hyper/driver.h"
#include "hyper/llama_engine.h"
#include "hyper/method.h"
#include "src/engine/llama/backend.h"
#include "tests/support/process.h"

namespace hyper {
namespace {

using nlohmann::json;

const std::string kModel = HYPER_SOURCE_DIR "/models/downloaded/SmolLM2-135M-Instruct.Q4_1.gguf";

// What plain llama.cpp says on the backend that this process has loaded.
json Golden() {
  const test::ProcessResult result =
      test::RunProcess({HYPER_GOLDEN_PROGRAM, kModel, llama::CpuBackendFile()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

// Tokens before the first one that was ahead of another by less than what batches of other sizes
// round away; from there on both may go their own ways.
size_t ClearTokens(const json& run) {
  constexpr double kRounding = 0.05;  // logits
  size_t count = 0;
  while (count < run["margins"].size() && run["margins"][count].get<double>() > kRounding) {
    ++count;
  }
  return count;
}

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kModel)) {
      GTEST_SKIP() << "the model is not here; make models fetches it";
    }
  }
};

std::unique_ptr<Engine> MakeEngine() {
  LlamaOptions options;
  options.model_path = kModel;
  options.context_cells = 2048;
  options.max_lanes = 8;
  options.threads = 1;
  Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return engine ? std::move(*engine) : nullptr;
}

// All questions side by side, each with the tokens of the golden text granted.
TEST_F(SmolLm2, GreedyTextsAreThoseOfPlainLlamaCpp) {
  const std::unique_ptr<Engine> engine = MakeEngine();
  ASSERT_NE(engine, nullptr);
  const json golden = Golden();
  ASSERT_EQ(golden["runs"].size(), 3U);
  std::vector<LaneId> lanes;
  std::vector<std::vector<Token>> tokens(golden["runs"].size());
  for (const json& run : golden["runs"]) {
    const std::vector<ChatMessage> messages = {{"system", golden["system"]},
                                               {"user", run["question"]}};
    const Result<Prompt> prompt = engine->RenderChat(messages, {});
    ASSERT_TRUE(prompt.has_value());
    EXPECT_EQ(prompt->text, run["prompt"]);
    LaneSpec spec;
    spec.sampler.temperature = 0;
    const Result<LaneId> lane = engine->Open(prompt->tokens, spec);
    ASSERT_TRUE(lane && engine->Grant(*lane, static_cast<int>(run["tokens"].size())).ok());
    lanes.push_back(*lane);
  }
  for (size_t ended = 0; ended < lanes.size();) {
    const Result<std::span<const Event>> events = engine->Poll(0);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      const auto lane = std::find(lanes.begin(), lanes.end(), event.lane) - lanes.begin();
      if (event.kind == EventKind::kToken) {
        tokens[static_cast<size_t>(lane)].push_back(event.token);
      }
      ended += event.kind == EventKind::kBoundary || event.kind == EventKind::kEnd ? 1 : 0;
    }
  }
  size_t compared = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    auto expected = golden["runs"][i]["tokens"].get<std::vector<Token>>();
    const size_t clear = ClearTokens(golden["runs"][i]);
    compared += clear;
    if (clear == expected.size()) {
      std::string text;
      for (const Token token : tokens[i]) {
        text += engine->IsEndOfGeneration(token) ? "" : engine->TokenText(token);
      }
      EXPECT_EQ(text, golden["runs"][i]["text"]);
    }
    expected.resize(clear);
    tokens[i].resize(std::min(tokens[i].size(), clear));
    EXPECT_EQ(tokens[i], expected);
  }
  EXPECT_GE(compared, 20U) << "too little is compared";
}

TEST_F(SmolLm2, HyperRunsControllerOnly) {
  const test::ProcessResult result =
      test::RunProcess({HYPER_PROGRAM,  "run",
                        "--model",      kModel,
                        "--preset",     "short",
                        "--width",      "4",
                        "--warmup",     "2",
                        "--max-tokens", "24",
                        "--interval",   "8",
                        "--window",     "8",
                        "--threads",    "1",
                        "--seed",       "1",
                        "--json",       "What is 2 + 3? Answer in one line."});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  EXPECT_FALSE(run["decisions"].empty());
  for (const json& decision : run["decisions"]) {
    EXPECT_TRUE(decision["scores"]["single_token"].is_null());
    EXPECT_NE(decision["action"], "single_token");
  }
  EXPECT_EQ(run["ledger"]["extra_routes"], 0);
  EXPECT_EQ(run["ledger"]["refined"], 0);
  int64_t tokens = 0;
  for (const json& path : run["paths"]) {
    EXPECT_FALSE(path["text"].get<std::string>().empty());
    tokens += path["tokens"].get<int64_t>() - path["fork_position"].get<int64_t>();
  }
  EXPECT_EQ(run["ledger"]["effective"], tokens);
}

}  // namespace
}  // namespace hyper
