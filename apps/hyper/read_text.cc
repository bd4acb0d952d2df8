#include "apps/hyper/read_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

namespace hyper::app {

Result<std::string> ReadText(const std::string& path) {
  if (path == "-") {
    return std::string{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error{ErrorCode::kNotFound, fmt::format("'{}' is a folder; name a text file", path)};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' cannot be read: {}; check path and permissions", path,
                             std::generic_category().message(errno))};
  }
  return text;
}

}  // namespace hyper::app
