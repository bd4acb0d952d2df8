// Methods and rewards that are written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "hyper/method.h"
#include "hyper/result.h"
#include "hyper/step_reward.h"
#include "python/native/engine_host.h"

namespace hyper::python {

// Functions that the module offers for them.
void BindMethods(nanobind::module_& module);

// A scorer of steps that calls `reward(steps)`, a Python object that gives a number for each step,
// a dict of `text`, `before` and `path`. Needs the GIL.
std::unique_ptr<StepReward> MakePythonReward(nanobind::object reward);

// Makes methods that call what `factory()` returns, an object with the methods of
// hyper_decode.Method. They are in no table; `name` is what messages call them. Needs the GIL.
MethodMaker PythonMethodMaker(std::string name, nanobind::object factory);

// What went wrong in the calls of a method that is written in Python; OK for all others.
Status StatusOf(const Method& method);

}  // namespace hyper::python
