#include "src/server/http/page_routes.h"

#include <string>
#include <string_view>

#include "src/server/http/page_files.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

const char* MimeOf(std::string_view name) {
  const auto ends = [name](std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  };
  return ends(".html")   ? "text/html; charset=utf-8"
         : ends(".js")   ? "text/javascript; charset=utf-8"
         : ends(".css")  ? "text/css; charset=utf-8"
         : ends(".json") ? kJsonType
                         : "application/octet-stream";
}

void SendPage(Response& response, const std::string& name) {
  for (const PageFile& file : PageFiles()) {
    if (file.name == name) {
      // Nothing from elsewhere may run in the page or be loaded by it.
      response.set_header(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
          "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
          "frame-ancestors 'none'; form-action 'none'");
      response.set_header("Cache-Control", "no-cache");
      response.set_content(std::string(file.bytes), MimeOf(file.name));
      return;
    }
  }
  SendError(response, {404, "not_found_error", "", "", "no such page"});
}

}  // namespace

void AddPageRoutes(Routes& routes) {
  routes.Get("/", [](const Request& /*request*/, Response& response) {
    SendPage(response, "index.html");
  });
  routes.Get("/docs", [](const Request& /*request*/, Response& response) {
    SendPage(response, "docs.html");
  });
  // Names are looked up among the embedded files; no file system is touched.
  routes.Get("/page/{file}", [](const Request& request, Response& response) {
    SendPage(response, request.path_params.at("file"));
  });
}

}  // namespace hyper::server
