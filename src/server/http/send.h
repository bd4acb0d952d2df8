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
inline constexpr const char* kClientKept = "client";
// Between two looks at whether the client of a stream is still there.
inline constexpr std::chrono::milliseconds kLook{50};

// The key that a request gives; empty: none.
inline std::string GivenKey(const httplib::Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string given = request.get_header_value("Authorization");
  return given.rfind(kBearer, 0) == 0 ? given.substr(kBearer.size())
                                      : request.get_header_value("X-Api-Key");
}

// Looks the key up, once for each request: what is said of it is kept in the reply.
inline const Client* FindClient(const Clients& clients, const httplib::Request& request,
                                httplib::Response& response) {
  const Client* client = clients.Find(GivenKey(request));
  response.user_data.set(kClientKept, client);
  return client;
}

// What FindClient found; null also where it was not asked.
inline const Client* FoundClient(const httplib::Response& response) {
  const Client* const* client = response.user_data.get<const Client*>(kClientKept);
  return client != nullptr ? *client : nullptr;
}

// Who sends a request that got to its handler, for which it has a key (401).
inline const Client& ClientOf(const httplib::Response& response) { return *FoundClient(response); }

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
