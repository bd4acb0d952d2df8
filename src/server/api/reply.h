// What a run tells the client that waits for it: a bounded queue from the scheduler's thread to one
// HTTP thread, which is the only reader.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hyper/records.h"
#include "src/report/json.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

// A generated token with its log-probability and rivals, as bytes.
struct TokenLogprobs {
  std::string bytes;
  float logprob = 0;                               // NaN: none, as of the first token of a prompt
  std::vector<std::pair<std::string, float>> top;  // most probable first
};

// More of a call of a function; id and name come with its first part.
struct CallPart {
  int index = 0;  // among the calls of its choice
  std::string id;
  std::string name;
  std::string arguments;
};

// Costs of a run as `usage` shows them.
struct Usage {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;      // of these, known from earlier prompts
  int64_t completion_tokens = 0;  // of all paths, pruned and transient ones too
  int64_t reasoning_tokens = 0;   // of these, all that is not the answer's own text
  Ledger ledger;
};

struct ReplyEvent {
  enum class Kind {
    kAccepted,  // the prompt is rendered and fits: choices [choice, choice + choices) will come;
                // `content` is a raw prompt
    kText,      // more of a choice
    kPrompt,    // the log-probabilities of the prompt of choices [choice, choice + choices)
    kRecord,    // a hyper.* event: `json`
    kFinish,    // a choice has ended: its whole text and finish_reason
    kDone,      // the run has ended: usage, and `json`, what is particular to HyPER
    kError,     // the run ended without a result
  };
  Kind kind = Kind::kText;
  int choice = 0;
  int choices = 1;
  std::string content;
  std::string reasoning;
  std::vector<TokenLogprobs> logprobs;
  std::vector<CallPart> calls;  // kFinish: each is whole
  std::string finish_reason;
  Usage usage;
  Json json;
  ApiError error;
};

// Thread rule: one thread pushes, one takes; either may give up.
class ReplyQueue {
 public:
  explicit ReplyQueue(size_t most_events) : most_events_(most_events) {}

  // Text is added to text of the same choice that still waits, so a slow reader costs little.
  // False, and the queue is given up, where the reader is too slow all the same.
  bool Push(ReplyEvent event) {
    if (!Add(std::move(event))) {
      return false;
    }
    arrived_.notify_one();  // without the lock, or the reader wakes only to wait for it
    return true;
  }
  // The next event, or nothing when none came in time.
  std::optional<ReplyEvent> Take(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, timeout, [this] { return !events_.empty() || abandoned_; });
    if (events_.empty()) {
      return std::nullopt;
    }
    ReplyEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  // Nobody will read any more.
  void Abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    arrived_.notify_one();
  }
  bool abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }

 private:
  bool Add(ReplyEvent event) {
    const std::lock_guard lock(mutex_);
    if (abandoned_ || events_.size() >= most_events_) {
      abandoned_ = true;
      return false;
    }
    ReplyEvent* last = events_.empty() ? nullptr : &events_.back();
    if (last != nullptr && event.kind == ReplyEvent::Kind::kText && last->kind == event.kind &&
        last->choice == event.choice) {
      last->content += event.content;
      last->reasoning += event.reasoning;
      last->calls.insert(last->calls.end(), event.calls.begin(), event.calls.end());
      last->logprobs.insert(last->logprobs.end(), std::make_move_iterator(event.logprobs.begin()),
                            std::make_move_iterator(event.logprobs.end()));
    } else {
      events_.push_back(std::move(event));
    }
    return true;
  }

  const size_t most_events_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<ReplyEvent> events_;  // by mutex_
  bool abandoned_ = false;         // by mutex_
};

}  // namespace hyper::server
