// Where the model that comes with the program is.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::app {

// Path of the bundled model: beside an installed program (../share/hyper/models), else in the
// source tree the program was built from. Errors: kNotFound with the places that were tried.
Result<std::string> BundledModel();

// Preset of a model: the one its metadata names, else "short" for the bundled model (known by its
// file name), else "paper".
std::string PresetFor(const std::string& metadata_preset, const std::string& model_path);

}  // namespace hyper::app
