// Test support: step-wise methods on a scripted engine, with a scorer that is a function of the
// text. Paths are told apart by the order in which they first decode: 'a', 'b', 'c', ...
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyper/step_reward.h"
#include "src/decode/methods/batch_reward.h"
#include "tests/support/scripted_paths.h"

namespace hyper {

using Batches = std::vector<std::vector<std::string>>;
using StepValue = std::function<double(const std::string& text)>;

// Values a step by the whole text up to it, at once; keeps what it was asked.
class TextReward : public BatchReward {
 public:
  explicit TextReward(StepValue value, Batches* batches = nullptr)
      : value_(std::move(value)), batches_(batches) {}
  std::string name() const override { return "text"; }

 protected:
  Status Ask(Pool& pool) override {
    std::vector<std::string> texts;
    for (size_t i = 0; i < steps().size(); ++i) {
      texts.push_back(TextBetween(pool, steps()[i].path, 0, steps()[i].end));
      Set(i, value_(texts.back()));
    }
    if (batches_ != nullptr) {
      batches_->push_back(texts);
    }
    return {};
  }

 private:
  StepValue value_;
  Batches* batches_;
};

// Numbers path keys by the order in which they first ask for a token.
class KeyOrder {
 public:
  char Letter(uint64_t key) {
    const auto next = static_cast<int>(order_.size());
    return static_cast<char>('a' + order_.emplace(key, next).first->second % 26);
  }

 private:
  std::map<uint64_t, int> order_;
};

inline int LinesOf(std::string_view text) {
  int lines = 0;
  for (const char c : text) {
    lines += c == '\n' ? 1 : 0;
  }
  return lines;
}

inline char SameLetter(char letter) { return letter; }

// Each step of a path is "<word of its letter>\n"; after `steps` of them (by its letter) it writes
// "=<answer>" and ends.
inline FakeOptions LetterSteps(const std::function<int(char letter)>& steps,
                               const std::function<char(char letter)>& answer,
                               const std::function<char(char letter)>& word = SameLetter) {
  auto order = std::make_shared<KeyOrder>();
  return ScriptedOptions([order, steps, answer, word](uint64_t key, std::string_view written, int) {
    const char letter = order->Letter(key);
    const size_t equals = written.find('=');
    if (equals != std::string_view::npos) {
      return ScriptedNext{equals + 1 == written.size() ? answer(letter) : '$'};
    }
    if (!written.empty() && written.back() != '\n') {
      return ScriptedNext{'\n'};
    }
    return ScriptedNext{LinesOf(written) >= steps(letter) ? '=' : word(letter)};
  });
}

// Values by text; `other` for texts that are not listed.
inline StepValue ByText(std::map<std::string, double> values, double other) {
  return [values = std::move(values), other](const std::string& text) {
    const auto at = values.find(text);
    return at == values.end() ? other : at->second;
  };
}

inline MethodOptions StepOptions(int width) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.warmup = 2;
  options.interval = 4;
  options.max_tokens = 60;
  options.vote.rule = VoteRule::kWeighted;
  options.tree.allocation = Allocation::kCeil;
  options.tree.balance_temperature = 0.2;
  return options;
}

inline std::unique_ptr<Session> StepSession(Engine& engine, const std::string& method,
                                            const MethodOptions& options,
                                            std::unique_ptr<StepReward> reward,
                                            int64_t cells = 1 << 20) {
  const RunPlan plan = ScriptedPlan(method, options);
  return ScriptedSession(engine, plan, cells, {}, kScriptedSeed,
                         std::move(*MakeStepMethod(plan, std::move(reward))));
}

inline std::unique_ptr<Session> StepSession(Engine& engine, const std::string& method,
                                            const MethodOptions& options, StepValue value,
                                            Batches* batches = nullptr, int64_t cells = 1 << 20) {
  return StepSession(engine, method, options,
                     std::make_unique<TextReward>(std::move(value), batches), cells);
}

// Runs the only session of a driver to its end and checks that nothing is left behind.
inline void RunSteps(FakeEngine& engine, Session& session) {
  Driver driver(engine);
  driver.Add(&session);
  ASSERT_TRUE(driver.RunAll().ok());
  ASSERT_TRUE(session.finished());
  EXPECT_TRUE(session.status().ok()) << session.status().error().message;
  EXPECT_EQ(engine.open_lanes(), 0);
}

}  // namespace hyper
