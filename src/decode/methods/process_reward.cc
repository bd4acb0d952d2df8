// A process reward model: a second engine that reads question and steps.
#include <map>

#include "src/core/softmax.h"
#include "src/decode/methods/batch_reward.h"

namespace hyper {
namespace {

class ProcessReward : public BatchReward {
 public:
  ProcessReward(Engine& engine, ProcessRewardSpec spec) : engine_(engine), spec_(std::move(spec)) {}
  ~ProcessReward() override {
    for (const auto& [lane, step] : lanes_) {
      engine_.Close(lane);
    }
  }
  ProcessReward(const ProcessReward&) = delete;
  ProcessReward& operator=(const ProcessReward&) = delete;

  std::string name() const override { return "prm"; }

  Status Begin(Pool& pool, std::vector<StepSpan> steps) override {
    next_ = 0;
    return BatchReward::Begin(pool, std::move(steps));
  }

  Status OnPolled(Pool& pool) override {
    if (lanes_.empty()) {
      return {};
    }
    Result<std::span<const Event>> events = engine_.Poll(/*timeout_s=*/0);
    if (!events) {
      return events.error();
    }
    for (const Event& event : *events) {
      const auto at = lanes_.find(event.lane);
      if (at == lanes_.end()) {
        continue;
      }
      const bool failed = event.kind == EventKind::kFailed || !event.error.message.empty();
      if (!failed && event.kind == EventKind::kScored && event.scores.size() == 2) {
        Answer(pool, at->first, ShareOfFirst(event.scores[0].front(), event.scores[1].front()));
      } else if (failed) {
        pool.Emit(NoticeRecord{"the reward model gave no value: " + event.error.message});
        Answer(pool, at->first, Path::kUnknown);
      }
    }
    return Ask(pool);
  }

 protected:
  // Opens lanes while the engine has some; the rest is asked as answers come.
  Status Ask(Pool& pool) override {
    for (; next_ < steps().size(); ++next_) {
      const StepSpan& step = steps()[next_];
      Result<std::vector<Token>> prompt = engine_.Tokenize(
          QuestionOf(pool) + spec_.between + TextBetween(pool, step.path, 0, step.end) + spec_.tag,
          false);
      Result<std::vector<Token>> good = engine_.Tokenize(spec_.good, false);
      Result<std::vector<Token>> bad = engine_.Tokenize(spec_.bad, false);
      if (!prompt || !good || !bad || good->empty() || bad->empty()) {
        return Error{ErrorCode::kUnsupported, "the reward model's tokenizer cannot read the steps"};
      }
      LaneSpec lane_spec;
      lane_spec.path_key = next_;
      lane_spec.top_count = 0;
      lane_spec.full_mean = false;
      Result<LaneId> lane = engine_.Open(*prompt, lane_spec);
      if (!lane && lane.error().code == ErrorCode::kResourceExhausted && !lanes_.empty()) {
        return {};
      }
      if (!lane) {
        pool.Emit(NoticeRecord{"the reward model read no step: " + lane.error().message});
        Set(next_, Path::kUnknown);
        continue;
      }
      const std::vector<std::vector<Token>> verdicts = {{good->front()}, {bad->front()}};
      Result<uint64_t> request = engine_.Score(*lane, verdicts);
      if (!request) {
        engine_.Close(*lane);
        return request.error();
      }
      lanes_[*lane] = next_;
      pool.Await(static_cast<int64_t>(prompt->size() + verdicts.size()));
    }
    return {};
  }

 private:
  void Answer(Pool& pool, LaneId lane, double value) {
    Set(lanes_.at(lane), value);
    lanes_.erase(lane);
    engine_.Close(lane);
    pool.Arrived();
  }

  Engine& engine_;
  ProcessRewardSpec spec_;
  std::map<LaneId, size_t> lanes_;  // open lanes -> step of the batch
  size_t next_ = 0;                 // first step not asked for
};

}  // namespace

std::unique_ptr<StepReward> MakeProcessReward(Engine& engine, ProcessRewardSpec spec) {
  return std::make_unique<ProcessReward>(engine, std::move(spec));
}

}  // namespace hyper
