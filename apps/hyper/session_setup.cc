#include "apps/hyper/session_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "hyper/method.h"
#include "hyper/model_defaults.h"

namespace hyper::app {

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

std::vector<std::pair<std::string, std::string>> ModelSampling(const EngineFlags& engine) {
  if (engine.engine != "llama") {
    return {};
  }
  return RecommendedSampling(engine.model).value_or({});
}

void TakeModelDefaults(const EngineFlags& engine, OptionFlags& options) {
  for (const auto& [name, value] : ModelSampling(engine)) {
    options.SetDefault(name, value);
  }
}

Status CheckWidth(const MethodOptions& options, int lanes) {
  return CheckPaths(options, std::max(WarmupCount(options), PoolWidth(options)), lanes);
}

Status CheckPaths(const MethodOptions& options, int paths, int lanes) {
  if (paths > lanes) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--width {} needs {} paths at once, but the engine holds {}; lower "
                             "--width",
                             options.width, paths, lanes)};
  }
  return {};
}

Status CheckAbilities(const std::string& method, const MethodOptions& options,
                      const Engine& engine) {
  const bool by_confidence =
      method == "hyper" || method.starts_with("deepconf") || method.starts_with("self-certainty");
  if (by_confidence && engine.capabilities().max_top_count == 0) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("--method {} needs log-probabilities, and the engine gives none that "
                             "are sound; take --method sc",
                             method)};
  }
  return CheckWidth(options, engine.capabilities().max_lanes);
}

}  // namespace hyper::app
