#include "apps/hyper/session_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "hyper/method.h"

namespace hyper::app {
namespace {

// Cells where the engine does not count them: more than any run can fill.
constexpr int64_t kUnboundedCells = int64_t{1} << 40U;

}  // namespace

Result<MethodOptions> ResolveOptions(const OptionFlags& flags, const std::string& preset,
                                     const std::string& method) {
  Result<MethodOptions> options = Preset(preset);
  if (!options) {
    return options;
  }
  Status status = ApplyMethodDefaults(method, *options);
  if (status) {
    status = flags.Apply(*options);
  }
  return status ? options : Result<MethodOptions>(status.error());
}

Status CheckWidth(const MethodOptions& options, const Engine& engine) {
  const int paths = std::max(WarmupCount(options), PoolWidth(options));
  const int lanes = engine.capabilities().max_lanes;
  if (paths > lanes) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--width {} needs {} paths at once, but the engine holds {}; lower "
                             "--width",
                             options.width, paths, lanes)};
  }
  return {};
}

Reservation ReservationFor(const MethodOptions& options, const Engine& engine) {
  const Capabilities& can = engine.capabilities();
  return {std::min(LaneLimit(options), can.max_rows),
          can.cells_total > 0 ? can.cells_total : kUnboundedCells};
}

}  // namespace hyper::app
