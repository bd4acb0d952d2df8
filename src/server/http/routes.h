// The server's routes: one list that requests are served by, that says which methods a path takes,
// and that the API's description is tested against.
#pragma once

#include <cpp-httplib/httplib.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/server/http/route.h"

namespace hyper::server {

class Routes {
 public:
  // `server` must outlive the routes.
  explicit Routes(httplib::Server& server) : server_(server) {}

  // Handlers find what stands for "{run}" in request.path_params under "run"; with a regular
  // expression as `pattern`, its groups in request.matches.
  void Get(const std::string& path, httplib::Server::Handler handler,
           const std::string& pattern = "");
  void Post(const std::string& path, httplib::Server::Handler handler);
  void Delete(const std::string& path, httplib::Server::Handler handler);

  const std::vector<Route>& list() const { return list_; }
  // The methods that `path` takes, such as "GET, HEAD"; empty: there is no such path.
  std::string MethodsOf(std::string_view path) const;
  // The route that a path is one of, and a method that some route takes; else "other": labels of
  // counts, of which clients cannot make any number.
  std::string PatternOf(std::string_view path) const;
  std::string KnownMethod(const std::string& method) const;

 private:
  httplib::Server& server_;
  std::vector<Route> list_;
};

// Whether a request's path is one of a route. Pure.
bool IsPathOf(std::string_view route, std::string_view path);

}  // namespace hyper::server
