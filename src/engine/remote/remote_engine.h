// The engine over servers with an OpenAI API. A lane is a streamed completion that stays open past
// its grants; its tokens wait here until the lane is granted them.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "hyper/remote_engine.h"
#include "src/base/http/fetch.h"
#include "src/engine/remote/probe/probe.h"
#include "src/engine/remote/replica.h"
#include "src/engine/remote/wire/request.h"
#include "src/engine/remote/wire/stream.h"
#include "src/engine/remote/wire/token_table.h"

namespace hyper::remote {

// A token that arrived and waits for its lane's grant.
struct ArrivedToken {
  Token token = kNoToken;
  int32_t wire_id = kNoWireId;
  float logprob = 0.0F;
  std::vector<TokenLogprob> top;  // sorted; empty where the server's list is of no use
};

struct RemoteLane {
  LaneId id = 0;
  LaneSpec spec;
  std::vector<Token> history;
  const ChatPrompt* chat = nullptr;  // what it begins with, where only the server renders chats
  std::vector<int32_t> wire;         // of each token of the history, its number at the server
  int prompt_tokens = 0;
  bool forked = false;
  int granted = 0;
  std::deque<ArrivedToken> waiting;
  std::optional<ArrivedToken> held;  // without text: the end of the text, if nothing follows
  std::unique_ptr<Stream> stream;
  int replica = kNoReplica;    // where it, or what it was forked from, was decoded last
  int preferred = kNoReplica;  // where the next stream goes, if it can
  bool queued = false;
  int streams_begun = 0;
  int restarts = 0;    // streams that brought nothing of use, over the lane's whole life
  int attempts = 0;    // in a row without a token
  int replays = 0;     // streams in a row that did not begin with `replay`
  std::string replay;  // bytes that a new stream must repeat: a split character before it
  int recomputed = 0;  // prefilled again, not yet told
  int most_asked = std::numeric_limits<int>::max();  // tokens that a request may ask for
  std::optional<RouteSpec> route;  // its tokens are refined; all that wait are made that way
  std::optional<EndReason> ended;
  std::optional<Error> failed;
  uint64_t last_list = 0;  // hash of the newest list, see Judge
  int repeats = 0;

  int length() const { return static_cast<int>(history.size()); }
  int length_with_waiting() const {
    return length() + static_cast<int>(waiting.size()) + (held ? 1 : 0);
  }
};

// Continuations that are being scored, one request each.
struct RemoteScore {
  struct Call {
    base::HttpRequest request;
    base::BodySink sink;
    base::TransferId transfer = 0;
    int tries = 0;
    bool waits = false;        // to be sent again
    double not_before = 0;     // where it waits
    size_t prompt_tokens = 0;  // of the whole request
    size_t scored_tokens = 0;  // of these, the last
  };
  LaneId lane = 0;
  std::vector<std::unique_ptr<Call>> calls;
};

class RemoteEngine : public Engine {
 public:
  RemoteEngine(RemoteOptions options, std::unique_ptr<base::HttpLoop> loop,
               std::vector<Replica> replicas);

  const Capabilities& capabilities() const override { return capabilities_; }
  const ModelInfo& model() const override { return model_; }
  EngineCost cost() const override;
  std::vector<std::string> TakeNotices() override;
  Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) override;
  std::string TokenText(Token token) const override { return table_.Bytes(token); }
  bool IsEndOfGeneration(Token token) const override { return table_.IsEnd(token); }
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
  void Close(LaneId lane) override;
  Result<std::span<const Event>> Poll(double timeout_s) override;

 private:
  using Time = double;  // seconds of the loop's clock

  Time Now() const { return loop_->clock().Now(); }

  // Lanes (remote_engine.cc).
  RemoteLane* Find(LaneId lane);
  Result<LaneId> Insert(RemoteLane lane);
  const Abilities& can() const { return replicas_[probed_].can; }
  void SetRouting();
  void Drop(RemoteLane& lane);
  void Notice(const std::string& key, const std::string& text);
  std::vector<Token> PromptTokens(const std::string& text, const std::vector<int32_t>& ids,
                                  const std::vector<std::string>& pieces);
  Result<std::vector<Token>> TokenizeThere(std::string_view text, bool parse_special);

  // Chats that only the server renders (chat_prefill.cc).
  Result<Prompt> RenderForPrefill(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> template_arguments);
  Result<Continuation> ContinuationWith(const std::string& arguments);
  Result<int> CountChat(const ChatPrompt& chat);
  const ChatPrompt* ChatOf(std::span<const Token> prompt) const;

  // Log-probabilities of given tokens (scores.cc).
  Result<std::vector<int32_t>> ScoredIds(const RemoteLane& lane,
                                         std::span<const Token> continuation) const;
  Status StartScore(RemoteScore& score, const std::string& url, std::vector<int32_t> ids);
  Status Send(RemoteScore::Call& call);
  bool Settled(RemoteScore::Call& call);
  void CollectScores();
  void Cancel(const RemoteScore& score);
  void DropScores(LaneId lane);

  // Streams (streams.cc).
  bool Wants(const RemoteLane& lane) const;
  void Enqueue(RemoteLane& lane, Time not_before);
  void StartQueued(Time now);
  bool MakeRoom();
  bool StartStream(RemoteLane& lane, int replica, Time now);
  void EndStream(RemoteLane& lane);
  void Drain(Time now);
  void LookAtStreams(Time now);
  void LookAt(RemoteLane& lane, Time now);
  void HandleEnd(RemoteLane& lane, const StreamEnd& end, Time now);
  void TryAgain(RemoteLane& lane, const StreamEnd& end, Time now);
  void Delay(RemoteLane& lane, int attempt, double asked_s, Time now);
  bool AskForLess(RemoteLane& lane, const StreamEnd& end, int asked);
  void ChargePrompt(RemoteLane& lane);
  void CheckTimeouts(Time now);
  CompletionRequest RequestOf(RemoteLane& lane, const Abilities& server);
  int TokensToAsk(const RemoteLane& lane) const;

  // Replicas that are away (revive.cc).
  void NoteUnreachable(int replica, const std::string& error, Time now);
  void ReviveReplicas(Time now);
  void CheckAllDead(Time now);

  // Tokens (arrivals.cc).
  void Arrive(RemoteLane& lane, ChunkToken& token);
  bool TakeReplay(RemoteLane& lane, ChunkToken& token);
  ArrivedToken Convert(RemoteLane& lane, ChunkToken& token);
  void TakeEnd(RemoteLane& lane);
  bool Judge(RemoteLane& lane, const ChunkToken& token);
  void Release();
  void ReleaseFrom(RemoteLane& lane);
  void ReleaseToken(RemoteLane& lane);

  RemoteOptions options_;
  std::unique_ptr<base::HttpLoop> loop_;
  std::vector<Replica> replicas_;
  size_t probed_ = 0;                                    // a replica whose abilities stand for all
  std::map<size_t, std::unique_ptr<Revival>> revivals_;  // by replica that is asked again
  Capabilities capabilities_;
  int context_tokens_ = 0;  // as far as it is known by now
  ModelInfo model_;
  EngineCost cost_;
  TokenTable table_;
  ChunkParser parser_;
  std::map<std::pair<std::string, std::string>, Token> chat_tokens_;  // by messages and arguments
  std::map<Token, std::unique_ptr<ChatPrompt>> chats_;  // by their prompts' first token
  std::map<std::string, Continuation> continuations_;   // by template arguments
  std::map<LaneId, std::unique_ptr<RemoteLane>> lanes_;
  std::set<LaneId> ready_;                     // something to release
  std::set<std::pair<int, LaneId>> queue_;     // (tokens so far, lane): least advanced first
  std::set<std::pair<Time, LaneId>> delayed_;  // (not before, lane)
  std::set<LaneId> streaming_;                 // lanes with a stream
  std::vector<LaneId> changed_;                // whose streams have brought something
  std::vector<std::pair<Time, std::unique_ptr<Stream>>> draining_;  // ended, last bytes to come
  std::map<uint64_t, RemoteScore> scores_;                          // by number of the request
  uint64_t next_score_ = 1;
  std::vector<Event> events_;
  std::deque<std::vector<TokenLogprob>> tops_;  // of the events
  std::vector<std::string> notices_;
  std::set<std::string> noticed_;
  Time next_check_ = 0;
  LaneId next_lane_ = 1;
};

// As MakeRemoteEngine, with the clock that all waiting goes by; it must outlive the engine.
Result<std::unique_ptr<Engine>> MakeEngine(const RemoteOptions& options, base::Clock& clock);

}  // namespace hyper::remote
