#include "src/engine/remote/wire/endpoint.h"

#include <string_view>

#include "src/base/http/url.h"

namespace hyper::remote {

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
  if (!base::IsPlainHttpUrl(url)) {
    // Not repeated here: what is wrong about it may be a password in it.
    return InvalidArgument(
        "an engine's URL takes the form http://host:port/v1, without user, query or "
        "spaces; keys go into --engine-key-file");
  }
  return {};
}

}  // namespace hyper::remote
