// Bodies of requests, read field by field.
#pragma once

#include <string>
#include <variant>

#include "src/server/api/api_error.h"
#include "src/server/api/body_json.h"
#include "src/server/api/field_reader.h"

namespace hyper::server {

// A Request that `read(FieldReader&, Request&)` fills from the object in `body`.
// Errors: a body that is no object; the first that the reader was told of.
template <class Request, class Read>
std::variant<Request, ApiError> ParseFields(const std::string& body, Read read) {
  const std::variant<Json, ApiError> json = ParseBody(body);
  if (const auto* error = std::get_if<ApiError>(&json)) {
    return *error;
  }
  FieldReader fields(std::get<Json>(json));
  Request request;
  read(fields, request);
  if (fields.error()) {
    return *fields.error();
  }
  return request;
}

}  // namespace hyper::server
