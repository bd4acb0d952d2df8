#include "apps/hyper/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/hyper/printers/eval_tables.h"
#include "hyper/plugin.h"
#include "src/eval/data/own_parts.h"

namespace hyper::app {
namespace {

constexpr const char* kFunction = "hyper_plugin_0_1";  // as HYPER_PLUGIN names it

class Registry : public PluginRegistry {
 public:
  Status Add(MethodSpec spec) override { return RegisterMethod(std::move(spec)); }
  Status Add(GraderSpec spec) override { return eval::AddGrader(std::move(spec)); }
  Status Add(SuiteSpec spec) override { return eval::AddSuite(std::move(spec)); }
  Status Add(TableSpec spec) override { return AddTable(std::move(spec)); }
};

// Does not return where Python takes over.
Error GoOnInPython(int argc, const char* const* argv) {
  const char* chosen = std::getenv("HYPER_PYTHON");
  const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  std::vector<const char*> arguments = {python.c_str(), "-m", "hyper_decode"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  setenv("PYTHONSAFEPATH", "1", 0);  // modules of the working folder are not the plugin's
  execvp(python.c_str(), const_cast<char* const*>(arguments.data()));
  return {
      ErrorCode::kUnavailable,
      fmt::format("a plugin in Python needs '{}', which could not be started ({}); HYPER_PYTHON "
                  "names another one",
                  python, std::strerror(errno))};
}

Status Load(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  if (error || !std::filesystem::exists(path, error)) {
    return Error{ErrorCode::kNotFound, fmt::format("the plugin '{}' does not exist", file)};
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: it holds code
  if (library == nullptr) {
    return InvalidArgument(fmt::format("the plugin '{}' cannot be loaded: {}", file, dlerror()));
  }
  using Function = Status (*)(PluginRegistry & registry);
  const auto add = reinterpret_cast<Function>(dlsym(library, kFunction));
  if (add == nullptr) {
    return InvalidArgument(fmt::format(
        "'{}' is no plugin for this version of hyper: it has no {}, which HYPER_PLUGIN of "
        "hyper/plugin.h makes",
        file, kFunction));
  }
  Registry registry;
  return add(registry);
}

}  // namespace

Result<std::vector<const char*>> LoadPlugins(int argc, const char* const* argv) {
  constexpr std::string_view kFlag = "--plugin";
  std::vector<const char*> others;
  std::vector<std::string> files;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") {
      others.insert(others.end(), argv + i, argv + argc);
      break;
    }
    if (argument.starts_with(std::string(kFlag) + "=")) {
      files.emplace_back(argument.substr(kFlag.size() + 1));
    } else if (argument == kFlag) {
      files.emplace_back(i + 1 < argc ? argv[++i] : "");
    } else {
      others.push_back(argv[i]);
    }
  }
  for (const std::string& file : files) {
    if (file.empty()) {
      return InvalidArgument("--plugin takes a file");
    }
    if (file.ends_with(".py")) {
      return GoOnInPython(argc, argv);
    }
  }
  for (const std::string& file : files) {
    if (Status status = Load(file); !status) {
      return status.error();
    }
  }
  return others;
}

}  // namespace hyper::app
