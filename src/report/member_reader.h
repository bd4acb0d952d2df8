// Reads the members of a JSON object that a caller gave, strictly: unknown members and values of
// another type are errors.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "hyper/result.h"
#include "src/report/json.h"

namespace hyper {

// What a member of type T takes, in words.
template <class T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? "an integer" : "an integer from 0";
  } else {
    return "a number";
  }
}

// Whether `value` has the type T and fits into it.
template <class T>
bool Holds(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else if (value.is_number_unsigned()) {
    return std::in_range<T>(value.template get<uint64_t>());
  } else {
    return value.is_number_integer() && std::in_range<T>(value.template get<int64_t>());
  }
}

// A text for messages, left out where it is long.
inline std::string ShownText(std::string text) {
  constexpr size_t kMost = 80;
  return text.size() <= kMost ? std::move(text) : "too long to show";
}

// The same of a JSON value.
inline std::string Shown(const Json& value) { return ShownText(DumpJson(value)); }

// Takes members out of an object one by one, notes the first that does not fit, and finds those
// that nobody took.
class MemberReader {
 public:
  explicit MemberReader(const std::string& text) {
    object_ =
        text.empty() ? Json::object() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (object_.is_discarded() || !object_.is_object()) {
      status_ =
          InvalidArgument("the options are not a JSON object; they look like {\"width\": 16}");
      object_ = Json::object();
    }
  }

  explicit MemberReader(Json object) : object_(std::move(object)) {}

  // Puts member `name` into `field`, which keeps its value where there is none.
  template <class T>
  void Take(const char* name, T& field) {
    names_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end() || !status_) {
      return;
    }
    if (!Holds<T>(*found)) {
      status_ = InvalidArgument(
          fmt::format("option '{}' is {}; it takes {}", name, Shown(*found), TypeName<T>()));
      return;
    }
    field = found->template get<T>();
  }

  // As above; `field` stays empty where there is none.
  template <class T>
  void Take(const char* name, std::optional<T>& field) {
    T value{};
    const bool given = object_.contains(name);
    Take(name, value);
    if (given && status_) {
      field = std::move(value);
    }
  }

  // As above for one of a few words, each with its value.
  template <class T>
  void TakeWord(const char* name, T& field,
                std::initializer_list<std::pair<const char*, T>> words) {
    std::string word;
    Take(name, word);
    if (word.empty() || !status_) {
      return;
    }
    std::string known;
    for (const auto& [candidate, value] : words) {
      if (word == candidate) {
        field = value;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(candidate);
    }
    status_ = InvalidArgument(
        fmt::format("option '{}' is '{}'; it takes {}", name, ShownText(word), known));
  }

  void Fail(Error error) {
    if (status_) {
      status_ = std::move(error);
    }
  }

  // The first trouble; a member that was never taken is one.
  Status Finish() const {
    if (!status_) {
      return status_;
    }
    for (const auto& member : object_.items()) {
      if (names_.count(member.key()) == 0) {
        return InvalidArgument(
            fmt::format("option '{}' is not known; docs/c-api.md lists them", member.key()));
      }
    }
    return {};
  }

 private:
  Json object_;
  std::set<std::string> names_;
  Status status_;
};

}  // namespace hyper
