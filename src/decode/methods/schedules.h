// The ablations of Table "Expansion strategies": HyPER with a fixed rule in the controller's place.
#pragma once

#include "src/decode/methods/hyper.h"

namespace hyper {

// One action at every decision.
class FixedAction : public HyperMethod {
 public:
  FixedAction(const MethodOptions& options, Action action)
      : HyperMethod(options), action_(action) {}

 protected:
  Action Choose(const Pool& pool, const DecisionRecord& decision) const override;

 private:
  Action action_;
};

// MultiToken before half the median warm-up length, SingleToken from there on.
class ManualSchedule : public HyperMethod {
 public:
  explicit ManualSchedule(const MethodOptions& options) : HyperMethod(options) {}

 protected:
  Action Choose(const Pool& pool, const DecisionRecord& decision) const override;
};

}  // namespace hyper
