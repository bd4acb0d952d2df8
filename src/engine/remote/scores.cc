// Log-probabilities of given continuations: a server that echoes a prompt tells those of its
// tokens.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "src/engine/remote/probe/answers.h"
#include "src/engine/remote/remote_engine.h"
#include "src/engine/remote/wire/json_call.h"

namespace hyper::remote {

// The lane's history and a continuation of it, as the server numbers them.
Result<std::vector<int32_t>> RemoteEngine::ScoredIds(const RemoteLane& lane,
                                                     std::span<const Token> continuation) const {
  std::vector<int32_t> ids = lane.wire;
  for (const Token token : continuation) {
    ids.push_back(table_.WireId(token));
  }
  for (const int32_t id : ids) {
    if (lane.chat != nullptr || id == kNoWireId) {
      return Error{ErrorCode::kUnsupported,
                   "scoring a continuation takes the server's number of every token before it, and "
                   "it does not tell some of them"};
    }
  }
  return ids;
}

Status RemoteEngine::StartScore(RemoteScore& score, const std::string& url,
                                std::vector<int32_t> ids) {
  CompletionRequest request;
  request.ids = std::move(ids);
  request.sampler.temperature = 1;
  request.top_count = 1;
  request.stream = false;
  WireJson body = WireJson::parse(CompletionBody(request, can()));
  body["echo"] = true;
  body["return_token_ids"] = false;  // vLLM leaves the prompt out beside them
  RemoteScore::Call& call = *score.calls.emplace_back(std::make_unique<RemoteScore::Call>());
  call.prompt_tokens = request.ids.size();
  call.request = {.url = url + CompletionPath(request),
                  .post = true,
                  .body = body.dump(),
                  .timeout_s = options_.timeout_s};
  cost_.prefill_tokens += static_cast<int64_t>(call.prompt_tokens);
  return Send(call);
}

Status RemoteEngine::Send(RemoteScore::Call& call) {
  ++call.tries;
  call.waits = false;
  call.sink = base::BodySink();
  const Result<base::TransferId> transfer = loop_->Start(call.request, &call.sink);
  if (!transfer) {
    call.sink.answer.end.failure = transfer.error().message;
    call.sink.done = true;
    return transfer.error();
  }
  call.transfer = *transfer;
  ++cost_.forwards;  // requests
  return {};
}

// Whether the call's answer is its last one. A call that a busy server refused, or that broke off,
// is sent again when its time has come.
bool RemoteEngine::Settled(RemoteScore::Call& call) {
  if (call.waits && Now() >= call.not_before) {
    (void)Send(call).ok();  // a failure is looked at next time
  }
  if (call.waits || !call.sink.done) {
    return false;
  }
  const base::TransferEnd& end = call.sink.answer.end;
  if ((end.failure.empty() && !base::MayPass(end.status)) || call.tries > options_.retries) {
    return true;
  }
  call.waits = true;
  call.not_before = Now() + base::BackoffSeconds(call.tries, end.retry_after_s, 0.5);
  return false;
}

Result<uint64_t> RemoteEngine::Score(LaneId id, std::span<const std::vector<Token>> continuations) {
  const RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return InvalidArgument(fmt::format("lane {} is not open", id));
  }
  if (!capabilities_.score) {
    const char* lacking = !can().echo         ? "the log-probabilities of a prompt (echo)"
                          : !can().prompt_ids ? "prompts as token ids"
                                              : "log-probabilities";
    return Error{ErrorCode::kUnsupported,
                 fmt::format("scoring given continuations takes {}, which the server at {} does "
                             "not give; use a method without P(True) probes, such as --reward "
                             "judge",
                             lacking, replicas_[probed_].url)};
  }
  const int replica = ChooseReplica(replicas_, lane->preferred, Now());
  const size_t chosen = replica == kNoReplica ? probed_ : static_cast<size_t>(replica);
  std::vector<std::vector<int32_t>> prompts;
  for (const std::vector<Token>& continuation : continuations) {
    Result<std::vector<int32_t>> ids = ScoredIds(*lane, continuation);
    if (!ids) {
      return ids.error();
    }
    prompts.push_back(std::move(*ids));
  }
  const uint64_t number = next_score_++;
  RemoteScore& score = scores_[number];
  score.lane = id;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Status status = StartScore(score, replicas_[chosen].url, std::move(prompts[i]));
    if (!status) {
      Cancel(score);
      scores_.erase(number);
      return status.error();
    }
    score.calls.back()->scored_tokens = continuations[i].size();
  }
  return number;
}

// Events of the requests whose calls are all done. A call that failed scores NaN: no value, which
// is for the method to judge; the lane goes on.
void RemoteEngine::CollectScores() {
  std::erase_if(scores_, [this](const auto& entry) {
    const RemoteScore& score = entry.second;
    bool settled = true;
    for (const auto& call : score.calls) {
      settled = Settled(*call) && settled;
    }
    if (!settled) {
      return false;
    }
    Event event;
    event.kind = EventKind::kScored;
    event.lane = score.lane;
    event.request = entry.first;
    for (const auto& call : score.calls) {
      const base::HttpAnswer& answer = call->sink.answer;
      const WireJson body = WireJson::parse(answer.body, nullptr, /*allow_exceptions=*/false);
      std::vector<float> values = EchoedLogprobs(body, call->prompt_tokens, call->scored_tokens);
      if (values.empty() && call->scored_tokens > 0) {
        constexpr size_t kMostWords = 200;
        const std::string words = answer.end.failure.empty()
                                      ? loop_->WithoutKey(answer.body).substr(0, kMostWords)
                                      : answer.end.failure;
        event.error = {
            ErrorCode::kUnavailable,
            fmt::format("a continuation got no score: HTTP {} {}", answer.end.status, words)};
        Notice("score", event.error.message);
        values.assign(call->scored_tokens, std::numeric_limits<float>::quiet_NaN());
      }
      event.scores.push_back(std::move(values));
    }
    events_.push_back(std::move(event));
    return true;
  });
}

void RemoteEngine::Cancel(const RemoteScore& score) {
  for (const auto& call : score.calls) {
    loop_->Cancel(call->transfer);
  }
}

void RemoteEngine::DropScores(LaneId lane) {
  std::erase_if(scores_, [this, lane](const auto& entry) {
    if (entry.second.lane != lane) {
      return false;
    }
    Cancel(entry.second);
    return true;
  });
}

}  // namespace hyper::remote
