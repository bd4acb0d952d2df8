// Members of JSON objects: read strictly, so that every mistake is an error that names the member,
// or leniently where another program wrote them.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "hyper/names.h"
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

// Whether `value`, any JSON of nlohmann's, has the type T and fits into it.
template <class T, class AnyJson>
bool Holds(const AnyJson& value) {
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

// The member of that name, or `otherwise` where it is absent or of another type.
template <class T, class AnyJson>
T MemberOr(const AnyJson& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  return found != object.end() && Holds<T>(*found) ? found->template get<T>() : otherwise;
}

// A text for messages, left out where it is long.
inline std::string ShownText(std::string text) {
  constexpr size_t kMost = 80;
  return text.size() <= kMost ? std::move(text) : "too long to show";
}

// The same of a JSON value.
inline std::string Shown(const Json& value) { return ShownText(DumpJson(value)); }

// Takes members out of an object one by one and keeps the first error, a Failure.
template <class Failure>
class MemberReader {
 public:
  // The error of a member; `what` is "is 5; it takes a string" or the like.
  using Describe = std::function<Failure(const std::string& name, const std::string& what)>;
  enum class Null { kIsWrong, kIsAbsent };

  // `object` must outlive the reader; where it is no object, it has no members.
  MemberReader(const Json& object, Describe describe, Null null)
      : object_(object), describe_(std::move(describe)), null_(null) {}

  // The member, or null where it is absent.
  const Json* Find(const char* name) {
    names_.insert(name);
    const auto found = object_.find(name);
    const bool absent = found == object_.end() || (null_ == Null::kIsAbsent && found->is_null());
    return absent ? nullptr : &*found;
  }

  // Puts the member into `field`; true where there is one of the right type.
  template <class T>
  bool Take(const char* name, T& field) {
    const Json* value = Find(name);
    if (value == nullptr || error_) {
      return false;
    }
    if (!Holds<T>(*value)) {
      Wrong(name, fmt::format("is {}; it takes {}", Shown(*value), TypeName<T>()));
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
      Wrong(name, fmt::format("is {}; it takes {} to {}", value, low, high));
      return false;
    }
    field = value;
    return true;
  }

  // Notes what is wrong with a member.
  void Wrong(const std::string& name, const std::string& what) { Fail(describe_(name, what)); }
  void Fail(Failure error) {
    if (!error_) {
      error_ = std::move(error);
    }
  }
  // A member that nobody looked for is wrong.
  void RefuseOthers(const char* what) {
    if (!object_.is_object()) {
      return;
    }
    for (const auto& [name, value] : object_.items()) {
      if (names_.count(name) == 0) {
        Wrong(name, what);
      }
    }
  }

  // The first error.
  const std::optional<Failure>& error() const { return error_; }

  const Json& object() const { return object_; }
  // The names of members that were looked for.
  const std::set<std::string, std::less<>>& names() const { return names_; }

 private:
  const Json& object_;
  Describe describe_;
  Null null_;
  std::set<std::string, std::less<>> names_;
  std::optional<Failure> error_;
};

}  // namespace hyper
