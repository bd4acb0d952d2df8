// Test support: a fake engine whose paths write given texts with a given sureness.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/fake_engine.h"
#include "hyper/session.h"
#include "src/core/random.h"

namespace hyper {

// What a path writes next: the character and how sure the model is of it (logit above the rest).
struct ScriptedNext {
  char character = 'x';
  float sureness = 5.0F;
};

// Decides by the path's key and what it has written so far (the prompt left out).
using Script = std::function<ScriptedNext(uint64_t path_key, std::string_view written, int routes)>;

inline FakeOptions ScriptedOptions(Script script) {
  FakeOptions options;
  options.logits = [script = std::move(script)](const FakeStep& step, std::span<float> logits) {
    std::string written;
    for (size_t i = static_cast<size_t>(step.prompt_tokens); i < step.history.size(); ++i) {
      written += static_cast<char>(step.history[i]);
    }
    const ScriptedNext next = script(step.path_key, written, step.routes);
    // Distinct rivals, so that top lists have one order.
    for (size_t v = 0; v < logits.size(); ++v) {
      logits[v] = -0.001F * static_cast<float>(v);
    }
    logits[static_cast<size_t>(next.character == '$' ? FakeEngine::kEnd : next.character)] =
        next.sureness;
  };
  return options;
}

// Others use it too: it has fewer lanes and cells to give than it tells.
class CrowdedEngine : public FakeEngine {
 public:
  explicit CrowdedEngine(const FakeOptions& options)
      : FakeEngine(options), told_(options.capabilities) {
    told_.max_lanes = FakeOptions().capabilities.max_lanes;
    told_.cells_total = 0;
  }
  const Capabilities& capabilities() const override { return told_; }

 private:
  Capabilities told_;
};

// Takes the text after the last '='.
inline ExtractedAnswer AfterEquals(std::string_view text, bool finished, bool) {
  const size_t at = text.rfind('=');
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string answer(text.substr(at + 1));
  return {answer, answer, !finished};
}

// Of the sessions below, unless a test says otherwise.
inline constexpr SessionSeed kScriptedSeed = {7, 3};

// Key of the path that is opened on the prompt as number `index`.
inline uint64_t ScriptedPathKey(uint64_t index) {
  return PathKey({kScriptedSeed.run_seed, kScriptedSeed.question}, index);
}

// Number of the path whose key this is, of those opened on the prompt; -1 for forks.
inline int PathIndexOf(uint64_t key) {
  for (uint64_t i = 0; i < 64; ++i) {
    if (ScriptedPathKey(i) == key) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// The texts of the notices that a session has emitted; takes all its records.
inline std::vector<std::string> NoticesOf(Session& session) {
  std::vector<std::string> notices;
  for (const Record& record : session.TakeRecords()) {
    if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
      notices.push_back(notice->text);
    }
  }
  return notices;
}

// The plan of a method with exactly these options, and greedy sampling.
inline RunPlan ScriptedPlan(const std::string& method, const MethodOptions& options) {
  RunRequest request;
  request.method = method;
  request.preset = "short";
  RunPlan plan = *ResolveRun(request, {});
  plan.options = options;
  plan.options.sampler = SamplerSpec{0.0, 0, 1.0, 0.0};
  return plan;
}

// A session over the prompt "q", with as many cells as given.
//   own  a method of the test's; null: the plan's
inline std::unique_ptr<Session> ScriptedSession(Engine& engine, const RunPlan& plan, int64_t cells,
                                                SessionLimits limits, SessionSeed seed,
                                                std::unique_ptr<Method> own = nullptr) {
  SessionSpec spec;
  spec.prompt.tokens = {'q'};
  spec.prompt.text = "q";
  spec.seed = seed;
  spec.limits = limits;
  spec.most.cells = cells;
  spec.extractor = AfterEquals;
  Result<std::unique_ptr<Session>> session =
      OpenSession(engine, plan, std::move(spec), std::move(own));
  EXPECT_TRUE(session.has_value()) << session.error().message;
  return std::move(*session);
}

inline std::unique_ptr<Session> ScriptedSession(Engine& engine, const std::string& method,
                                                const MethodOptions& options,
                                                int64_t cells = 1 << 20, SessionLimits limits = {},
                                                SessionSeed seed = kScriptedSeed) {
  return ScriptedSession(engine, ScriptedPlan(method, options), cells, limits, seed);
}

}  // namespace hyper
