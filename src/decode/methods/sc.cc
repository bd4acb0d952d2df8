#include "src/decode/methods/sc.h"

namespace hyper {

Status SelfConsistency::Start(Pool& pool) {
  Status status = OpenPaths(pool, 0, options_.width, /*warmup=*/false);
  return status ? pool.GrantAll(options_.interval) : status;
}

Status SelfConsistency::OnSettled(Pool& pool) { return pool.GrantAll(options_.interval); }

bool SelfConsistency::Done(const Pool& pool) const { return pool.running().empty(); }

std::string SelfConsistency::VoteRule(const Pool& /*pool*/) const { return "majority"; }

}  // namespace hyper
