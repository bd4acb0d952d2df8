// Errors as the OpenAI API words them.
#pragma once

#include <string>
#include <utility>

#include "hyper/result.h"
#include "src/report/json.h"

namespace hyper::server {

struct ApiError {
  int status = 500;       // HTTP
  std::string type;       // "invalid_request_error", ...
  std::string code;       // empty: null
  std::string param;      // the field at fault; empty: null
  std::string message;    // value, reason and remedy in one line
  int retry_after_s = 1;  // where a later try may be taken (429, 503)

  Json ToJson() const {
    const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    return {{"error",
             {{"message", message}, {"type", type}, {"param", text(param)}, {"code", text(code)}}}};
  }
};

// A field that cannot be taken as it is.
inline ApiError BadField(std::string param, std::string message) {
  return {400, "invalid_request_error", "", std::move(param), std::move(message)};
}

inline ApiError NoSuchModel(const std::string& name) {
  return {404, "invalid_request_error", "model_not_found", "model",
          "model '" + name + "' is not served here; GET /v1/models lists those that are"};
}

// An error of the library under the status that fits it. Pure.
inline ApiError FromError(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
      return {400, "invalid_request_error", ErrorCodeName(error.code), "", error.message};
    case ErrorCode::kNotFound:
      return {404, "not_found_error", ErrorCodeName(error.code), "", error.message};
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kCancelled:
      return {503, "server_error", ErrorCodeName(error.code), "", error.message};
    case ErrorCode::kDataLoss:
    case ErrorCode::kInternal:
      break;
  }
  return {500, "server_error", ErrorCodeName(error.code), "", error.message};
}

}  // namespace hyper::server
