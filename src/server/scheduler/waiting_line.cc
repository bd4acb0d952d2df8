#include "src/server/scheduler/waiting_line.h"

#include <algorithm>
#include <cmath>

namespace hyper::server {
namespace {

constexpr size_t kEachRun = size_t{16} << 10U;  // session, log and reply
constexpr size_t kBytesOfToken = sizeof(Token);
constexpr size_t kMostTimes = 64;
constexpr double kLongest_s = 60;  // clients take a longer one for a mistake

}  // namespace

size_t WaitingBytes(const ServedRun& request) {
  size_t text = request.prompt_text.size();
  for (const ChatMessage& message : request.messages) {
    text += message.content.size();
  }
  if (request.start) {
    text += request.start->reasoning.size() + request.start->content.size();
  }
  // The text is there as the request, the rendered prompt and in the log, and has at most a token
  // for each byte.
  return kEachRun + text * (3 + kBytesOfToken) + request.prompt_tokens.size() * 2 * kBytesOfToken;
}

void DrainRate::Note(int runs, double now_s) {
  for (int i = 0; i < runs; ++i) {
    times_.push_back(now_s);
  }
  while (times_.size() > kMostTimes) {
    times_.pop_front();
  }
}

double DrainRate::PerSecond(double now_s) const {
  constexpr double kShortest_s = 1;  // a burst at once is no rate
  return times_.empty()
             ? 0.0
             : static_cast<double>(times_.size()) / std::max(now_s - times_.front(), kShortest_s);
}

int RetryAfterSeconds(int waiting, double drained_per_s) {
  const double seconds = drained_per_s > 0 ? waiting / drained_per_s : kLongest_s;
  return static_cast<int>(std::ceil(std::clamp(seconds, 1.0, kLongest_s)));
}

}  // namespace hyper::server
