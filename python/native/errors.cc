#include "python/native/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

namespace hyper::python {

void Raise(const Error& error) {
  const nb::gil_scoped_acquire acquired;
  const nb::object made = nb::module_::import_("hyper_decode._errors")
                              .attr("of_code")(ErrorCodeName(error.code), error.message);
  PyErr_SetObject(made.type().ptr(), made.ptr());
  throw nb::python_error();
}

}  // namespace hyper::python
