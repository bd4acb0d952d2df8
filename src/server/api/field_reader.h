// Reads fields of a request: null is absent, a wrong type is an error that names the field.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "src/report/member_reader.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

class FieldReader : public MemberReader<ApiError> {
 public:
  explicit FieldReader(const Json& object) : MemberReader(object, Describe, Null::kIsAbsent) {}

  using MemberReader::Fail;
  void Fail(std::string name, std::string message) {
    Fail(BadField(std::move(name), std::move(message)));
  }
  // A field that is known but cannot be served.
  void Refuse(const char* name, const std::string& why) {
    Fail(ApiError{400, "invalid_request_error", "unsupported_parameter", name,
                  fmt::format("'{}' is not supported: {}", name, why)});
  }

 private:
  static ApiError Describe(const std::string& name, const std::string& what) {
    return BadField(name, fmt::format("'{}' {}", name, what));
  }
};

}  // namespace hyper::server
