// Replies of one JSON object.
#pragma once

#include <cpp-httplib/httplib.h>

#include <chrono>
#include <string>

#include "src/report/json.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

inline constexpr const char* kJsonType = "application/json";
// Between two looks at whether the client of a stream is still there.
inline constexpr std::chrono::milliseconds kLook{50};

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
