// RoE (Zibakhsh et al. 2025): every token of a path is refined by K routes; and the late-stage
// variant that the paper compares with.
#pragma once

#include <string>

#include "hyper/method.h"

namespace hyper {

// `width` paths. Always on; or `late`: a plain warm-up first, then the other paths are refined from
// refine_from of the median warm-up length to their end. All of them vote.
class RosterOfExperts : public Method {
 public:
  RosterOfExperts(const MethodOptions& options, bool late) : options_(options), late_(late) {}
  Status Start(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 private:
  Status StartRefined(Pool& pool);
  Status Refine(Pool& pool);

  MethodOptions options_;
  bool late_;
  bool in_warmup_ = false;
  int refine_position_ = 0;  // generated tokens from which paths are refined
};

}  // namespace hyper
