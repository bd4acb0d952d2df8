// Test support: a fake engine whose paths write given texts with a given sureness.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hyper/driver.h"
#include "hyper/fake_engine.h"
#include "hyper/session.h"
#include "src/core/random.h"
#include "src/decode/methods/registry.h"

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
  for (const Record& record : session.pool().TakeRecords()) {
    if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
      notices.push_back(notice->text);
    }
  }
  return notices;
}

// A session over the prompt "q" with greedy sampling; lanes and cells as roomy as given.
inline std::unique_ptr<Session> ScriptedSession(Engine& engine, const std::string& method,
                                                MethodOptions options, int64_t cells = 1 << 20,
                                                SessionLimits limits = {},
                                                SessionSeed seed = kScriptedSeed) {
  options.sampler = SamplerSpec{0.0, 0, 1.0, 0.0};
  Pool::Config config;
  config.prompt.tokens = {'q'};
  config.options = options;
  config.seed = seed;
  config.reservation = {LaneLimit(options), cells};
  config.extractor = AfterEquals;
  Result<std::unique_ptr<Method>> made = MakeMethod(method, options);
  return std::make_unique<Session>(engine, std::move(config), std::move(*made), limits);
}

}  // namespace hyper
