// Self-Consistency and what is computed from its pool of independent, complete paths:
// Self-Certainty, best of N and offline DeepConf differ in the vote only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hyper/method.h"
#include "src/core/confidence.h"
#include "src/decode/methods/prober.h"

namespace hyper {

// `width` independent paths, started as options().launch says; the answer of the rule
// options().vote.
class SelfConsistency : public Method {
 public:
  explicit SelfConsistency(const MethodOptions& options) : options_(options), prober_(options) {}
  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  void OnShortage(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 protected:
  const MethodOptions& options() const { return options_; }
  int opened() const { return opened_; }
  // Opens `count` further paths, beside those that run. Errors: as OpenPaths.
  Status Open(Pool& pool, int count);
  // How many paths start next, once all others have ended; 0: none.
  virtual int Next(Pool& pool);
  // Tokens of the next round, which ends where a path is to be probed.
  int Round(const Pool& pool) const;
  // The next round of the running paths.
  virtual Status Proceed(Pool& pool);
  // All running paths have been probed: the method may end some of them. Default: nothing.
  virtual void OnProbed(Pool& pool);

 private:
  Status OpenNext(Pool& pool, int count);

  MethodOptions options_;
  Prober prober_;
  int opened_ = 0;  // or refused by the engine
};

// Early-Stopping Self-Consistency (Li et al. 2024): windows of paths, one after another, until the
// answers of one window are all equal; that is the answer. Else the vote of all whole windows. A
// path without an answer makes no window of equals.
class EqualWindows : public SelfConsistency {
 public:
  explicit EqualWindows(const MethodOptions& options) : SelfConsistency(options) {}
  bool Done(const Pool& pool) const override;
  bool Votes(const Pool& pool, const Path& path) const override;

 protected:
  int Next(Pool& pool) override;

 private:
  bool Agrees(const Pool& pool, int first) const;
  // Paths of whole windows; all where there is not even one.
  int Most() const;

  int agreed_ = -1;  // first path of the window that agrees
};

// Self-consistency whose paths end at options().length_cap.
class CappedPaths : public SelfConsistency {
 public:
  explicit CappedPaths(const MethodOptions& options) : SelfConsistency(options) {}

 protected:
  Status Proceed(Pool& pool) override;
};

// Paths are scored by options().scorer; the rule weighted, best or borda picks. With the scorer
// `p-true` each path that answered is asked "is this correct?" by one probe of the policy itself;
// a path whose probe does not fit the engine has no weight, and where none has one the majority
// decides.
class ScoredPaths : public SelfConsistency {
 public:
  explicit ScoredPaths(const MethodOptions& options) : SelfConsistency(options) {}
  Status OnSettled(Pool& pool) override;
  void OnScored(Pool& pool, PathId path, uint64_t request,
                const std::vector<std::vector<float>>& scores) override;
  bool Done(const Pool& pool) const override;
  double Weight(const Pool& pool, const Path& path) const override;
  std::string VoteRule(const Pool& pool) const override;
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 private:
  Status Probe(Pool& pool);
  // Whether the method's weights are there: those of P(True) come by the probes.
  bool HasWeights() const;

  std::map<PathId, double> p_true_;  // by asked path
  std::map<PathId, PathId> asked_;   // probe path -> asked path
  size_t probed_ = 0;                // paths before this number have been asked
};

// Offline DeepConf: the best keep_percent of the answered paths by options().scorer vote, weighted
// by that score.
class OfflineDeepConf : public ScoredPaths {
 public:
  explicit OfflineDeepConf(const MethodOptions& options) : ScoredPaths(options) {}
  bool Votes(const Pool& pool, const Path& path) const override;
  // Who votes is known at the end.
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 protected:
  // Which of the answered paths that have a score vote.
  //   scores  of each of `paths`
  virtual std::vector<bool> Chosen(const std::vector<const Path*>& paths,
                                   const std::vector<double>& scores) const;

 private:
  // Chosen anew only where more paths have ended.
  mutable size_t ended_ = 0;         // paths that had ended when it was last done
  mutable std::vector<bool> votes_;  // by path
};

// Perplexity consistency with reasoning pruning (RPC, Zhou et al. 2025): paths weighted by their
// mean token probability, the unsure ones left out (KeptByMixture). Equal texts count once.
class PerplexityConsistency : public OfflineDeepConf {
 public:
  explicit PerplexityConsistency(const MethodOptions& options) : OfflineDeepConf(options) {}
  std::optional<Outlook> Ahead(const Pool& /*pool*/) const override { return std::nullopt; }

 protected:
  std::vector<bool> Chosen(const std::vector<const Path*>& paths,
                           const std::vector<double>& scores) const override;
};

// Score of a whole path from its stored series; larger is better.
//   self-certainty  mean over tokens of -mean log P - log V: Kang et al. 2025, full vocabulary
//   mean, tail, bottom, lowest  DeepConf's trace scores over the run's confidences
//   kind    how these are averaged
// NaN where the series lacks what it takes. Pure.
double PathScore(const Path& path, PathScorer scorer, int vocabulary, int window, MeanKind kind);

}  // namespace hyper
