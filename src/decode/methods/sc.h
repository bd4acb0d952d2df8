// Self-Consistency: independent paths and a majority vote.
#pragma once

#include <string>

#include "hyper/method.h"

namespace hyper {

class SelfConsistency : public Method {
 public:
  explicit SelfConsistency(const MethodOptions& options) : options_(options) {}
  Status Start(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  std::string VoteRule(const Pool& pool) const override;

 private:
  MethodOptions options_;
};

}  // namespace hyper
