// Errors of the library as exceptions of hyper_decode.
#pragma once

#include <utility>

#include "hyper/result.h"

namespace hyper::python {

// Throws the exception of hyper_decode._errors for the error's code. Needs no GIL.
[[noreturn]] void Raise(const Error& error);

// The value of a result, or its error thrown.
template <class T>
T Value(Result<T> result) {
  if (!result) {
    Raise(result.error());
  }
  return std::move(*result);
}

}  // namespace hyper::python
