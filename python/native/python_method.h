// Methods and rewards that are written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "hyper/method.h"
#include "hyper/result.h"
#include "hyper/step_reward.h"

namespace hyper::python {

// Functions that the module offers for them.
void BindMethods(nanobind::module_& module);

// A scorer of steps that calls `reward(steps)`, a Python object that gives a number for each step,
// a dict of `text`, `before` and `path`. Needs the GIL.
std::unique_ptr<StepReward> MakePythonReward(nanobind::object reward);

// What went wrong in the calls of a method that is written in Python; OK for all others.
Status StatusOf(const Method& method);

}  // namespace hyper::python
