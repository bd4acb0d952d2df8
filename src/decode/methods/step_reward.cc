#include "hyper/step_reward.h"

#include <cmath>
#include <map>
#include <string_view>

#include "src/core/quantile.h"
#include "src/core/signal.h"
#include "src/core/softmax.h"
#include "src/core/tree_search.h"
#include "src/decode/methods/batch_reward.h"
#include "src/decode/methods/judge_reward.h"

namespace hyper {

int StepReward::WarmupPaths(const MethodOptions& /*options*/) const { return 0; }
void StepReward::Calibrate(const Pool& /*pool*/, std::span<const StepSpan> /*steps*/) {}
void StepReward::OnScored(Pool& /*pool*/, PathId /*path*/, uint64_t /*request*/,
                          const std::vector<std::vector<float>>& /*scores*/) {}
Status StepReward::OnPolled(Pool& /*pool*/) { return {}; }
Status StepReward::OnSettled(Pool& /*pool*/) { return {}; }

std::vector<Token> TokensUpTo(Pool& pool, PathId id, int end) {
  std::vector<Token> tokens = pool.prompt().tokens;
  for (int i = 0; i < end; ++i) {
    const Token token = pool.path(id).tokens[static_cast<size_t>(i)];
    if (!pool.engine().IsEndOfGeneration(token)) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

std::string TextBetween(Pool& pool, PathId id, int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) {
    const Token token = pool.path(id).tokens[static_cast<size_t>(i)];
    if (!pool.engine().IsEndOfGeneration(token)) {
      text += pool.engine().TokenText(token);
    }
  }
  return text;
}

const std::string& QuestionOf(const Pool& pool) {
  return pool.prompt().question.empty() ? pool.prompt().text : pool.prompt().question;
}

namespace {

// Mean confidence of the step's tokens; NaN where none is known.
double StepConfidence(const Pool& pool, const StepSpan& step) {
  const std::vector<float>& all = pool.path(step.path).confidences;
  const std::vector<double> of_step(all.begin() + step.begin, all.begin() + step.end);
  return TraceConfidence(of_step, MeanOf(pool.options().confidence));
}

class ConfidenceReward : public BatchReward {
 public:
  std::string name() const override { return "conf"; }
  int WarmupPaths(const MethodOptions& options) const override { return WarmupCount(options); }

  void Calibrate(const Pool& pool, std::span<const StepSpan> steps) override {
    std::vector<double> sample;
    for (const StepSpan& step : steps) {
      const double confidence = StepConfidence(pool, step);
      if (std::isfinite(confidence)) {
        sample.push_back(confidence);
      }
    }
    low_ = Quantile(sample, 0.05);
    high_ = Quantile(sample, 0.95);
  }

 protected:
  Status Ask(Pool& pool) override {
    for (size_t i = 0; i < steps().size(); ++i) {
      Set(i, RescaleConfidence(StepConfidence(pool, steps()[i]), low_, high_));
    }
    return {};
  }

 private:
  double low_ = Path::kUnknown;
  double high_ = Path::kUnknown;
};

constexpr std::string_view kStepProbe =
    "\n\nIs the reasoning so far correct? Answer Yes or No.\nAnswer:";

// A step whose path goes on is asked in place. Where the path has ended with the step, its lane is
// gone: the question is put to a lane of its own, which reads the whole text again.
class ProbeReward : public BatchReward {
 public:
  std::string name() const override { return "ptrue"; }

  void OnScored(Pool& pool, PathId path, uint64_t request,
                const std::vector<std::vector<float>>& scores) override {
    const auto at = asked_.find(request);
    if (at == asked_.end() || scores.size() != 2) {
      return;
    }
    Set(at->second, ShareOfFirst(scores[0].back(), scores[1].back()));
    asked_.erase(at);
    if (pool.path(path).kind == PathKind::kJudge) {
      pool.Finish(path, PathStatus::kFinished, "P(True) probe answered");
    }
  }

  // A probe whose lane was lost is answered by nobody.
  Status OnSettled(Pool& /*pool*/) override {
    for (const auto& [request, step] : asked_) {
      Set(step, Path::kUnknown);
    }
    asked_.clear();
    return {};
  }

 protected:
  Status Ask(Pool& pool) override {
    Result<std::vector<Token>> question = pool.engine().Tokenize(kStepProbe, false);
    Result<std::vector<Token>> yes = pool.engine().Tokenize(" Yes", false);
    Result<std::vector<Token>> no = pool.engine().Tokenize(" No", false);
    if (!question || !yes || !no || yes->empty() || no->empty()) {
      return Error{ErrorCode::kUnsupported, "the tokenizer cannot read the P(True) question"};
    }
    for (size_t i = 0; i < steps().size(); ++i) {
      // The words are told apart by their first tokens; what follows would only add noise.
      std::vector<std::vector<Token>> replies(2, *question);
      replies[0].push_back(yes->front());
      replies[1].push_back(no->front());
      PathId asked = steps()[i].path;
      if (!pool.path(asked).running()) {
        Result<PathId> judge = pool.OpenJudge(TokensUpTo(pool, asked, steps()[i].end), opened_++);
        if (!judge) {
          pool.Emit(NoticeRecord{"a step got no P(True): " + judge.error().message});
          Set(i, Path::kUnknown);
          continue;
        }
        asked = *judge;
      }
      Result<uint64_t> request = pool.Score(asked, replies);
      if (!request && request.error().code == ErrorCode::kUnsupported) {
        return request.error();
      }
      if (!request) {
        pool.Emit(NoticeRecord{"a step got no P(True): " + request.error().message});
        Set(i, Path::kUnknown);
        if (pool.path(asked).kind == PathKind::kJudge) {
          pool.Finish(asked, PathStatus::kFailed, request.error().message);
        }
        continue;
      }
      asked_[*request] = i;
    }
    return {};
  }

 private:
  std::map<uint64_t, size_t> asked_;  // request -> step of the batch
  uint64_t opened_ = 0;
};

}  // namespace

Result<std::unique_ptr<StepReward>> MakeStepReward(const std::string& name,
                                                   const MethodOptions& options) {
  std::unique_ptr<StepReward> reward;
  if (name == "conf") {
    reward = std::make_unique<ConfidenceReward>();
  } else if (name == "ptrue") {
    reward = std::make_unique<ProbeReward>();
  } else if (name == "judge") {
    reward = std::make_unique<JudgeReward>(options, JudgeScale::kScore);
  } else if (name == "prm") {
    return InvalidArgument(
        "the reward prm needs a process reward model; use conf, ptrue or judge, or hyper eval with "
        "--reward-model");
  } else {
    return Error{ErrorCode::kNotFound,
                 "reward '" + name + "' is not known; use conf, ptrue, judge or prm"};
  }
  return reward;
}

}  // namespace hyper
