// Test support: an engine in process whose lanes say what a llama-server or vLLM said in recorded
// streams, refined ones too. It reads the recordings by itself, with no part of the remote engine
// but the rule that makes a stream's seed out of its lane's key.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "hyper/engine.h"

namespace hyper::test {

class RecordedEngine : public Engine {
 public:
  // `exchanges` hold a rendered chat and every stream that a lane will need.
  explicit RecordedEngine(const std::vector<nlohmann::json>& exchanges);

  const Capabilities& capabilities() const override { return capabilities_; }
  const ModelInfo& model() const override { return model_; }
  EngineCost cost() const override { return {}; }
  Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) override;
  std::string TokenText(Token token) const override { return texts_.at(token); }
  bool IsEndOfGeneration(Token token) const override { return token == end_; }
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
  Status Evict(LaneId /*lane*/) override { return {}; }
  void Close(LaneId lane) override { lanes_.erase(lane); }
  Result<std::span<const Event>> Poll(double timeout_s) override;

 private:
  struct SaidToken {
    Token token = kNoToken;
    float logprob = 0;
    std::vector<TokenLogprob> top;
  };
  struct Lane {
    std::vector<Token> history;
    uint64_t key = 0;
    const std::vector<SaidToken>* stream = nullptr;  // null: the next token begins another one
    size_t next = 0;
    int granted = 0;
    int routes = 1;
  };
  using StreamKey = std::pair<uint32_t, int>;  // seed and routes

  void ReadStream(const nlohmann::json& exchange);
  void ReadNumbered(const nlohmann::ordered_json& logprobs, std::vector<SaidToken>& stream);
  void ReadNamed(const nlohmann::ordered_json& logprobs, std::vector<SaidToken>& stream);
  Token Named(const std::string& name);
  LaneId Insert(std::vector<Token> history, const LaneSpec& spec);
  const SaidToken* NextOf(Lane& lane) const;
  void Decode(LaneId id, Lane& lane);

  Capabilities capabilities_;
  ModelInfo model_;
  Prompt prompt_;
  Token end_ = kNoToken;
  std::map<Token, std::string> texts_;
  std::map<std::string, Token> names_;  // of tokens that have no number of their own
  std::map<StreamKey, std::vector<SaidToken>> streams_;
  std::map<LaneId, Lane> lanes_;
  LaneId next_lane_ = 1;
  std::vector<Event> events_;
};

}  // namespace hyper::test
