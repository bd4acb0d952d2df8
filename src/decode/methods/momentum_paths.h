// The controller by confidence momentum (CMC) that AutoTTS found.
#pragma once

#include <vector>

#include "src/core/momentum.h"
#include "src/decode/methods/sc.h"

namespace hyper {

// A few paths are probed in rounds; more are opened while the confidence in the majority of the
// finished ones does not rise (src/core/momentum.h). Paths that agree with that majority take more
// steps in a round; those that keep differing are pruned, all but two. The run ends when the
// confidence has been high. Finished paths vote, or all that were not pruned where none has ended.
// A path that is opened later takes its first step together with the next round's, so that it is
// first asked after two; the published program asks it after the first one, too.
class MomentumPaths : public SelfConsistency {
 public:
  explicit MomentumPaths(const MethodOptions& options)
      : SelfConsistency(options), rules_(MomentumRulesOf(options.cmc_beta)) {}
  bool Done(const Pool& pool) const override;
  bool Votes(const Pool& pool, const Path& path) const override;
  std::optional<Outlook> Ahead(const Pool& /*pool*/) const override { return std::nullopt; }

 protected:
  int Next(Pool& pool) override;
  Status Proceed(Pool& pool) override;
  void OnProbed(Pool& pool) override;

 private:
  // What the pool answers now.
  struct Standing {
    int finished = 0;
    double confidence = 0;  // in the most frequent answer of the finished paths
    bool has_winner = false;
    std::vector<bool> agrees;   // with it, by path
    std::vector<bool> differs;  // its reply is another answer; none does neither
  };
  static Standing StandingOf(const Pool& pool);
  void Drop(Pool& pool, const Standing& standing);

  MomentumRules rules_;
  MomentumState state_;
  bool in_round_ = false;
  std::vector<bool> agrees_;   // by path: it takes more steps in this round
  std::vector<int> apart_;     // by path: replies in a row that differed
  std::vector<size_t> heard_;  // by path: replies that were counted
};

}  // namespace hyper
