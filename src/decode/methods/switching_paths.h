// MARS: probed paths that end when no likely change of their answers turns the vote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/core/switching.h"
#include "src/decode/methods/sc.h"

namespace hyper {

// Chen et al., "MARS" (2026). The first options().mars_warmup paths are probed and run to their
// ends. From them the run learns how probably a reply changes, and how hostile such changes are
// (FitSwitches, CalibrateGamma); they vote too. The other paths start then, and end together at the
// first probe whose leader is safe (IsSafeLead). The last reply of a running path is its answer.
// Unlike the published program's, a path that has ended never switches, and its later probes teach
// nothing. A path without a confidence has 0.
class SwitchingPaths : public SelfConsistency {
 public:
  explicit SwitchingPaths(const MethodOptions& options) : SelfConsistency(options) {}
  // The vote is decided by the method's own rule.
  std::optional<Outlook> Ahead(const Pool& /*pool*/) const override { return std::nullopt; }

 protected:
  int Next(Pool& pool) override;
  void OnProbed(Pool& pool) override;

 private:
  struct Asked {
    SwitchFeatures state{};
    std::string answer;
  };
  void Note(const Path& path);
  void Learn(const Pool& pool);
  std::vector<SwitchVote> VotesNow(const Pool& pool) const;

  std::vector<std::vector<Asked>> asked_;  // by path: its probes
  std::optional<SwitchModel> model_;       // once the first paths have ended
  double gamma_ = 1;
};

}  // namespace hyper
