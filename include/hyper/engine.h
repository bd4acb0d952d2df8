// The engine: what decodes. A lane is a logical handle (token history, sampler, random key);
// whether its KV is resident is up to the engine. Lanes take tokens only while they hold a
// grant, and everything that happens in an engine comes out of Poll as plain events.
//
// Positions count tokens of a lane's history from 0, the prompt included.
// Thread rule: one thread owns an engine and makes all calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/option.h"
#include "hyper/option_types.h"
#include "hyper/result.h"
#include "hyper/types.h"

#pragma GCC visibility push(default)
namespace hyper {

// Handle of a lane; never reused within an engine. 0 is no lane.
using LaneId = uint32_t;

// A language that a text is kept to.
struct Grammar {
  std::string rules;    // in llama.cpp's notation (GBNF), from the rule "root" on
  std::string begun{};  // beginning of the text that stands at the end of the prompt already
};

// What a lane is opened or forked with.
struct LaneSpec {
  // Key of the lane's random numbers: a draw depends on (path_key, position, purpose) only.
  uint64_t path_key = 0;
  SamplerSpec sampler;
  int top_count = 20;       // length of the top list of each token event, [0, max_top_count]
  bool full_mean = true;    // also the mean log-probability over the whole vocabulary
  bool score_tops = false;  // Score also tells the top lists, where the engine knows them
  bool stop_at_end = true;  // an end-of-generation token ends the lane
  std::vector<std::pair<Token, float>> logit_bias;  // added to logits before sampling only
  // Whom the lane decodes for: where a forward cannot hold all lanes, owners get equal shares of
  // it.
  uint32_t owner = 0;
  // What the text behind the prompt must be; null: any text. Forks of the lane that have the same
  // grammar go on where it is.
  std::shared_ptr<const Grammar> grammar;
};

// The most probable tokens at each token of each scored continuation.
using ScoreTops = std::vector<std::vector<std::vector<TokenLogprob>>>;

// SingleToken: K expert-routed proposals for each token of a lane.
struct RouteSpec {
  int routes = 1;        // K, >= 1; route 0 is clean; 1 is plain decoding
  double tau = 0.5;      // scale of the Gumbel noise, >= 0
  double lambda = 0.1;   // strength of the reuse penalty, >= 0
  bool two_pass = true;  // false: noisy top-m only (RoE)
  RoutePenalty penalty = RoutePenalty::kScore;
  RouteWeights weights = RouteWeights::kNoisy;
  RouteAggregate aggregate = RouteAggregate::kConfidence;
  double aggregate_temperature = 1.0;  // of the softmax over route confidences, > 0
  int confidence_count = 8;            // k of a route's confidence
  ConfidenceSet confidence_set = ConfidenceSet::kAlternatives;  // and what its k are
  int skip_first_layers = 0;  // MoE layers kept clean at the start, >= 0
  int skip_last_layers = 0;   // and at the end, >= 0
};

enum class EventKind {
  kToken,     // a token was appended to the lane
  kBoundary,  // the grant is used up; the lane waits
  kEnd,       // the lane takes no more tokens; see end_reason
  kScored,    // answer to Score
  kStalled,   // no KV cells now; the lane is intact, its grant stands and it is tried again
  kFailed,    // the lane cannot go on; see error
};

enum class EndReason { kStop, kContextFull };

// One thing that happened. Spans stay valid until the next call of Poll.
struct Event {
  EventKind kind = EventKind::kToken;
  LaneId lane = 0;
  // kToken:
  int position = 0;  // index of `token` in the lane's history
  Token token = kNoToken;
  float logprob = 0.0F;               // of `token`, raw distribution (aggregated where refined)
  int routes = 1;                     // K with which it was made
  std::span<const TokenLogprob> top;  // most probable first; ties by lower token id
  std::optional<float> mean_logprob;  // over the whole vocabulary, where asked and known
  std::optional<float> entropy;       // of a stored token whose `top` is no longer known
  bool degenerate = false;            // the row held NaN or nothing finite: no statistics from it
  // Of the lane's history, tokens whose KV was computed again for this token, or copied there from
  // another context of the model.
  int recomputed_tokens = 0;
  // Non-zero reuse penalties of the token's routes, and how many of them were rewards: the summed
  // scores of an expert may be negative.
  int penalty_sums = 0;
  int penalty_rewards = 0;
  // kEnd:
  EndReason end_reason = EndReason::kStop;
  // kScored: one row per continuation, the log-probability of each of its tokens.
  uint64_t request = 0;
  std::vector<std::vector<float>> scores;
  ScoreTops score_tops;  // where the lane asks for them and the engine knows them; else empty
  // kFailed; kScored where a request got no score, whose values then are NaN:
  Error error;
};

// What an engine can do; never faked. What it cannot do is removed from the controller's actions.
struct Capabilities {
  bool routing = false;      // Route with K > 1 (MoE models in process)
  bool full_logits = false;  // log-probabilities of the whole vocabulary are known
  bool raw_logprobs = true;  // log-probabilities are at temperature 1, before filters
  bool score = false;        // Score works
  bool strict = false;       // equal seeds give equal bytes for any parallelism
  int max_top_count = 0;     // longest top list
  int max_lanes = 0;         // lanes that may be open, routes not counted
  int max_rows = 0;          // lanes and routes together that may be in use at once
  int context_tokens = 0;    // longest history of one lane
  int64_t cells_total = 0;   // KV cells; 0 where unknown
  std::string no_routing{};  // why `routing` is false, in words; empty where it is true or unknown
};

// Running costs of an engine since it was made.
struct EngineCost {
  int64_t cells_used = 0;
  int64_t cells_peak = 0;
  double bytes_per_cell = 0;
  int lanes_open = 0;
  int lanes_peak = 0;
  int64_t forwards = 0;     // calls of the model
  int64_t decode_rows = 0;  // rows of decoding forwards, padding not counted
  int64_t route_rows = 0;   // of these, extra routes (K - 1 per refined token)
  int64_t padding_rows = 0;
  int64_t prefill_tokens = 0;     // prompt tokens computed
  int64_t recomputed_tokens = 0;  // tokens prefilled again after an eviction
  int64_t moved_tokens = 0;       // tokens whose KV was copied to another context of the model
  int64_t unused_tokens = 0;      // generated by a server, but their lane was closed before
  double forward_s = 0;           // time inside the model
  double sampler_s = 0;           // time in log-probabilities, top lists and drawing
  int64_t penalty_rewards = 0;    // two-pass sums that were negative, so rewarded reuse
  int64_t penalty_sums = 0;       // all non-zero two-pass sums
};

// Names of the bundled model and its variants start like this; their preset is `short`.
inline constexpr std::string_view kBundledFamily = "tinymath-moe-";

// The model behind an engine.
struct ModelInfo {
  std::string name;
  std::string architecture;
  std::string hash;  // of the weights file; empty where unknown
  int vocab_size = 0;
  int expert_count = 0;  // 0 for dense models
  int expert_used_count = 0;
  int moe_layer_count = 0;
  int context_train_tokens = 0;
  int64_t bytes = 0;
  bool has_chat_template = false;
  int gpu_layers = 0;       // on GPUs and RPC servers, the output counted as one more
  std::string preset;       // preset that the model is meant for; empty: none
  OptionValues sampling;    // sampling that the model's file recommends, by option name
  std::string cpu_backend;  // of ggml: "native" (compiled on this machine), "zen4", ..; else empty
  bool reasons = false;     // the chat template has reasoning before the answer
};

struct ChatMessage {
  std::string role;
  std::string content;
  std::string tool_calls{};    // of the assistant: an array as the OpenAI API has it; empty: none
  std::string tool_call_id{};  // of a tool: the call that it answers
};

// What a reply is to be, beside text.
struct ReplyWish {
  std::string json_schema{};    // the reply is JSON of this schema; empty: no such wish
  std::string tools{};          // JSON array of functions, as the OpenAI API has it; empty: none
  bool call_required = false;   // the reply is a call, not text
  bool parallel_calls = false;  // it may be several calls

  bool empty() const { return json_schema.empty() && tools.empty(); }
};

// A call of a function that a reply makes.
struct ToolCall {
  std::string name;
  std::string arguments;  // JSON
};

// A reply, read; `content` is what is neither reasoning nor a call.
struct ReadReply {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
};

// How a wish is kept. Immutable; any thread.
struct ReplyForm {
  std::shared_ptr<const Grammar> grammar;  // see LaneSpec; null: any text
  // Reads what a model wrote behind the prompt, all of it so far; `whole`: no more comes. Empty
  // where there are no tools, so no calls.
  std::function<ReadReply(std::string_view text, bool whole)> read;
};

// A prompt ready for Open.
struct Prompt {
  std::vector<Token> tokens;
  std::string text;                         // as rendered
  std::string question;                     // the last user message, for judges; empty: take `text`
  bool reasoning_opened = false;            // the template itself opened the reasoning tag
  std::string warning;                      // e.g. no chat template; empty when all is well
  std::shared_ptr<const ReplyForm> form{};  // of the reply; null: any text
};

// The interface; implementations: engine/llama (in process), engine/remote, engine/fake (scripted).
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const Capabilities& capabilities() const = 0;
  virtual const ModelInfo& model() const = 0;
  virtual EngineCost cost() const = 0;
  // What its user should know of the time since the last call, in words: a server was lost, or does
  // not offer something. None by default.
  virtual std::vector<std::string> TakeNotices() { return {}; }

  // Tokens of `text`; control tokens are recognised only with `parse_special`.
  virtual Result<std::vector<Token>> Tokenize(std::string_view text, bool parse_special) = 0;
  // Bytes of a token; a part of a UTF-8 character may come alone. Special tokens render as text.
  virtual std::string TokenText(Token token) const = 0;
  virtual bool IsEndOfGeneration(Token token) const = 0;
  // Renders messages with the model's chat template; user text never becomes control tokens.
  // `template_arguments`: JSON values by name, e.g. {"enable_thinking", "false"}.
  virtual Result<Prompt> RenderChat(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> template_arguments) = 0;
  // The same for a reply that is to have a form, which Prompt::form then tells. Errors also:
  // kInvalidArgument (a schema that cannot be read), kUnsupported (an engine without grammars).
  virtual Result<Prompt> RenderForm(
      std::span<const ChatMessage> messages,
      std::span<const std::pair<std::string, std::string>> template_arguments,
      const ReplyWish& wish) {
    return wish.empty() ? RenderChat(messages, template_arguments)
                        : Error{ErrorCode::kUnsupported,
                                "this engine cannot keep a reply to a form; ask for it in words"};
  }

  // Opens a lane on a prompt of at least one token. Prefill happens inside Poll.
  // Errors: kInvalidArgument (empty or longer than the context), kResourceExhausted (no lane left).
  virtual Result<LaneId> Open(std::span<const Token> prompt, const LaneSpec& spec) = 0;
  // A new lane with the history [0, position) of `lane`, 1 <= position <= its length. KV is shared
  // and the cost does not depend on other lanes. The new lane has no grant and no routing.
  virtual Result<LaneId> Fork(LaneId lane, int position, const LaneSpec& spec) = 0;
  // Appends given tokens (probes, joins); they are prefilled inside Poll and make no events.
  virtual Status Extend(LaneId lane, std::span<const Token> tokens) = 0;
  // Log-probabilities of continuations after the lane's history, nothing kept; the answer is a
  // kScored event with the returned request number.
  virtual Result<uint64_t> Score(LaneId lane,
                                 std::span<const std::vector<Token>> continuations) = 0;
  // Lets the lane take `count` more tokens (added to what it still holds).
  virtual Status Grant(LaneId lane, int count) = 0;
  // Takes the grant back: the lane takes no further token until granted again. No kBoundary.
  virtual Status Revoke(LaneId lane) = 0;
  // From the next token on: refinement with K routes, or none. Errors: kUnsupported.
  virtual Status Route(LaneId lane, const std::optional<RouteSpec>& spec) = 0;
  // Frees the lane's KV; the history stays and the next use prefills again (recomputed_tokens).
  virtual Status Evict(LaneId lane) = 0;
  // Ends the lane; its cells are free at once. Unknown lanes are ignored.
  virtual void Close(LaneId lane) = 0;

  // Advances by at most one forward of the model and returns what happened, in lane order. A lane
  // closed or revoked before the call takes no further token. Waits at most `timeout_s` seconds
  // if events come from outside. After an error (kInternal) the engine cannot be used any more; a
  // failure of a single lane is an event.
  virtual Result<std::span<const Event>> Poll(double timeout_s) = 0;
};

}  // namespace hyper
#pragma GCC visibility pop
