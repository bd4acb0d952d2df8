// URLs of servers.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::remote {

// `url` without a trailing slash; of a base URL also without its last "/v1". Pure.
std::string BaseUrl(std::string url);
std::string RootUrl(const std::string& base_url);

// OK where `url` is http(s)://host[:port][/path] without user, query or fragment. Pure.
Status CheckUrl(const std::string& url);

}  // namespace hyper::remote
