#include "src/engine/remote/endpoint.h"

#include <string_view>

namespace hyper::remote {

std::string WithoutKey(std::string message, const std::string& api_key) {
  const std::string_view shown = "(key)";
  for (size_t at = 0; !api_key.empty() && (at = message.find(api_key, at)) != std::string::npos;) {
    message.replace(at, api_key.size(), shown);
    at += shown.size();  // the key may be a part of these words
  }
  return message;
}

std::string BaseUrl(std::string url) {
  url.erase(url.find_last_not_of('/') + 1);
  return url;
}

std::string RootUrl(const std::string& base_url) {
  const std::string_view ending = "/v1";
  return base_url.ends_with(ending) ? base_url.substr(0, base_url.size() - ending.size())
                                    : base_url;
}

Status CheckUrl(const std::string& url) {
  const size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const std::string rest = url.substr(scheme);
  const bool clean = rest.find_first_of(" @?#,\t\r\n") == std::string::npos;
  if (scheme == 0 || !clean || rest.empty() || rest[0] == '/') {
    // Not repeated here: what is wrong about it may be a password in it.
    return Error{ErrorCode::kInvalidArgument,
                 "an engine's URL takes the form http://host:port/v1, without user, query or "
                 "spaces; keys go into --engine-key-file"};
  }
  return {};
}

}  // namespace hyper::remote
