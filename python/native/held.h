// Python objects and exceptions among the program's threads.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "hyper/result.h"

namespace hyper::python {

// A Python object that may be dropped on any thread.
class Held {
 public:
  explicit Held(nanobind::object object) : object_(std::move(object)) {}
  ~Held() {
    if (Py_IsInitialized() == 0) {
      object_.release();  // the process ends, and Python's memory with it
      return;
    }
    const nanobind::gil_scoped_acquire acquired;
    object_.reset();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  const nanobind::object& get() const { return object_; }

 private:
  nanobind::object object_;
};

// The exception in progress as an error; Python keeps it for the one who asks for the result.
inline Error Failure(const std::string& who, const char* call, nanobind::python_error& failure) {
  const nanobind::object text = nanobind::module_::import_("hyper_decode._methods")
                                    .attr("failure")(who, call, failure.value());
  return {ErrorCode::kInternal, nanobind::cast<std::string>(text)};
}

}  // namespace hyper::python
