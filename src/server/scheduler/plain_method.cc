#include "src/server/scheduler/plain_method.h"

#include <span>
#include <utility>

namespace hyper::server {

PlainMethod::PlainMethod(int choices, int routes, TokenObserver observer, PromptObserver prompt)
    : choices_(choices),
      routes_(routes),
      observer_(std::move(observer)),
      prompt_(std::move(prompt)),
      scored_(prompt_ == nullptr) {}

Status PlainMethod::Start(Pool& pool) { return OpenMore(pool); }

Status PlainMethod::OpenMore(Pool& pool) {
  while (opened_ < choices_ && static_cast<int>(pool.running().size()) < pool.reservation().lanes) {
    Result<PathId> path = pool.Open(static_cast<uint64_t>(opened_), /*warmup=*/false);
    if (!path) {
      // With another path running a lane comes free sooner or later.
      return pool.running().empty() ? path.error() : Status();
    }
    ++opened_;
    Status status = pool.SetRoutes(*path, routes_);
    if (status) {
      status = pool.Grant(*path, pool.options().max_tokens);
    }
    if (!status) {
      return status;
    }
  }
  return opened_ == choices_ && !scored_ && !asked_ ? ScorePrompt(pool) : Status();
}

// On a path of its own, behind the others, so that these keep the numbers of the choices.
Status PlainMethod::ScorePrompt(Pool& pool) {
  const std::vector<Token>& tokens = pool.prompt().tokens;
  if (static_cast<int>(pool.running().size()) >= pool.reservation().lanes) {
    return {};  // a choice will leave its lane
  }
  asked_ = true;
  if (tokens.size() < 2) {
    scored_ = true;
    prompt_(scores_);
    return {};
  }
  const Result<PathId> path = pool.OpenJudge(std::span(tokens).first(1), 0);
  if (!path) {
    asked_ = false;
    return pool.running().empty() ? path.error() : Status();
  }
  const std::vector<std::vector<Token>> rest = {{tokens.begin() + 1, tokens.end()}};
  const Result<uint64_t> request = pool.Score(*path, rest);
  return request ? Status() : Status(request.error());
}

void PlainMethod::OnScoreTops(Pool& /*pool*/, PathId /*path*/, uint64_t /*request*/,
                              const ScoreTops& tops) {
  scores_.tops = tops.front();
}

void PlainMethod::OnScored(Pool& pool, PathId path, uint64_t /*request*/,
                           const std::vector<std::vector<float>>& scores) {
  scores_.logprobs = scores.front();
  scored_ = true;
  pool.Finish(path, PathStatus::kFinished, "the prompt is scored");
  prompt_(scores_);
}

void PlainMethod::OnToken(Pool& pool, PathId path) {
  const bool reasoning = pool.path(path).kind == PathKind::kReasoning;
  if (reasoning && pool.path(path).running() && observer_(pool.path(path))) {
    pool.Finish(path, PathStatus::kFinished, "stop string");
  }
}

Status PlainMethod::OnPolled(Pool& pool) { return OpenMore(pool); }

Status PlainMethod::OnSettled(Pool& pool) { return OpenMore(pool); }

bool PlainMethod::Done(const Pool& pool) const {
  return opened_ == choices_ && scored_ && pool.running().empty();
}

}  // namespace hyper::server
