#include "src/server/scheduler/run_meters.h"

#include <optional>
#include <vector>

namespace hyper::server {
namespace {

// Nothing where no answer was counted.
std::optional<double> MarginOf(const SessionResult& result) {
  const auto vote = result.votes.find(result.vote_rule);
  if (vote == result.votes.end() || vote->second.scores.empty()) {
    return std::nullopt;
  }
  const std::vector<AnswerTally>& scores = vote->second.scores;
  return scores[0].share - (scores.size() > 1 ? scores[1].share : 0.0);
}

}  // namespace

void RunMeters::Stepped(RunTimes& times, const Session& session, double now_s) {
  if (!session.started()) {
    return;
  }
  if (!times.started_) {
    times.started_ = true;
    queue.Observe(now_s - times.submitted_s_);
  }
  const int64_t tokens = session.pool().ledger().generated;
  if (tokens == times.tokens_) {
    return;
  }
  if (times.tokens_ == 0) {
    first_token.Observe(now_s - times.submitted_s_);
  } else {
    between_tokens.Observe(now_s - times.last_token_s_);
  }
  times.tokens_ = tokens;
  times.last_token_s_ = now_s;
}

void RunMeters::Ended(const RunTimes& times, const std::string& method, const std::string& status,
                      const SessionResult* result, double now_s) {
  ++runs[{method, status}];
  end_to_end.Observe(now_s - times.submitted_s_);
  if (result == nullptr) {
    return;
  }
  saved_tokens += result->ledger.saved;
  if (const std::optional<double> margin = MarginOf(*result)) {
    vote_margin.Observe(*margin);
  }
}

void RunMeters::Add(const RunMeters& other) {
  queue.Add(other.queue);
  first_token.Add(other.first_token);
  between_tokens.Add(other.between_tokens);
  end_to_end.Add(other.end_to_end);
  vote_margin.Add(other.vote_margin);
  for (size_t i = 0; i < actions.size(); ++i) {
    actions[i] += other.actions[i];
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    paths[i] += other.paths[i];
  }
  for (const auto& [kind, count] : other.runs) {
    runs[kind] += count;
  }
  saved_tokens += other.saved_tokens;
}

}  // namespace hyper::server
