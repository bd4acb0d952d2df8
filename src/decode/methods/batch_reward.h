// What the scorers have in common: a batch of steps with a value each.
#pragma once

#include <utility>
#include <vector>

#include "hyper/step_reward.h"

namespace hyper {

class BatchReward : public StepReward {
 public:
  Status Begin(Pool& pool, std::vector<StepSpan> steps) override {
    steps_ = std::move(steps);
    values_.assign(steps_.size(), Path::kUnknown);
    missing_ = steps_.size();
    return Ask(pool);
  }
  bool Done() const override { return missing_ == 0; }
  std::vector<double> Take() override { return std::exchange(values_, {}); }

 protected:
  // Asks for the values of the batch, or for as many as there is room for.
  virtual Status Ask(Pool& pool) = 0;
  const std::vector<StepSpan>& steps() const { return steps_; }
  size_t missing() const { return missing_; }
  // Once for each step of the batch.
  void Set(size_t step, double value) {
    values_[step] = value;
    --missing_;
  }

 private:
  std::vector<StepSpan> steps_;
  std::vector<double> values_;
  size_t missing_ = 0;
};

// A path's prompt and its first `end` generated tokens, without an end-of-generation token.
std::vector<Token> TokensUpTo(Pool& pool, PathId path, int end);
// The text of generated tokens [begin, end), without an end-of-generation token.
std::string TextBetween(Pool& pool, PathId path, int begin, int end);

// What was asked, without the chat template where that is known.
const std::string& QuestionOf(const Pool& pool);

}  // namespace hyper
