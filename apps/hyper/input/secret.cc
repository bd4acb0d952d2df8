#include "apps/hyper/input/secret.h"

#include <cstdlib>

#include "apps/hyper/input/read_text.h"

namespace hyper::app {

std::string FromEnvironment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return "";
}

std::string UserFolder(const char* variable, const std::string& below_home) {
  std::string folder = FromEnvironment({variable});
  if (folder.empty()) {
    const std::string home = FromEnvironment({"HOME"});
    folder = home.empty() ? "" : home + below_home;
  }
  return folder.empty() ? "" : folder + "/hyper";
}

std::string DataFolder() { return UserFolder("XDG_DATA_HOME", "/.local/share"); }

Result<std::string> SecretFromFile(const std::string& path) {
  Result<std::string> text = ReadText(path);
  return text ? Result<std::string>(Trimmed(*text)) : text;
}

}  // namespace hyper::app
