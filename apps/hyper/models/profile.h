// Profiles: options that `hyper calibrate` has chosen for a model. Preset `auto` takes that of the
// model's weights from the folder of the configuration.
#pragma once

#include <string>

#include "hyper/option.h"
#include "hyper/result.h"

namespace hyper::app {

inline constexpr const char* kProfileFormat = "hyper profile 1";

// A profile, as far as a run goes by it; docs/calibrate.md has the whole file.
struct Profile {
  std::string path;        // where it was read; empty: none
  std::string model_hash;  // of the weights that the pool was made with; empty: not known
  OptionValues options;
};

// Where the profile of a model's weights is kept: profiles/HASH.json in the folder of ConfigFile;
// empty where there is no such folder or no hash.
std::string ProfilePath(const std::string& model_hash);

// Reads a profile. Errors: kNotFound (no such file), kDataLoss naming the file and what is wrong:
// another format, an option that is not known or out of range.
Result<Profile> ReadProfile(const std::string& path);

// The profile for a model's file.
//   choice  "auto": the one that is kept for its weights, or none; "none"; or the path of a profile
// Errors: those of ReadProfile; kInvalidArgument where the profile is of other weights.
Result<Profile> FindProfile(const std::string& choice, const std::string& model_path);

}  // namespace hyper::app
