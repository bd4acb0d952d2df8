#include "apps/hyper/remote_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "apps/hyper/parse_value.h"
#include "apps/hyper/read_text.h"
#include "apps/hyper/secret.h"

namespace hyper::app {
namespace {

Result<std::string> ReadServerKey(const std::string& path) {
  if (!path.empty()) return SecretFromFile(path);
  return TrimmedSecret(FromEnvironment({"HYPER_ENGINE_KEY", "OPENAI_API_KEY"}));
}

// Reads a whole number from `least` on.
Status ParseCount(const char* name, const std::string& text, int least, int& value) {
  const std::string range = fmt::format("a whole number from {}", least);
  Status status = ParseValue(name, text, range, value);
  if (status && value < least) {
    status = Error{ErrorCode::kInvalidArgument,
                   fmt::format("--{} is {}; it takes {}", name, text, range)};
  }
  return status;
}

Status ParseSeconds(const char* name, const std::string& text, double& value) {
  if (text == "0") {
    value = 0;
    return {};
  }
  Result<double> seconds = ParseDuration(name, text);
  if (!seconds) {
    return seconds.error();
  }
  value = *seconds;
  return {};
}

}  // namespace

void RemoteFlags::AddTo(CLI::App& app) {
  const char* group = "Servers";
  app.add_option("--engine-key-file", api_key_file,
                 "file with the servers' API key [HYPER_ENGINE_KEY or OPENAI_API_KEY]")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--header", headers, "'Name: value', sent with every request; may be repeated")
      ->type_name("TEXT")
      ->group(group);
  app.add_option("--ca-file", ca_file, "certificates to trust [the system's]")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--chat-template", chat_template_file,
                 "file with a Jinja chat template in place of the servers'")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--connect-timeout", connect_timeout, "to reach a server; 0: no limit [10s]")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--timeout", timeout,
                 "of a stream without a token, the first included; 0: no limit [300s]")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--retries", retries, "tries of a lane after a failed one [4]")
      ->type_name("N")
      ->group(group);
  app.add_option("--max-streams", max_streams, "streams at once; further lanes queue [8192]")
      ->type_name("N")
      ->group(group);
  app.add_option("--grant", grant,
                 "closed requests of so many tokens; 0: streams that stay open [0]")
      ->type_name("N")
      ->group(group);
}

bool IsRemote(const std::string& engine) { return engine.find("://") != std::string::npos; }

Result<RemoteOptions> RemoteLimitsOf(const RemoteFlags& flags) {
  RemoteOptions options;
  options.max_lanes = flags.max_lanes > 0 ? flags.max_lanes : options.max_lanes;
  options.waiting_tokens = flags.waiting_tokens;
  options.stream_tokens = flags.stream_tokens;
  for (const Status& status :
       {ParseSeconds("connect-timeout", flags.connect_timeout, options.connect_timeout_s),
        ParseSeconds("timeout", flags.timeout, options.timeout_s),
        ParseCount("retries", flags.retries, 0, options.retries),
        ParseCount("max-streams", flags.max_streams, 1, options.max_streams),
        ParseCount("grant", flags.grant, 0, options.grant_tokens)}) {
    if (!status) {
      return status.error();
    }
  }
  return options;
}

Result<RemoteOptions> RemoteOptionsOf(const RemoteFlags& flags, const std::string& engine,
                                      const std::string& model) {
  const Result<RemoteOptions> limits = RemoteLimitsOf(flags);
  if (!limits) {
    return limits.error();
  }
  RemoteOptions options = *limits;
  for (size_t begin = 0; begin <= engine.size();) {
    const size_t end = std::min(engine.find(',', begin), engine.size());
    if (end > begin) {
      options.urls.push_back(engine.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  options.model = model;
  options.headers = flags.headers;
  options.ca_file = flags.ca_file;
  if (!flags.chat_template_file.empty()) {
    Result<std::string> source = ReadText(flags.chat_template_file);
    if (!source) {
      return source.error();
    }
    options.chat_template = std::move(*source);
  }
  Result<std::string> key = ReadServerKey(flags.api_key_file);
  if (!key) {
    return key.error();
  }
  options.api_key = *key;
  return options;
}

}  // namespace hyper::app
