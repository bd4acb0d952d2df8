#include "apps/hyper/models/bundled_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace hyper::app {
namespace {

constexpr const char* kModelFile = "tinymath-moe-6m-f16.gguf";

}  // namespace

Result<std::string> BundledModel() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> places;
  if (!error) {
    places.push_back(folder.parent_path() / "share/hyper/models" / kModelFile);
    places.push_back(folder.parent_path() / "models/tinymath" / kModelFile);
  }
  places.push_back(fs::path(HYPER_SOURCE_DIR) / "models/tinymath" / kModelFile);
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::exists(place, error)) {
      return place.lexically_normal().string();
    }
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  return Error{
      ErrorCode::kNotFound,
      fmt::format("the bundled model was not found in {}; name a model with --model", tried)};
}

}  // namespace hyper::app
