// Graders, suites and tables that are written in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hyper::python {

// Functions that the module offers for them.
void BindEvaluation(nanobind::module_& module);

}  // namespace hyper::python
