// URLs and keys of servers.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::remote {

// `message` without the key, should a server repeat it. Pure.
std::string WithoutKey(std::string message, const std::string& api_key);

// `url` without a trailing slash; of a base URL also without its last "/v1". Pure.
std::string BaseUrl(std::string url);
std::string RootUrl(const std::string& base_url);

// OK where `url` is http(s)://host[:port][/path] without user, query or fragment. Pure.
Status CheckUrl(const std::string& url);

}  // namespace hyper::remote
