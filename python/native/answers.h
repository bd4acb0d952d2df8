// Equality and extraction of answers for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hyper::python {

void BindAnswers(nanobind::module_& module);

}  // namespace hyper::python
