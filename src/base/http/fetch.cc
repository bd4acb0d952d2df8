#include "src/base/http/fetch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hyper::base {

void BodySink::OnData(int status, std::string_view bytes) {
  constexpr size_t kMost = size_t{64} << 20U;
  if (take_ && status / 100 == 2) {
    if (answer.taken) {
      answer.taken = take_(status, bytes);
    }
    return;
  }
  answer.body += bytes.substr(0, kMost - std::min(kMost, answer.body.size()));
}

void BodySink::OnDone(const TransferEnd& end) {
  answer.end = end;
  done = true;
}

HttpAnswer Fetch(HttpLoop& loop, const HttpRequest& request, const TakeBytes& take) {
  BodySink sink(take);
  const Result<TransferId> id = loop.Start(request, &sink);
  if (!id) {
    sink.answer.end.failure = id.error().message;
    return std::move(sink.answer);
  }
  while (!sink.done) {
    const Status status = loop.Wait(1.0);
    if (!status || !sink.answer.taken) {
      loop.Cancel(*id);
      sink.answer.end.failure = status ? "" : status.error().message;
      break;
    }
  }
  return std::move(sink.answer);
}

double BackoffSeconds(int attempt, double asked, double random, double first_s) {
  constexpr double kJitter = 0.25;
  constexpr double kLongest = 30;
  constexpr double kMostAsked = 300;
  const double doubled = std::ldexp(first_s, std::clamp(attempt - 1, 0, 10));
  const double own = std::min(doubled, kLongest) * (1 + kJitter * (2 * random - 1));
  return std::max(own, std::min(asked, kMostAsked));
}

bool MayPass(int status) { return status == 408 || status == 429 || status >= 500; }

HttpAnswer FetchPatiently(HttpLoop& loop, const HttpRequest& request, const Retries& retries,
                          const TakeBytes& take) {
  for (int attempt = 1;; ++attempt) {
    HttpAnswer answer = Fetch(loop, request, take);
    const bool busy = answer.complete() && MayPass(answer.end.status);
    const bool broken = !answer.end.failure.empty() && !take;
    if ((!busy && !broken) || attempt >= retries.most_tries) {
      return answer;
    }
    const double seconds =
        BackoffSeconds(attempt, answer.end.retry_after_s, 0.5, retries.first_wait_s);
    if (retries.wait) {
      retries.wait(seconds);
    } else {
      loop.clock().Wait(-1, seconds);
    }
  }
}

}  // namespace hyper::base
