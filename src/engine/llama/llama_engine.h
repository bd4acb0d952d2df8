// Engine on llama.cpp: lanes over the sequences of one context.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hyper/llama_engine.h"
#include "src/core/logits.h"
#include "src/core/sampling.h"
#include "src/engine/llama/batch.h"
#include "src/engine/llama/chat.h"
#include "src/engine/llama/kv/pool.h"
#include "src/engine/llama/lane.h"
#include "src/engine/llama/model.h"
#include "src/engine/llama/router_hook.h"
#include "src/engine/llama/schedule.h"

namespace hyper::llama {

// Logits as they leave a forward, before anything is taken from them; for tests, which may change
// them. `route` is -1 for the aggregated log-probabilities of a refined token.
struct LogitRecord {
  LaneId lane = 0;
  int position = 0;  // of the token they predict
  int route = 0;
  std::span<float> logits;
};

// Where engines that share lanes take new numbers from.
struct LaneNumbers {
  LaneId next_lane = 1;
  uint64_t next_request = 1;
};

class LlamaEngine final : public Engine {
 public:
  // An engine over one context, whatever the number that `options` would take.
  static Result<std::unique_ptr<LlamaEngine>> Make(const LlamaOptions& options);
  // The same on a loaded model, which it owns; or which outlives it, as do the numbers.
  static Result<std::unique_ptr<LlamaEngine>> MakeWith(std::unique_ptr<LoadedModel> loaded,
                                                       const LlamaOptions& options);
  static Result<std::unique_ptr<LlamaEngine>> MakeOn(const LoadedModel& loaded,
                                                     const LlamaOptions& options,
                                                     LaneNumbers* numbers);

  const Capabilities& capabilities() const override { return capabilities_; }
  const ModelInfo& model() const override { return loaded_.info; }
  EngineCost cost() const override;
  Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) override;
  std::string TokenText(Token token) const override;
  bool IsEndOfGeneration(Token token) const override;
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

  // What an engine on one of several contexts tells and takes besides (WideEngine).
  int free_lanes() const { return loaded_.plan.lanes - static_cast<int>(lanes_.size()); }
  int64_t free_cells() const { return pool_->free_cells(); }
  int64_t forwards() const { return cost_.forwards; }
  // Tokens of an open lane.
  int HistoryLength(LaneId lane) const { return lanes_.at(lane).length(); }
  // Fork of a lane of `other`; its KV is copied where that can be done, else computed again.
  Result<LaneId> ForkFrom(LlamaEngine& other, LaneId lane, int position, const LaneSpec& spec);
  // Takes a lane over, with its number and grant. Errors: kUnavailable (the lane is being scored),
  // kResourceExhausted; the lane then stays where it is.
  Status Adopt(LlamaEngine& other, LaneId lane);

 private:
  friend struct EngineProbe;  // tests look inside with it: tests/support/llama_fixture.h

  // A continuation being scored: its own sequence behind the lane's prefix.
  struct Continuation {
    std::vector<Token> tokens;  // the lane's last token, then the continuation
    int done = 0;               // rows computed
    int sequence = -1;
    std::vector<float> logprobs;
    std::vector<std::vector<TokenLogprob>> tops;  // where the lane asks for them
  };
  struct ScoreRequest {
    uint64_t number = 0;
    LaneId lane = 0;
    int prefix = 0;     // cells of the lane that every continuation shares
    int top_count = 0;  // of the top lists; 0: none are asked for
    std::vector<Continuation> continuations;
  };
  // How a forward ended.
  enum class Outcome { kDone, kNoCells };
  // A lane's rows in the forward that is being built.
  struct LaneRows {
    LaneId lane = 0;
    std::vector<int> rows;  // by route
  };

  LlamaEngine(const LoadedModel& loaded, const LlamaOptions& options, LaneNumbers* numbers);
  Status Start(const LlamaOptions& options);

  Result<Lane*> Find(LaneId lane);
  Status CheckSpec(const LaneSpec& spec) const;
  Status CheckTokens(std::span<const Token> tokens) const;
  Status CheckFreeLane() const;
  Result<Lane> ChildOf(LaneId lane, int position, const LaneSpec& spec);
  Result<LaneId> AddLane(Lane lane);
  // Puts a lane's grammar to its end: that of `parent` goes on, where it has the same.
  Status BeginGrammar(Lane* lane, const Lane* parent);
  // The state of a grammar at its beginning; lanes that have the same one parse it once.
  Result<GrammarState> BegunGrammar(const std::shared_ptr<const Grammar>& grammar);
  void CopyCells(LlamaEngine& other, const Lane& from, LaneId id);
  int ResidentLength(const Lane& lane) const;
  void EnsureSequence(Lane* lane);
  void EndRefinement(Lane* lane);
  // Ends it before its last wave: the lane is where it was before the token.
  void DropRefinement(Lane* lane);
  Error ContextTooLong(int tokens) const;

  // Poll, in poll.cc.
  void EndFullLanes();
  Result<bool> PrefillOrScoreStep();
  // Lanes that could decode at once.
  int ReadyLanes() const;
  // Rows of a forward that compute `count` given tokens of a lane from `begin` on.
  struct PrefillPart {
    LaneId id = 0;
    Lane* lane = nullptr;
    int begin = 0;
    int count = 0;
    int decoding_row = -1;  // the row after them, which draws the lane's next token; -1: none
  };
  bool WantsPrefill(const Lane& lane) const;
  // The lanes that want it: new prompts before what is computed again.
  std::vector<std::pair<LaneId, Lane*>> PrefillOrder();
  void AddPrefill(LaneId id, Lane* lane, int count, std::vector<PrefillPart>* parts);
  // Where prompts and decoding take turns, a prompt that is whole is answered in the same forward.
  bool DecodesAtOnce(const Lane& lane, const std::vector<PrefillPart>& parts) const;
  // Fills the batch with what several lanes lack, in their order, as far as it has rows; where
  // prompts and decoding take turns, as far as the lanes that decode can wait.
  std::vector<PrefillPart> GatherPrefill();
  Result<Outcome> ForwardPrefill(const std::vector<PrefillPart>& parts);
  Result<bool> PrefillStep();
  void ShareLongestPrefix(LaneId id, Lane* lane);
  Result<bool> ScoreStep();
  std::vector<Continuation*> AddScoreRows(ScoreRequest* request, const Lane& lane);
  void TakeScores(const std::vector<Continuation*>& owners);
  bool FinishScore();
  Result<Outcome> Forward();

  // Decoding, in decode.cc.
  Status DecodeStep();
  DecodePlan PlanForward();
  std::vector<LaneRows> BuildDecodeRows(const DecodePlan& plan);
  void BeginRouting(const std::vector<LaneRows>& lanes);
  void FinishLane(const LaneRows& rows);
  void FinishWave(LaneId id, Lane* lane, const LaneRows& rows);
  struct Routed {  // how the logits of a token were made
    int routes = 1;
    int penalty_sums = 0;
    int penalty_rewards = 0;
  };
  // The token that follows, by the lane's sampler, bias and grammar; kNoToken: there is none.
  Token Draw(Lane* lane, std::span<const float> logits);
  // No token is allowed: the text is whole, or the grammar leads nowhere from here.
  void EndGrammar(LaneId id, Lane* lane);
  void EndLane(LaneId id, Lane* lane, EndReason reason);
  void TakeToken(LaneId id, Lane* lane, std::span<float> logits, const Routed& routed);
  Event& AddEvent(EventKind kind, LaneId lane);
  std::span<float> Logits(int row);
  void Observe(LaneId lane, int position, int route, std::span<float> logits);

  std::unique_ptr<LoadedModel> owned_;
  const LoadedModel& loaded_;
  LaneNumbers own_numbers_;
  LaneNumbers* numbers_;
  bool strict_;
  bool interleave_;
  bool decoding_due_ = false;  // a forward of given tokens has kept lanes waiting
  Capabilities capabilities_;
  const llama_vocab* vocab_;
  std::unique_ptr<RouterHook> hook_;
  ContextHandle context_;
  std::unique_ptr<ChatRenderer> chat_;
  std::unique_ptr<KvPool> pool_;
  Batch batch_;

  std::map<LaneId, Lane> lanes_;
  std::deque<ScoreRequest> scores_;
  std::vector<std::pair<std::weak_ptr<const Grammar>, GrammarState>> grammars_;  // parsed
  OwnerShares shares_;
  uint64_t round_ = 0;  // fewest turns of the lanes that last wished for a row
  EngineCost cost_;

  std::vector<Event> events_;
  std::vector<RowSummary> summaries_;  // one for each token event of a poll
  size_t summaries_used_ = 0;
  std::vector<float> aggregated_;
  std::vector<float> changed_;  // logits, before a token is drawn from them
  SamplerScratch sampler_scratch_;
  std::function<void(const LogitRecord&)> logit_observer_;
};

}  // namespace hyper::llama
