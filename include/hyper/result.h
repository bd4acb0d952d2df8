// Result<T>: a value or an error. Errors that input or environment can cause are returned this way.
// The library throws nothing to its callers, prints nothing and never exits.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#pragma GCC visibility push(default)
namespace hyper {

// What kind of failure: decides exit codes and HTTP statuses.
enum class ErrorCode {
  kInvalidArgument,    // a value the caller gave is out of its range
  kNotFound,           // a file, model, suite or name that does not exist
  kUnsupported,        // the engine or model lacks the ability
  kResourceExhausted,  // memory, KV cells, lanes or disk ran out
  kUnavailable,        // a server or device did not answer; trying again may help
  kDataLoss,           // a file is broken, or an answer could not be read
  kCancelled,          // stopped on request
  kInternal,           // a bug or an unexplained failure of a dependency
};

// Failure in words. `message` names the value, the reason and the remedy, in one line.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

// An error in a value that the caller gave. Pure.
inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

// Name of a code in lower_snake_case, for records and JSON. Pure.
const char* ErrorCodeName(ErrorCode code);

// A value of type T, or an Error; member names are those of std::expected. A Result that is a
// temporary gives its value itself, not a reference, which would outlive it: `for (x : *Find())`
// walks through a list that is still there.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() & {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  T value() && { return std::move(value()); }
  const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  T value_or(T other) const { return has_value() ? value() : std::move(other); }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error, for calls without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit by design
  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(failed_);
    return error_;
  }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace hyper
#pragma GCC visibility pop
