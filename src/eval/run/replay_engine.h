// An engine that decodes nothing: its lanes give out stored traces, token by token, so that every
// method of independent paths runs on them exactly as it would run live.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hyper/engine.h"

namespace hyper::eval {

// A path that was decoded once.
struct ReplayTrace {
  // Bytes of each token; where only the whole text is known it stands at the last one.
  std::vector<std::string> pieces;
  // Per token, as long as `pieces`, or empty where unknown.
  std::vector<float> logprobs;
  std::vector<float> mean_logprobs;  // over the whole vocabulary
  std::vector<float> entropies;
  // The confidence of each token over the candidates that the method of the row asks for.
  std::vector<float> confidences;
  bool finished = true;   // false: cut off
  bool end_token = true;  // the last token of a finished one ends the generation and has no text
  // Tokens that each piece stands for, as long as `pieces`; empty: one each. All traces of an
  // engine that have a piece at some place have the same span there. A span may be 0.
  std::vector<int> spans = {};
  // What the path answered when it was asked after `replies_every` tokens, after twice as many, and
  // so on; empty where it was never asked.
  std::vector<std::string> replies = {};
  int replies_every = 0;
};

// The n-th lane that is opened gives out trace number n. Each poll gives one token to
// every lane with a grant. No lane can be scored or routed: kUnsupported. A lane whose trace has
// replies can be forked, whatever the position: the fork takes any question and answers with the
// newest reply, in one token, or the last where the path ran on. Thread rule: as Engine.
class ReplayEngine : public Engine {
 public:
  // `model` is what the traces were made by. All traces have confidences.
  ReplayEngine(std::vector<ReplayTrace> traces, ModelInfo model);

  const Capabilities& capabilities() const override { return capabilities_; }
  const ModelInfo& model() const override { return model_; }
  EngineCost cost() const override { return {}; }
  Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) override;
  std::string TokenText(Token token) const override;
  bool IsEndOfGeneration(Token token) const override;
  Result<Prompt> RenderChat(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> template_arguments) override;
  Result<LaneId> Open(std::span<const Token> prompt, const LaneSpec& spec) override;
  Result<LaneId> Fork(LaneId lane, int position, const LaneSpec& spec) override;
  Status Extend(LaneId lane, std::span<const Token> tokens) override;
  Result<uint64_t> Score(LaneId lane, std::span<const std::vector<Token>> continuations) override;
  Status Grant(LaneId lane, int count) override;
  Status Revoke(LaneId lane) override;
  Status Route(LaneId lane, const std::optional<RouteSpec>& spec) override;
  Status Evict(LaneId lane) override;
  void Close(LaneId lane) override { lanes_.erase(lane); }
  Result<std::span<const Event>> Poll(double timeout_s) override;

  // What pieces with spans amount to in tokens: those of the first `pieces` pieces of a trace, and
  // those that were decoded one after another. Only where has_spans().
  bool has_spans() const;
  int TokensOf(size_t trace, int pieces) const;
  int64_t positions() const { return positions_; }
  // Forks that were asked.
  int asked() const { return asked_; }

 private:
  struct Lane {
    size_t trace = 0;
    size_t next = 0;  // token of the trace
    int prompt_tokens = 0;
    int granted = 0;
    int top_count = 0;
    bool probe = false;  // a fork
    bool replied = false;
  };

  // The trace and place of a token: its number counts over all traces.
  struct Place {
    const ReplayTrace* trace = nullptr;
    size_t position = 0;
  };
  Place PlaceOf(Token token) const;
  // Tokens beyond those of the traces: the newest question, then all replies.
  Token QuestionToken() const;
  Token ReplyOf(const Lane& lane) const;
  void Decode(LaneId id, Lane& lane);
  void Reply(LaneId id, Lane& lane);
  // Appends the list of most probable tokens of an event.
  std::span<const TokenLogprob> TopOf(const Lane& lane, float confidence);

  std::vector<ReplayTrace> traces_;
  std::vector<size_t> first_token_;  // number of each trace's first token
  std::vector<size_t> first_reply_;  // number of each trace's first reply
  std::vector<std::string> replies_;
  std::string question_;
  size_t tokens_ = 0;  // of all traces
  size_t opened_ = 0;  // traces in use
  int asked_ = 0;
  ModelInfo model_;
  Capabilities capabilities_;
  std::map<LaneId, Lane> lanes_;
  LaneId next_lane_ = 1;
  int64_t positions_ = 0;
  std::vector<Event> events_;
  std::vector<std::vector<TokenLogprob>> tops_;  // by event of a poll
};

}  // namespace hyper::eval
