// A route of the server, in words that need no HTTP library.
#pragma once

#include <string>

namespace hyper::server {

struct Route {
  std::string method;
  std::string path;  // as OpenAPI writes it: "/v1/runs/{run}"
};

}  // namespace hyper::server
