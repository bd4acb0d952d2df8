// Where the model that comes with the program is.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::app {

// Path of the bundled model: beside an installed program (../share/hyper/models), else in the
// source tree the program was built from. Errors: kNotFound with the places that were tried.
Result<std::string> BundledModel();

}  // namespace hyper::app
