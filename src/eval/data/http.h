// One HTTP request after another, through libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"

namespace hyper::eval {

struct FetchRequest {
  std::string url;
  std::string bearer;      // token; empty: none. Never part of a message
  std::string post;        // JSON to send; empty: GET
  int64_t first_byte = 0;  // only the rest of a file, from here on
  double timeout_s = 60;   // without any byte
};

struct HttpReply {
  int status = 0;
  double retry_after_s = -1;  // as the server asked; negative: it did not
  std::string body;           // empty where `take` got it
};

// Takes a piece of the body of a successful reply; an error ends the transfer.
using TakeBytes = std::function<Status(int status, std::string_view bytes)>;

// Makes the request; redirections are followed. A reply of any status is a result.
//   take  gets the body of replies of status 2xx, if it is there
// Errors: kUnavailable (no such host, refused, cut off, no byte for timeout_s), what `take` said.
// Thread rule: any thread.
Result<HttpReply> FetchHttp(const FetchRequest& request, const TakeBytes& take = {});

// `text` as it may stand in a query. Pure.
std::string QueryEscaped(std::string_view text);

}  // namespace hyper::eval
