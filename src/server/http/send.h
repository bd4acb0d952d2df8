// What handlers share: who asks, and replies of one JSON object.
#pragma once

#include <cpp-httplib/httplib.h>

#include <chrono>
#include <string>
#include <string_view>

#include "src/report/json.h"
#include "src/server/api/api_error.h"
#include "src/server/http/clients.h"

namespace hyper::server {

inline constexpr const char* kJsonType = "application/json";
// Between two looks at whether the client of a stream is still there.
inline constexpr std::chrono::milliseconds kLook{50};

// The key that a request gives; empty: none.
inline std::string GivenKey(const httplib::Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string given = request.get_header_value("Authorization");
  return given.rfind(kBearer, 0) == 0 ? given.substr(kBearer.size())
                                      : request.get_header_value("X-Api-Key");
}

// Who sends a request whose key was looked at before (401).
inline const Client& ClientOf(const Clients& clients, const httplib::Request& request) {
  return *clients.Find(GivenKey(request));
}

inline void Send(httplib::Response& response, int status, const Json& body) {
  response.status = status;
  response.set_content(DumpJson(body), kJsonType);
}

// With Retry-After where a later try may be taken.
inline void SendError(httplib::Response& response, const ApiError& error) {
  if (error.status == 429 || error.status == 503) {
    response.set_header("Retry-After", std::to_string(error.retry_after_s));
  }
  Send(response, error.status, error.ToJson());
}

}  // namespace hyper::server
