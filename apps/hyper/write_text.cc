#include "apps/hyper/write_text.h"

#include <fmt/format.h>

#include <fstream>

namespace hyper::app {

Status WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' cannot be written; check path and permissions", path.string())};
  }
  return {};
}

}  // namespace hyper::app
