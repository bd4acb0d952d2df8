// Options in words turned into the enums of core and engine.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "hyper/engine.h"
#include "hyper/options.h"
#include "hyper/records.h"
#include "src/core/confidence.h"

namespace hyper {

// All three expect valid options (see Validate). Pure.
ConfidenceSet ConfidenceSetOf(const MethodOptions& options);
RouteSpec RouteSpecOf(const MethodOptions& options, int routes);
std::array<bool, kActionCount> ActionsOf(const MethodOptions& options);

// The text that an option spells with the escapes \n, \t and \\ in it; nothing where it is empty or
// holds another escape. Pure.
std::optional<std::string> UnescapeDelimiter(const std::string& escaped);

// "window mean 3.91 fell below the threshold 4.02".
std::string PruneReason(double window_mean, double threshold);

}  // namespace hyper
