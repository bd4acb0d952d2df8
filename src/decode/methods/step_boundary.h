// Where a step of a generated text ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/step_reward.h"

namespace hyper {

// Watches the tokens of one step. A step ends with the token that completes the delimiter, or at
// its token limit. A delimiter before anything but white space was written does not end it: models
// open their reasoning with line breaks, and an empty step would only be a wasted verdict.
class StepBoundary {
 public:
  // `delimiter` not empty; `limit` >= 1 tokens.
  StepBoundary(std::string delimiter, int limit)
      : delimiter_(std::move(delimiter)), limit_(limit) {}

  // Adds a token's text. Returns whether the step is over with it.
  bool Push(std::string_view text);
  // Tokens that the step may still take.
  int remaining() const { return limit_ - tokens_; }

 private:
  std::string delimiter_;
  int limit_;
  int tokens_ = 0;
  std::string text_;
};

// The steps of a whole path, the last one ending where the path does. No step is empty.
std::vector<StepSpan> SplitSteps(const Engine& engine, const Path& path,
                                 const std::string& delimiter, int limit);

}  // namespace hyper
