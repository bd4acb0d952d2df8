// What a session on an engine is set up with: its options, and whether they fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/engine_flags.h"
#include "apps/hyper/option_flags.h"
#include "hyper/engine.h"
#include "hyper/options.h"
#include "hyper/result.h"

namespace hyper::app {

// The preset's options, then what the method changes of them, then the flags.
// Errors: kNotFound (preset, method), kInvalidArgument (a flag's value).
Result<MethodOptions> ResolveOptions(const OptionFlags& flags, const std::string& preset,
                                     const std::string& method);

// The sampling that the model's file recommends, by option name. Nothing for other engines, and for
// files that the engine will refuse with its own words. Reads the file's header.
std::vector<std::pair<std::string, std::string>> ModelSampling(const EngineFlags& engine);

// Takes that sampling for options that were not given.
void TakeModelDefaults(const EngineFlags& engine, OptionFlags& options);

// Whether an engine of so many lanes holds the paths that the options ask for. Errors:
// kInvalidArgument.
Status CheckWidth(const MethodOptions& options, int lanes);

// The same of `paths` paths, for a pool without a warm-up.
Status CheckPaths(const MethodOptions& options, int paths, int lanes);

// That, and whether the engine can do what the method is made of. Errors: kUnsupported as well.
Status CheckAbilities(const std::string& method, const MethodOptions& options,
                      const Engine& engine);

}  // namespace hyper::app
