#include "apps/hyper/models/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/hyper/command_line.h"
#include "apps/hyper/input/read_text.h"
#include "hyper/options.h"
#include "src/engine/llama/gguf/file_hash.h"

namespace hyper::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashLetters = 16;

Error Broken(const std::string& path, const std::string& reason) {
  return {ErrorCode::kDataLoss,
          fmt::format("profile '{}' {}; make it again with hyper calibrate, or ignore it with "
                      "--profile none",
                      path, reason)};
}

fs::path ProfileFolder() {
  const std::string config = ConfigFile();
  return config.empty() ? fs::path() : fs::path(config).parent_path() / "profiles";
}

}  // namespace

std::string ProfilePath(const std::string& model_hash) {
  const fs::path folder = ProfileFolder();
  if (folder.empty() || model_hash.empty()) {
    return "";
  }
  const size_t colon = model_hash.find(':');  // "sha256:0123..."
  const size_t digits = colon == std::string::npos ? 0 : colon + 1;
  return (folder / (model_hash.substr(digits, kHashLetters) + ".json")).string();
}

Result<Profile> ReadProfile(const std::string& path) {
  const Result<std::string> text = ReadText(path);
  if (!text) {
    return text.error();
  }
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto is_object = [&json](const char* name) {
    return json.contains(name) && json[name].is_object();
  };
  if (!json.is_object() || !is_object("model") || !is_object("options") ||
      json.value("format", nlohmann::json()) != kProfileFormat) {
    return Broken(
        path, fmt::format("is no JSON object with format '{}', model and options", kProfileFormat));
  }
  Profile profile;
  profile.path = path;
  const auto hash = json["model"].find("hash");
  if (hash != json["model"].end() && hash->is_string()) {
    profile.model_hash = hash->get<std::string>();
  }
  MethodOptions any;
  for (const auto& [name, value] : json["options"].items()) {
    profile.options.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    if (Status status = SetOption(any, name, profile.options.back().text); !status) {
      return Broken(path, "has an option that is not valid: " + status.error().message);
    }
  }
  return profile;
}

Result<Profile> FindProfile(const std::string& choice, const std::string& model_path) {
  std::error_code ignored;
  const bool automatic = choice == "auto";
  if (choice == "none" || (automatic && !fs::is_directory(ProfileFolder(), ignored))) {
    return Profile();
  }
  const Result<std::string> hash = llama::FileHash(model_path);
  if (!hash) {
    return hash.error();
  }
  const std::string path = automatic ? ProfilePath(*hash) : choice;
  if (automatic && !fs::exists(path, ignored)) {
    return Profile();
  }
  Result<Profile> profile = ReadProfile(path);
  if (profile && !profile->model_hash.empty() && profile->model_hash != *hash) {
    return InvalidArgument(fmt::format(
        "--profile '{}' was made for a model with the hash {}, and '{}' has {}; calibrate this "
        "model, or take --profile none",
        path, profile->model_hash, model_path, *hash));
  }
  return profile;
}

}  // namespace hyper::app
