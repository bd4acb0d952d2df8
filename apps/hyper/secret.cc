#include "apps/hyper/secret.h"

#include <cstdlib>

#include "apps/hyper/read_text.h"

namespace hyper::app {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

}  // namespace

std::string TrimmedSecret(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1));
}

std::string FromEnvironment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return "";
}

std::string DataFolder() {
  std::string folder = FromEnvironment({"XDG_DATA_HOME"});
  if (folder.empty()) {
    const std::string home = FromEnvironment({"HOME"});
    folder = home.empty() ? "" : home + "/.local/share";
  }
  return folder.empty() ? "" : folder + "/hyper";
}

Result<std::string> SecretFromFile(const std::string& path) {
  Result<std::string> text = ReadText(path);
  return text ? Result<std::string>(TrimmedSecret(*text)) : text;
}

}  // namespace hyper::app
