// Whole answers to single requests, with patience for servers that are busy.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/http/loop.h"

namespace hyper::base {

// The whole answer to one request.
struct HttpAnswer {
  TransferEnd end;
  std::string body;  // of 64 MiB at most; empty where `take` got it
  Status taken;      // what `take` said

  // An answer of any status came, and came whole.
  bool complete() const { return end.failure.empty() && taken.ok(); }
};

// Takes a piece of the body of an answer of status 2xx; an error ends the transfer.
using TakeBytes = std::function<Status(int status, std::string_view bytes)>;

// Keeps a whole answer.
class BodySink : public TransferSink {
 public:
  explicit BodySink(TakeBytes take = {}) : take_(std::move(take)) {}

  void OnData(int status, std::string_view bytes) override;
  void OnDone(const TransferEnd& end) override;

  HttpAnswer answer;
  bool done = false;

 private:
  TakeBytes take_;
};

// Sends one request and waits for its answer. Other transfers of the loop go on meanwhile.
HttpAnswer Fetch(HttpLoop& loop, const HttpRequest& request, const TakeBytes& take = {});

// Seconds to wait before try number `attempt` + 1 (attempts from 1): doubling from `first_s` up to
// half a minute, with a jitter of a quarter; `asked` seconds of the server's own, if any, at least,
// but five minutes at most. `random` in [0, 1); 0.5 is no jitter. Pure.
double BackoffSeconds(int attempt, double asked, double random, double first_s = 0.5);

// Whether the same request may be taken later: overload and faults of the server, not of ours.
// Pure.
bool MayPass(int status);

// How often a request is tried, and how the time between is spent.
struct Retries {
  int most_tries = 5;
  double first_wait_s = 0.5;
  std::function<void(double seconds)> wait;  // empty: on the loop's clock
};

// As Fetch, tried again where the server is busy or cannot be reached. A transfer that breaks off
// is not repeated where `take` may have got a part of it.
HttpAnswer FetchPatiently(HttpLoop& loop, const HttpRequest& request, const Retries& retries,
                          const TakeBytes& take = {});

}  // namespace hyper::base
