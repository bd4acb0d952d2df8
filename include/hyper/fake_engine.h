// A scripted engine without a model: the next token's logits come from a function. Decoding logic
// is tested on it; you can test your own method on it too. A token is a byte: id = ASCII code, 0
// ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyper/engine.h"

#pragma GCC visibility push(default)
namespace hyper {

// What a script is told of the token it is asked for.
struct FakeStep {
  uint64_t path_key = 0;
  std::span<const Token> history;  // prompt included
  int prompt_tokens = 0;
  int routes = 1;
};

struct FakeOptions {
  // Fills the raw logits [vocab_size] of the next token; they come in as zeros.
  std::function<void(const FakeStep&, std::span<float>)> logits;
  Capabilities capabilities{true, true, true, true, true, 64, 1024, 1024, 4096, 0};
  // Faults, asked before each token and each poll; an empty function injects none.
  std::function<std::optional<Error>(const FakeStep&)> lane_fault;
  std::function<std::optional<Error>(int64_t poll)> poll_fault;
  std::function<bool(int64_t open)> refuse_open;  // true: Open and Fork number `open` are refused
  // How a wish is kept; empty: no engine of forms. And whether a text of that grammar may begin
  // with `text`, where 0 stands for the end.
  std::function<Result<ReplyForm>(const ReplyWish&)> form;
  std::function<bool(const std::string& grammar, std::string_view text)> allows;
};

// One event per granted lane and poll. Thread rule: as Engine.
class FakeEngine : public Engine {
 public:
  static constexpr int kVocabulary = 128;
  static constexpr Token kEnd = 0;

  explicit FakeEngine(FakeOptions options);

  const Capabilities& capabilities() const override { return options_.capabilities; }
  const ModelInfo& model() const override { return model_; }
  EngineCost cost() const override;
  Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) override;
  std::string TokenText(Token token) const override;
  bool IsEndOfGeneration(Token token) const override { return token == kEnd; }
  Result<Prompt> RenderChat(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> template_arguments) override;
  Result<Prompt> RenderForm(std::span<const ChatMessage> messages,
                            std::span<const std::pair<std::string, std::string>> template_arguments,
                            const ReplyWish& wish) override;
  Result<LaneId> Open(std::span<const Token> prompt, const LaneSpec& spec) override;
  Result<LaneId> Fork(LaneId lane, int position, const LaneSpec& spec) override;
  Status Extend(LaneId lane, std::span<const Token> tokens) override;
  Result<uint64_t> Score(LaneId lane, std::span<const std::vector<Token>> continuations) override;
  Status Grant(LaneId lane, int count) override;
  Status Revoke(LaneId lane) override;
  Status Route(LaneId lane, const std::optional<RouteSpec>& spec) override;
  Status Evict(LaneId lane) override;
  void Close(LaneId lane) override;
  Result<std::span<const Event>> Poll(double timeout_s) override;

  // Lanes that are open now, for leak checks.
  int open_lanes() const;

 private:
  struct Lane {
    LaneSpec spec;
    std::vector<Token> history;
    int prompt_tokens = 0;
    LaneId parent = 0;
    int fork_position = 0;
    int granted = 0;
    int routes = 1;
    bool open = true;
    bool evicted = false;
  };
  struct ScoreRequest {
    uint64_t number = 0;
    LaneId lane = 0;
    std::vector<std::vector<Token>> continuations;
  };

  Lane* Find(LaneId lane);
  Result<LaneId> Insert(Lane lane);
  std::vector<float> LogitsAfter(const Lane& lane, std::span<const Token> history) const;
  // Takes from the logits what the lane's grammar does not allow.
  void Constrain(const Lane& lane, std::vector<float>& logits) const;
  void Decode(LaneId id, Lane& lane);
  void AnswerScores();
  int64_t CellsUsed() const;

  FakeOptions options_;
  ModelInfo model_;
  std::map<LaneId, Lane> lanes_;
  std::vector<ScoreRequest> score_requests_;
  std::vector<Event> events_;
  std::vector<std::unique_ptr<std::vector<TokenLogprob>>> tops_;
  EngineCost cost_;
  LaneId next_lane_ = 1;
  uint64_t next_request_ = 1;
  int64_t polls_ = 0;
  int64_t opens_ = 0;
};

}  // namespace hyper
#pragma GCC visibility pop
