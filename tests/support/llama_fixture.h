// Helpers for tests on the bundled model: where it lies, and how to run lanes to their end.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/llama/llama_engine.h"
#include "src/engine/llama/wide_engine.h"

namespace hyper::llama {

// What tests see and set inside an engine.
struct EngineProbe {
  static const KvPool& Pool(const LlamaEngine& engine) { return *engine.pool_; }
  static KvPool& Pool(LlamaEngine& engine) { return *engine.pool_; }
  static llama_context* Context(LlamaEngine& engine) { return engine.context_.get(); }
  static const auto& Shards(const WideEngine& engine) { return engine.shards_; }
  // Calls `observer` for all logits as they leave a forward; it may change them.
  static void OnLogits(LlamaEngine& engine, std::function<void(const LogitRecord&)> observer) {
    engine.logit_observer_ = std::move(observer);
  }
  // Calls `observer` for each route in each MoE layer.
  static void OnRoutes(LlamaEngine& engine, std::function<void(const RoutingRecord&)> observer) {
    engine.hook_->set_observer(std::move(observer));
  }
};

// Questions of the kinds that the bundled model was trained on.
inline constexpr const char* kSumQuestion = "Start with 25, add 13, add 40. What is the result?";
inline constexpr const char* kRemainderQuestion = "What is the remainder of 65*21+5 divided by 22?";
inline constexpr const char* kEquationQuestion = "Solve 5x+43=173 for x.";
// Every solution of such a question begins with "Find A."
inline constexpr const char* kJoinQuestion =
    "A is the answer to: Two numbers differ by 7 and their product is 330. What is the larger "
    "number? "
    "B is the answer to: A two-digit number has digit sum 7 and leaves remainder 5 when divided by "
    "13. What is the number? What is A+B?";

// Path of a file of the bundled model; empty where it is absent.
inline std::string BundledFile(const std::string& name) {
  for (const char* folder : {"/models/tinymath/", "/../shared/model/"}) {
    std::string path = std::string(HYPER_SOURCE_DIR) + folder + name;
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  return "";
}

inline std::string BundledModel() { return BundledFile("tinymath-moe-6m-f16.gguf"); }

inline LlamaOptions BundledOptions() {
  LlamaOptions options;
  options.model_path = BundledModel();
  options.context_cells = 8192;
  options.threads = 1;  // tests run beside each other
  return options;
}

inline std::unique_ptr<LlamaEngine> MakeOrFail(const LlamaOptions& options) {
  Result<std::unique_ptr<LlamaEngine>> engine = LlamaEngine::Make(options);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return engine ? std::move(*engine) : nullptr;
}

inline std::vector<Token> QuestionTokens(Engine& engine, const std::string& question) {
  const std::vector<ChatMessage> messages = {{"user", question}};
  const Result<Prompt> prompt = engine.RenderChat(messages, {});
  EXPECT_TRUE(prompt.has_value()) << (prompt ? "" : prompt.error().message);
  return prompt ? prompt->tokens : std::vector<Token>{};
}

inline LaneSpec Greedy() {
  LaneSpec spec;
  spec.sampler.temperature = 0;
  return spec;
}

inline LaneSpec Sampled(uint64_t path_key) {
  LaneSpec spec;
  spec.path_key = path_key;
  spec.sampler.temperature = 0.8;
  return spec;
}

// What became of one lane.
struct LaneLog {
  std::vector<Token> tokens;
  std::vector<float> logprobs;
  std::vector<float> means;
  std::vector<std::vector<std::pair<Token, float>>> tops;
  std::vector<EventKind> kinds;
  bool ended = false;
  EndReason end_reason = EndReason::kStop;
  int stalls = 0;
  std::string error;
};

inline void Record(const Event& event, LaneLog* log) {
  log->kinds.push_back(event.kind);
  switch (event.kind) {
    case EventKind::kToken:
      log->tokens.push_back(event.token);
      log->logprobs.push_back(event.logprob);
      log->means.push_back(event.mean_logprob.value_or(1.0F));
      log->tops.emplace_back();
      for (const TokenLogprob& entry : event.top) {
        log->tops.back().emplace_back(entry.token, entry.logprob);
      }
      break;
    case EventKind::kEnd:
      log->ended = true;
      log->end_reason = event.end_reason;
      break;
    case EventKind::kStalled:
      ++log->stalls;
      break;
    case EventKind::kFailed:
      log->ended = true;
      log->error = event.error.message;
      break;
    default:
      break;
  }
}

// Polls until a poll brings nothing but stalls, or nothing at all with no forward.
inline std::map<LaneId, LaneLog> RunAll(Engine& engine) {
  std::map<LaneId, LaneLog> logs;
  while (true) {
    const int64_t forwards = engine.cost().forwards;
    const Result<std::span<const Event>> events = engine.Poll(0);
    EXPECT_TRUE(events.has_value()) << (events ? "" : events.error().message);
    if (!events) {
      return logs;
    }
    for (const Event& event : *events) {
      Record(event, &logs[event.lane]);
    }
    if (engine.cost().forwards == forwards) {
      return logs;
    }
  }
}

inline void ExpectSame(const LaneLog& a, const LaneLog& b, const std::string& what) {
  EXPECT_EQ(a.tokens, b.tokens) << what;
  EXPECT_EQ(a.logprobs, b.logprobs) << what;
  EXPECT_EQ(a.means, b.means) << what;
  EXPECT_EQ(a.tops, b.tops) << what;
}

inline std::string TextOf(const Engine& engine, const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) {
    text += engine.TokenText(token);
  }
  return text;
}

}  // namespace hyper::llama
