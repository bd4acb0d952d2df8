// Reads fields of a request: unknown ones are ignored, null is absent, a wrong type is an error
// that names the field.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/report/member_reader.h"
#include "src/server/api/api_error.h"

namespace hyper::server {

class FieldReader {
 public:
  // `object` must be a JSON object and outlive the reader.
  explicit FieldReader(const Json& object) : object_(object) {}

  // The member, or null where it is absent or JSON's null.
  const Json* Find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  // Puts the member into `field`; true where there is one of the right type.
  template <class T>
  bool Take(const char* name, T& field) {
    const Json* value = Find(name);
    if (value == nullptr || error_) {
      return false;
    }
    if (!Holds<T>(*value)) {
      Fail(name, fmt::format("'{}' is {}; it takes {}", name, Shown(*value), TypeName<T>()));
      return false;
    }
    field = value->template get<T>();
    return true;
  }

  // As Take, within [low, high].
  template <class T>
  bool TakeWithin(const char* name, T low, T high, T& field) {
    T value{};
    if (!Take(name, value)) {
      return false;
    }
    if (!(value >= low && value <= high)) {
      Fail(name, fmt::format("'{}' is {}; it takes {} to {}", name, value, low, high));
      return false;
    }
    field = value;
    return true;
  }

  void Fail(std::string name, std::string message) {
    if (!error_) {
      error_ = BadField(std::move(name), std::move(message));
    }
  }
  void Fail(ApiError error) {
    if (!error_) {
      error_ = std::move(error);
    }
  }
  // A field that is known but cannot be served.
  void Refuse(const char* name, const std::string& why) {
    Fail(ApiError{400, "invalid_request_error", "unsupported_parameter", name,
                  fmt::format("'{}' is not supported: {}", name, why)});
  }

  const std::optional<ApiError>& error() const { return error_; }

 private:
  const Json& object_;
  std::optional<ApiError> error_;
};

}  // namespace hyper::server
