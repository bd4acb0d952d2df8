#include "src/server/http/routes.h"

#include <algorithm>
#include <utility>

namespace hyper::server {
namespace {

// "/v1/runs/{run}" as httplib writes it: "/v1/runs/:run".
std::string Pattern(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (c == '{') {
      pattern += ':';
    } else if (c != '}') {
      pattern += c;
    }
  }
  return pattern;
}

// Takes the text before the next slash off the front of `rest`.
std::string_view TakeSegment(std::string_view& rest) {
  const size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  return segment;
}

}  // namespace

void Routes::Get(const std::string& path, httplib::Server::Handler handler,
                 const std::string& pattern) {
  list_.push_back({"GET", path});
  server_.Get(pattern.empty() ? Pattern(path) : pattern, std::move(handler));
}

void Routes::Post(const std::string& path, httplib::Server::Handler handler) {
  list_.push_back({"POST", path});
  server_.Post(Pattern(path), std::move(handler));
}

void Routes::Delete(const std::string& path, httplib::Server::Handler handler) {
  list_.push_back({"DELETE", path});
  server_.Delete(Pattern(path), std::move(handler));
}

std::string Routes::MethodsOf(std::string_view path) const {
  std::string methods;
  for (const Route& route : list_) {
    if (IsPathOf(route.path, path)) {
      methods += methods.empty() ? "" : ", ";
      methods += route.method == "GET" ? "GET, HEAD" : route.method;
    }
  }
  return methods;
}

std::string Routes::PatternOf(std::string_view path) const {
  for (const Route& route : list_) {
    if (IsPathOf(route.path, path)) {
      return route.path;
    }
  }
  return "other";
}

std::string Routes::KnownMethod(const std::string& method) const {
  const bool known = method == "HEAD" || method == "OPTIONS" ||
                     std::any_of(list_.begin(), list_.end(),
                                 [&method](const Route& route) { return route.method == method; });
  return known ? method : "other";
}

bool IsPathOf(std::string_view route, std::string_view path) {
  while (!route.empty() && !path.empty()) {
    const bool last = route.find('/') == std::string_view::npos;
    if (last != (path.find('/') == std::string_view::npos)) {
      return false;
    }
    const std::string_view wanted = TakeSegment(route);
    const std::string_view given = TakeSegment(path);
    const bool any = !wanted.empty() && wanted.front() == '{' && !given.empty();
    if (!any && wanted != given) {
      return false;
    }
  }
  return route.empty() && path.empty();
}

}  // namespace hyper::server
