#include "apps/hyper/input/read_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <string_view>
#include <system_error>

namespace hyper::app {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What `stream` holds, little more than `most_bytes` of it.
std::string ReadSome(std::istream& stream, size_t most_bytes) {
  constexpr size_t kPart = size_t{1} << 16U;
  std::string text;
  while (stream && text.size() <= most_bytes) {
    const size_t before = text.size();
    text.resize(before + kPart);
    stream.read(text.data() + before, kPart);
    text.resize(before + static_cast<size_t>(stream.gcount()));
  }
  return text;
}

Result<std::string> Checked(const std::string& name, std::string text, size_t most_bytes) {
  if (text.size() > most_bytes) {
    return InvalidArgument(
        fmt::format("{} is longer than the {} MiB that are read; give a shorter text", name,
                    most_bytes >> 20U));
  }
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  return text;
}

}  // namespace

Result<std::string> ReadText(const std::string& path, size_t most_bytes) {
  errno = 0;
  if (path == "-") {
    std::string text = ReadSome(std::cin, most_bytes);
    if (errno != 0) {
      return Error{ErrorCode::kNotFound, fmt::format("standard input cannot be read: {}",
                                                     std::generic_category().message(errno))};
    }
    return Checked("standard input", std::move(text), most_bytes);
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error{ErrorCode::kNotFound, fmt::format("'{}' is a folder; name a text file", path)};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text = file.is_open() ? ReadSome(file, most_bytes) : "";
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' cannot be read: {}; check path and permissions", path,
                             std::generic_category().message(errno))};
  }
  return Checked(fmt::format("'{}'", path), std::move(text), most_bytes);
}

std::string Trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  return first == text.npos
             ? ""
             : std::string(text.substr(first, text.find_last_not_of(kBlank) + 1 - first));
}

}  // namespace hyper::app
