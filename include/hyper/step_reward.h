// The value of a reasoning step, R in [0, 1], and the methods that search by it: rebase, ets, mcts
// and tot. The scorer may be a built-in one, or your own StepReward.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hyper/method.h"
#include "hyper/pool.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

struct RunPlan;  // hyper/ask.h

// A step to be valued: generated tokens [begin, end) of a path.
struct StepSpan {
  PathId path = kNoPath;
  int begin = 0;
  int end = 0;
};

// A scorer of steps. It works in batches and never blocks: Begin starts one, the calls below
// advance it, Take ends it. A scorer serves one session. Thread rule: as Method.
class StepReward {
 public:
  virtual ~StepReward() = default;
  // Suffix of the row's name: "conf", "ptrue", "judge", "prm" or one of your own.
  virtual std::string name() const = 0;
  // Whole paths that must be decoded before the first step is valued. Default: none.
  virtual int WarmupPaths(const MethodOptions& options) const;
  // The steps of those paths, all ended. Default: nothing.
  virtual void Calibrate(const Pool& pool, std::span<const StepSpan> steps);
  // Starts to value `steps`, none of which is decoding. A path may have ended with its step.
  virtual Status Begin(Pool& pool, std::vector<StepSpan> steps) = 0;
  // The answer to a Pool::Score that this scorer asked for.
  virtual void OnScored(Pool& pool, PathId path, uint64_t request,
                        const std::vector<std::vector<float>>& scores);
  // The engine was polled; a scorer with an engine of its own polls that one here, without waiting.
  virtual Status OnPolled(Pool& pool);
  // The round is over and the batch is not done: ask for more.
  virtual Status OnSettled(Pool& pool);
  // Whether the batch has been valued.
  virtual bool Done() const = 0;
  // Values of the batch in its order; NaN where none could be had. Ends the batch.
  virtual std::vector<double> Take() = 0;
};

// The scorer of a name, with its costs in the ledger:
//   conf   mean confidence of the step's tokens, brought into [0, 1] by the 5 % and 95 % quantiles
//          of the steps of warm-up paths (charged as generated tokens)
//   ptrue  P(Yes) / (P(Yes) + P(No)) after "is this correct so far?" (probe or judge tokens)
//   judge  a score that the policy itself writes when asked as a judge (judge tokens)
// Errors: kNotFound with the names there are; kInvalidArgument for "prm", which needs an engine:
// see MakeProcessReward.
Result<std::unique_ptr<StepReward>> MakeStepReward(const std::string& name,
                                                   const MethodOptions& options);

// How a process reward model is asked.
struct ProcessRewardSpec {
  std::string between = "\n\n";  // after the question, before the steps
  std::string tag = "";          // after the steps, where the verdict stands
  std::string good = "+";        // R = P(good) / (P(good) + P(bad)), by their first tokens
  std::string bad = "-";
};

// A process reward model ("prm"): a second engine reads question and steps and gives its verdict by
// Score. Each token it reads is charged to the ledger's `value`.
//   engine  must outlive the scorer and serve no other driver
std::unique_ptr<StepReward> MakeProcessReward(Engine& engine, ProcessRewardSpec spec);

// The step-wise method of a plan (`rebase`, `ets`, `mcts` or `tot`) with a scorer of the caller's
// choice, in place of the one that the method's name or the options give it.
// Errors: kNotFound (the plan's method is none of these).
Result<std::unique_ptr<Method>> MakeStepMethod(const RunPlan& plan,
                                               std::unique_ptr<StepReward> reward);

}  // namespace hyper
#pragma GCC visibility pop
