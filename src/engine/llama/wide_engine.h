// Engine on several llama.cpp contexts of one model: pools wider than the 256 sequences that one
// context holds. Each context is a LlamaEngine of its own ("shard"); lanes are spread over them, a
// path and its routes always share one, and a fork that finds its parent's shard full opens in
// another, where the KV is copied.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "src/engine/llama/llama_engine.h"

namespace hyper::llama {

class WideEngine final : public Engine {
 public:
  // An engine over `loaded.plan.contexts` contexts. Errors: those of MakeContext.
  static Result<std::unique_ptr<WideEngine>> Make(std::unique_ptr<LoadedModel> loaded,
                                                  const LlamaOptions& options);

  const Capabilities& capabilities() const override { return capabilities_; }
  const ModelInfo& model() const override { return loaded_->info; }
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

 private:
  friend struct EngineProbe;  // tests look inside with it: tests/support/llama_fixture.h

  explicit WideEngine(std::unique_ptr<LoadedModel> loaded) : loaded_(std::move(loaded)) {}

  // The shard of an open lane, or the first one, which names the lane in its error.
  LlamaEngine& ShardOf(LaneId lane);
  // Where a lane finds most room for children: by free lanes, then by free cells; -1: all are full.
  int Roomiest() const;
  Error Full() const;
  // Notes a new lane's shard.
  Result<LaneId> Place(Result<LaneId> lane, int shard);
  // Polls shards in turn until one has run a forward or has news; false where all of them stand
  // still.
  Result<bool> PollShards();
  // Moves a lane that waits for cells to a shard that has some. False where none can move.
  bool MoveStalledLane();

  std::unique_ptr<LoadedModel> loaded_;
  LaneNumbers numbers_;
  std::vector<std::unique_ptr<LlamaEngine>> shards_;
  std::unordered_map<LaneId, int> homes_;
  Capabilities capabilities_;
  size_t next_ = 0;  // shard that is polled next
  int lanes_peak_ = 0;
  std::vector<Event> events_;
};

}  // namespace hyper::llama
