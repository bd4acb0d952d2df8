// What a live run's tokens become in its reply: text, reasoning, calls and log-probabilities.
#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "src/server/scheduler/live_run.h"

namespace hyper::server {
namespace {

constexpr float kLowestLogprob = -9999.0F;  // stands for minus infinity, which JSON lacks

const char* FinishReason(const Path* path, bool stopped, bool calls) {
  if (calls && path != nullptr && path->status == PathStatus::kFinished) {
    return "tool_calls";
  }
  return stopped || (path != nullptr && path->status == PathStatus::kFinished) ? "stop" : "length";
}

// Bytes of content that a stream got since it had `before`.
size_t Grown(size_t before, const TextStream& stream) {
  return std::max(stream.content_bytes(), before) - before;
}

// Moves the entries of content out of `undecided`, the last ones with `bytes` bytes in all; those
// before them are tags and the white space around.
void MoveContent(std::vector<TokenLogprobs>& undecided, size_t bytes,
                 std::vector<TokenLogprobs>& content) {
  auto first = undecided.end();
  for (size_t taken = 0; taken < bytes && first != undecided.begin();) {
    --first;
    taken += first->bytes.size();
  }
  content.insert(content.end(), std::make_move_iterator(first),
                 std::make_move_iterator(undecided.end()));
  undecided.clear();
}

bool IsEmpty(const ReplyEvent& event) {
  return event.content.empty() && event.reasoning.empty() && event.logprobs.empty() &&
         event.calls.empty();
}

// Adds what became certain to an event.
void Put(const TextStream::Delta& delta, ReplyEvent& event) {
  event.reasoning += delta.reasoning;
  event.content += delta.content;
}

// The same of a reply that may call functions; stop strings are looked for in its content.
void Put(const CallStream::Delta& delta, TextStream& content, ReplyEvent& event) {
  event.reasoning += delta.reasoning;
  event.calls.insert(event.calls.end(), delta.calls.begin(), delta.calls.end());
  Put(content.Push(delta.content), event);
}

// The rivals of a token, `most` at most.
void AddRivals(const Engine& engine, std::span<const TokenLogprob> top, int most,
               TokenLogprobs& entry) {
  for (const TokenLogprob& rival : top.first(std::min(top.size(), static_cast<size_t>(most)))) {
    entry.top.emplace_back(engine.TokenText(rival.token), std::max(rival.logprob, kLowestLogprob));
  }
}

}  // namespace

TokenLogprobs LiveRun::LogprobsOf(const Path& path, size_t at) const {
  TokenLogprobs entry{
      engine_->TokenText(path.tokens[at]), std::max(path.logprobs[at], kLowestLogprob), {}};
  // The path keeps the rivals of its newest token only; one token comes at a time.
  if (at + 1 == path.tokens.size()) {
    AddRivals(*engine_, path.top, *request_.top_logprobs, entry);
  }
  return entry;
}

void LiveRun::TellPrompt(const PromptScores& scores) {
  const std::vector<Token>& tokens = session_->pool().prompt().tokens;
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::kPrompt;
  event.choice = request_.first_choice;
  event.choices = request_.choices;
  event.logprobs.push_back(
      {engine_->TokenText(tokens.front()), std::numeric_limits<float>::quiet_NaN(), {}});
  for (size_t i = 0; i < scores.logprobs.size(); ++i) {
    TokenLogprobs& entry = event.logprobs.emplace_back();
    entry.bytes = engine_->TokenText(tokens[i + 1]);
    entry.logprob = std::max(scores.logprobs[i], kLowestLogprob);
    if (i < scores.tops.size()) {
      AddRivals(*engine_, scores.tops[i], *request_.top_logprobs, entry);
    }
  }
  reply_->Push(std::move(event));
}

bool LiveRun::Feed(const Path& path, int number) {
  Choice& choice = choices_[static_cast<size_t>(number)];
  ReplyEvent event;
  event.choice = request_.first_choice + number;
  for (; choice.consumed < path.length() && !choice.stream.stopped(); ++choice.consumed) {
    const auto at = static_cast<size_t>(choice.consumed);
    const Token token = path.tokens[at];
    if (engine_->IsEndOfGeneration(token)) {
      continue;
    }
    const bool in_content = !choice.stream.undecided() && !choice.stream.in_reasoning();
    const size_t before = choice.stream.content_bytes();
    PushToken(choice, engine_->TokenText(token), event);
    const bool thinks =
        choice.calls && choice.calls->sent().content.empty() && choice.calls->sent().calls.empty();
    if (choice.stream.in_reasoning() || thinks) {
      ++choice.reasoning_tokens;
      choice.undecided.clear();
    } else if (request_.top_logprobs) {
      (in_content ? event.logprobs : choice.undecided).push_back(LogprobsOf(path, at));
      if (!in_content && !choice.stream.undecided()) {
        MoveContent(choice.undecided, Grown(before, choice.stream), event.logprobs);
      }
    }
  }
  if (!IsEmpty(event)) {
    reply_->Push(std::move(event));
  }
  return choice.stream.stopped();
}

void LiveRun::PushToken(Choice& choice, const std::string& bytes, ReplyEvent& event) const {
  if (choice.calls) {
    Put(choice.calls->Push(bytes), choice.stream, event);
  } else {
    Put(choice.stream.Push(bytes), event);
  }
}

void LiveRun::FinishChoice(const Path* path, int number) {
  Choice& choice = choices_[static_cast<size_t>(number)];
  if (std::exchange(choice.finished, true)) {
    return;
  }
  if (path != nullptr) {
    Feed(*path, number);
  }
  ReplyEvent event;
  if (choice.calls) {
    Put(choice.calls->Finish(), choice.stream, event);
  }
  const size_t before = choice.stream.content_bytes();
  Put(choice.stream.Finish(), event);
  MoveContent(choice.undecided, Grown(before, choice.stream), event.logprobs);
  event.choice = request_.first_choice + number;
  if (!IsEmpty(event)) {
    reply_->Push(std::move(event));
    event = {};
    event.choice = request_.first_choice + number;
  }
  event.kind = ReplyEvent::Kind::kFinish;
  event.content = choice.stream.content();
  event.reasoning = choice.calls ? choice.calls->sent().reasoning : choice.stream.reasoning();
  event.calls = choice.calls ? choice.calls->calls() : std::vector<CallPart>();
  event.finish_reason = FinishReason(path, choice.stream.stopped(), !event.calls.empty());
  reply_->Push(std::move(event));
}

}  // namespace hyper::server
