// Plain decoding as a method: a number of paths that go on until they end, nothing pruned.
#pragma once

#include <functional>
#include <vector>

#include "hyper/method.h"

namespace hyper::server {

// The tokens of a prompt behind its first one, by the model.
struct PromptScores {
  std::vector<float> logprobs;
  std::vector<std::vector<TokenLogprob>> tops;  // empty where none were asked for
};

class PlainMethod : public Method {
 public:
  // Told of each new token of a running path; true ends the path (a stop string).
  using TokenObserver = std::function<bool(const Path&)>;
  using PromptObserver = std::function<void(const PromptScores&)>;

  // `routes`: K of every token. Paths that find no lane wait for one: none is left out.
  //   prompt  told once of the prompt's tokens; empty: they are not scored
  PlainMethod(int choices, int routes, TokenObserver observer, PromptObserver prompt = {});

  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  void OnScoreTops(Pool& pool, PathId path, uint64_t request, const ScoreTops& tops) override;
  void OnScored(Pool& pool, PathId path, uint64_t request,
                const std::vector<std::vector<float>>& scores) override;
  Status OnPolled(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;

 private:
  Status OpenMore(Pool& pool);
  Status ScorePrompt(Pool& pool);

  int choices_;
  int routes_;
  TokenObserver observer_;
  PromptObserver prompt_;
  PromptScores scores_;
  int opened_ = 0;
  bool asked_ = false;   // for the scores
  bool scored_ = false;  // they are there
};

}  // namespace hyper::server
