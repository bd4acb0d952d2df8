#include "src/engine/remote/probe/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "src/engine/remote/probe/answers.h"
#include "src/engine/remote/probe/chat.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/endpoint.h"
#include "src/engine/remote/wire/json_call.h"
#include "src/engine/remote/wire/request.h"

namespace hyper::remote {
namespace {

constexpr double kProbeSeconds = 120;  // a server may load its model first
constexpr const char* kRoutingPath = "/hyper/capabilities";
constexpr const char* kSample = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,";

// One probe of one server.
class Prober {
 public:
  Prober(base::HttpLoop& loop, std::string url)
      : loop_(loop), base_(std::move(url)), root_(RootUrl(base_)) {
    sample_chat_.messages = WireJson{{{"role", "user"}, {"content", kSample}}}.dump();
  }

  Result<Abilities> Run(const std::string& model);
  Result<Abilities> RunFurther(const Abilities& first);

 private:
  JsonAnswer Get(const std::string& url) { return GetJson(loop_, url, kProbeSeconds); }
  JsonAnswer Post(const std::string& url, const WireJson& body) {
    return PostJson(loop_, url, body, kProbeSeconds);
  }
  JsonAnswer Complete(const CompletionRequest& request, const WireJson& more = WireJson::object());
  CompletionRequest Short(int max_tokens) const;

  Status FindModel(const std::string& wanted);
  void FindKind();
  Status FindCompletions();
  void FindRawLogprobs(const JsonAnswer& at_one);
  void FindTokenizer();
  void FindIds(const JsonAnswer& plain);
  void FindSampling();
  void FindCache();
  void FindRouting();
  void FindErrorStyle();
  void Workaround(const std::string& words) { can_.workarounds.push_back(words); }

  base::HttpLoop& loop_;
  std::string base_;
  std::string root_;
  Abilities can_;
  std::vector<int32_t> sample_ids_;
  ChatPrompt sample_chat_;  // in place of a text where the server has chats only
};

JsonAnswer Prober::Complete(const CompletionRequest& request, const WireJson& more) {
  WireJson body = WireJson::parse(CompletionBody(request, can_));
  body.update(more);
  return Post(base_ + CompletionPath(request), body);
}

CompletionRequest Prober::Short(int max_tokens) const {
  CompletionRequest request;
  request.chat = can_.completions ? nullptr : &sample_chat_;
  request.text = can_.completions ? kSample : "";
  request.max_tokens = max_tokens;
  request.top_count = can_.top_logprobs;
  request.stream = false;
  request.seed = 1;
  return request;
}

Status Prober::FindModel(const std::string& wanted) {
  return ReadModels(base_, Get(base_ + "/models"), wanted, can_);
}

// llama-server tells its slots, the context of each and its template.
void Prober::FindKind() {
  if (can_.kind != ServerKind::kUnknown && can_.kind != ServerKind::kLlamaServer) {
    return;
  }
  ReadProps(Get(root_ + "/props"), can_);
}

bool IsAbsent(const JsonAnswer& answer) {
  return answer.end.status == 404 || answer.end.status == 405 || answer.end.status == 501;
}

// A first completion, with fields and list length given up until the server takes it.
Status Prober::FindCompletions() {
  can_.top_logprobs = kWantedTop;
  can_.output_ids = can_.kind == ServerKind::kVllm || can_.kind == ServerKind::kSglang;
  JsonAnswer answer = Complete(Short(1));
  if (IsAbsent(answer)) {
    can_.completions = false;
    answer = Complete(Short(1));
  }
  if (answer.end.status == 400 || answer.end.status == 422) {
    const std::string reason = answer.error_words;
    can_.filters = false;
    answer = Complete(Short(1));
    if (!answer.ok()) {
      can_.filters = true;
      for (const int top : {10, 5, 1, 0}) {
        can_.top_logprobs = top;
        answer = Complete(Short(1));
        if (answer.ok()) {
          break;
        }
      }
      Workaround(fmt::format("lists of {} log-probabilities in place of {}: {}", can_.top_logprobs,
                             kWantedTop, reason));
    } else {
      Workaround("top_k and min_p are left out of requests: " + reason);
    }
  }
  if (IsAbsent(answer)) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("the server at {} has neither /completions nor /chat/completions ({})",
                             base_, answer.error_words)};
  }
  if (!can_.completions) {
    Workaround("it has no /completions; everything goes through chats");
  }
  if (!answer.ok()) {
    return Refusal(base_, answer);
  }
  FindRawLogprobs(answer);
  FindIds(answer);
  return {};
}

void Prober::FindRawLogprobs(const JsonAnswer& at_one) {
  constexpr float kSame = 0.1F;
  constexpr double kMostMass = 1.01;
  constexpr float kFloor = -60;
  Chunk chunk;
  const std::map<std::string, float> first = FirstList(at_one, chunk);
  can_.top_logprobs = std::min(can_.top_logprobs, static_cast<int>(first.size()));
  if (first.empty()) {
    Workaround("the server gives no log-probabilities; only methods without confidence can run");
    return;
  }
  double mass = 0;
  for (const auto& [name, logprob] : first) {
    mass += std::exp(static_cast<double>(logprob));
    can_.logprobs_sound = can_.logprobs_sound && logprob <= 1e-3F;
  }
  can_.logprobs_sound = can_.logprobs_sound && mass <= kMostMass;
  if (!can_.logprobs_sound) {
    Workaround("its log-probabilities are not valid (positive, or they sum to more than 1)");
  }
  CompletionRequest cold = Short(1);
  cold.sampler.temperature = 0.1;
  const std::map<std::string, float> second = FirstList(Complete(cold), chunk);
  for (const auto& [name, logprob] : first) {
    const auto same = second.find(name);
    const bool known = same != second.end() && logprob > kFloor;
    can_.raw_logprobs = can_.raw_logprobs && (!known || std::abs(same->second - logprob) < kSame);
  }
  if (!can_.raw_logprobs) {
    Workaround("its log-probabilities change with the temperature, which is therefore held at 1");
  }
}

void Prober::FindTokenizer() {
  const WireJson body = {{"content", kSample}, {"with_pieces", true}, {"add_special", true},
                         {"prompt", kSample},  {"model", can_.model}, {"add_special_tokens", true}};
  const JsonAnswer answer = Post(root_ + "/tokenize", body);
  const WireJson tokens = answer.body.value("tokens", WireJson::array());
  can_.tokenizes = answer.ok() && tokens.is_array() && !tokens.empty();
  if (!can_.tokenizes) {
    return;
  }
  can_.token_pieces = tokens[0].is_object() && tokens[0].contains("piece");
  std::string joined;
  for (const WireJson& token : tokens) {
    if (can_.token_pieces && token.contains("piece") && token["piece"].is_string()) {
      joined += token["piece"].get<std::string>();
    }
    const WireJson& id = token.is_object() ? token.value("id", WireJson()) : token;
    if (id.is_number_integer()) {
      sample_ids_.push_back(id.get<int32_t>());
    }
  }
  // Ids with a text behind them; not where a tokenizer puts a space before every text.
  can_.mixed_prompts = can_.kind == ServerKind::kLlamaServer && joined.ends_with(kSample) &&
                       !joined.ends_with(std::string(" ") + kSample);
}

// Whether a prompt as ids gives what the same prompt as text gave, and tokens come with ids.
void Prober::FindIds(const JsonAnswer& plain) {
  FindTokenizer();
  Chunk chunk;
  const std::map<std::string, float> by_text = FirstList(plain, chunk);
  can_.output_ids = !chunk.tokens.empty() && chunk.tokens[0].id != kNoWireId;
  if (sample_ids_.empty() || !can_.completions) {
    return;
  }
  CompletionRequest request = Short(1);
  request.text.clear();
  request.ids = sample_ids_;
  const JsonAnswer answer = Complete(request);
  const std::map<std::string, float> by_ids = FirstList(answer, chunk);
  constexpr float kSame = 0.2F;
  can_.prompt_ids = answer.ok();
  for (const auto& [name, logprob] : by_text) {
    const auto same = by_ids.find(name);
    if (same != by_ids.end() && logprob > -5 && std::abs(same->second - logprob) > kSame) {
      can_.prompt_ids = false;
      Workaround("a prompt as token ids gives another distribution than its text; text is sent");
      break;
    }
  }
}

void Prober::FindSampling() {
  constexpr int kEnough = 8;
  CompletionRequest hot = Short(kEnough);
  hot.sampler.temperature = 1.5;
  hot.top_count = 0;
  const std::string one = FirstText(Complete(hot).body);
  const std::string same = FirstText(Complete(hot).body);
  hot.seed = 2;
  const std::string other = FirstText(Complete(hot).body);
  can_.seeds = one == same && one != other;
  if (one == same && one == other) {
    Workaround("other seeds gave the same text: does the server sample at all?");
  }
  const JsonAnswer two = Complete(Short(1), {{"n", 2}});
  can_.several = two.ok() && two.body.value("choices", WireJson::array()).size() == 2;
  CompletionRequest plain = Short(1);  // vLLM echoes no text where lists or ids are asked for
  plain.top_count = 0;
  const JsonAnswer echo = Complete(plain, {{"echo", true}, {"return_token_ids", false}});
  can_.echo = echo.ok() && FirstText(echo.body).starts_with(kSample);
}

// A second equal prompt: the answer tells how much of it was not computed again, or a counter does.
void Prober::FindCache() {
  constexpr int kNumbers = 120;  // more tokens than a block of the cache has
  CompletionRequest longer = Short(1);
  for (int i = 1; i < kNumbers; ++i) {
    longer.text += fmt::format(" {}", i * 7);
  }
  const bool counts = can_.kind == ServerKind::kVllm || can_.kind == ServerKind::kSglang;
  const auto hits = [&] { return counts ? CacheHits(Get(root_ + "/metrics").text) : 0; };
  const double before = hits();
  Complete(longer);
  can_.prefix_cache = CachedTokens(Complete(longer)) > 0 || hits() > before;
}

void Prober::FindRouting() {
  if (can_.kind == ServerKind::kVllm) {
    ReadRouting(Get(root_ + kRoutingPath), can_);
  }
}

void Prober::FindErrorStyle() {
  const JsonAnswer answer =
      Post(base_ + CompletionPath(Short(1)), {{"model", can_.model}, {"max_tokens", "x"}});
  Chunk chunk;
  const bool read = ChunkParser().Parse(answer.text, chunk);
  const bool described = read && !chunk.error.message.empty();
  if (answer.ok() && described) {
    can_.error_style = "an error body under HTTP 200";
  } else if (answer.ok()) {
    can_.error_style = "accepts wrong requests silently";
  } else {
    can_.error_style = fmt::format("HTTP {} with {}", answer.end.status,
                                   described ? "a JSON body" : "no JSON body");
  }
}

Result<Abilities> Prober::Run(const std::string& model) {
  Status status = FindModel(model);
  if (!status) {
    return status.error();
  }
  FindKind();
  status = FindCompletions();
  if (!status) {
    return status.error();
  }
  FindSampling();
  FindCache();
  FindRouting();
  FindChat(loop_, base_, can_);
  FindErrorStyle();
  if (!can_.completions && can_.chat != Abilities::Template::kPrefill) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("the server at {} has chats only and does not continue an assistant's "
                             "message ({}); lanes fork from prefixes, so use a server with "
                             "/completions, and --chat-template FILE if that applies none",
                             base_, can_.no_continuation)};
  }
  return can_;
}

Result<Abilities> Prober::RunFurther(const Abilities& first) {
  Status status = FindModel(first.model);
  if (!status) {
    return status.error();
  }
  FindKind();
  if (can_.kind != first.kind) {
    return Run(first.model);
  }
  FindRouting();
  Abilities further = first;
  further.slots = can_.slots;
  further.routing = can_.routing;
  further.workarounds.clear();
  return further;
}

// A probe's result, or why there is none; a server may repeat the key anywhere.
template <typename Run>
Result<Abilities> Guarded(const base::HttpLoop& loop, const std::string& url, const Run& run) {
  try {
    Result<Abilities> found = run();
    return found ? std::move(found)
                 : Error{found.error().code, loop.WithoutKey(found.error().message)};
  } catch (const WireJson::exception& failure) {  // a member is of another type than it should be
    return Error{ErrorCode::kDataLoss,
                 loop.WithoutKey(fmt::format("the server at {} answers in an unknown form: {}", url,
                                             failure.what()))};
  }
}

}  // namespace

Result<Abilities> Probe(base::HttpLoop& loop, const std::string& url, const std::string& model) {
  return Guarded(loop, url, [&] { return Prober(loop, BaseUrl(url)).Run(model); });
}

Result<Abilities> ProbeFurther(base::HttpLoop& loop, const std::string& url,
                               const Abilities& first) {
  return Guarded(loop, url, [&] { return Prober(loop, BaseUrl(url)).RunFurther(first); });
}

Revival::Revival(base::HttpLoop& loop, const std::string& url) : loop_(loop), base_(BaseUrl(url)) {
  constexpr double kSeconds = 10;
  const auto start = [this](const std::string& address, base::BodySink& sink) {
    const Result<base::TransferId> id = loop_.Start({.url = address, .timeout_s = kSeconds}, &sink);
    if (!id) {
      sink.answer.end.failure = id.error().message;
      sink.done = true;
    }
    return id ? *id : 0;
  };
  transfers_ = {start(base_ + "/models", models_), start(RootUrl(base_) + "/props", props_),
                start(RootUrl(base_) + kRoutingPath, routing_)};
}

Revival::~Revival() {
  for (const base::TransferId transfer : transfers_) {
    loop_.Cancel(transfer);
  }
}

Result<Abilities> Revival::Found(const Abilities& first) const {
  return Guarded(loop_, base_, [&]() -> Result<Abilities> {
    Abilities now;
    const Status status = ReadModels(base_, ReadJson(loop_, models_.answer), first.model, now);
    if (!status) {
      return status.error();
    }
    if (now.kind == ServerKind::kUnknown || now.kind == ServerKind::kLlamaServer) {
      ReadProps(ReadJson(loop_, props_.answer), now);
    }
    if (now.kind != first.kind) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the server at {} is of another kind ({}) than the others ({})",
                               base_, ServerKindName(now.kind), ServerKindName(first.kind))};
    }
    if (now.kind == ServerKind::kVllm) {
      ReadRouting(ReadJson(loop_, routing_.answer), now);
    }
    if (now.routing.most_routes < first.routing.most_routes) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the server at {} does not refine tokens as the others do", base_)};
    }
    Abilities further = first;
    further.slots = now.slots;
    further.workarounds.clear();
    return further;
  });
}

}  // namespace hyper::remote
