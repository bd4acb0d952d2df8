// The value of a step as a judge's words: the policy itself is asked in a chat of its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/decode/methods/batch_reward.h"

namespace hyper {

// What the judge is asked for.
enum class JudgeScale {
  kScore,  // a number from 0 to 1 (ReST-MCTS*'s critic)
  kWords,  // sure, likely or impossible (Tree of Thoughts)
};

// The value in a judge's reply; nothing where it holds none.
//   kScore  the number after the last "score" (any case), else the last number; a percentage or a
//           score out of ten ("85%", "8/10") is brought into [0, 1], others outside are no value
//   kWords  the last of sure, likely, impossible as a word: 20, 1 or 0.001, over 20. Tree of
//           Thoughts adds these; over 20 they lie in [0, 1] and order the same
// Pure.
std::optional<double> ReadVerdict(std::string_view reply, JudgeScale scale);

// Asks `judge-calls` times per step and takes the mean of the verdicts that could be read. Where
// judges replied and none could be read, the step's value is 0: an unreadable judge does not
// recommend it. Where no judge came to its end (no lane, no cells), the value is unknown.
class JudgeReward : public BatchReward {
 public:
  JudgeReward(const MethodOptions& options, JudgeScale scale);

  std::string name() const override { return "judge"; }
  Status OnSettled(Pool& pool) override;

 protected:
  Status Ask(Pool& pool) override;

 private:
  Result<std::vector<Token>> PromptFor(Pool& pool, const StepSpan& step) const;
  Status OpenMore(Pool& pool);
  void Collect(Pool& pool);
  // One call less is due for a step; the last one settles its value.
  void Count(size_t step, bool replied, std::optional<double> verdict);

  struct Replies {  // to the calls of one step
    int counted = 0;
    bool any = false;              // a judge came to its end, readable or not
    std::vector<double> verdicts;  // that could be read
  };

  int calls_;
  int tokens_;
  JudgeScale scale_;
  std::map<PathId, size_t> judging_;  // judge path -> step of the batch
  std::vector<Replies> replies_;      // by step
  size_t next_ = 0;                   // calls made so far: step next_ / calls_
  uint64_t opened_ = 0;
};

}  // namespace hyper
