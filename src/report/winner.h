// The path that speaks for a vote: whose text is shown, sent or kept as the reply.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hyper/path.h"

namespace hyper {

// The surest of the paths that gave `answer`; among those, one that ended by itself and gave it
// outside its reasoning comes first. Where no path gave it, the best of all paths by the same
// measure. Judges, merged paths and paths without a token are left out. Null: nothing is left.
// Pure; the result points into `paths`.
const Path* WinningPath(std::span<const Path> paths, const std::optional<std::string>& answer);

}  // namespace hyper
