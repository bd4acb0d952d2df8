// The names of an enum's values, for options, records and files. Each enum defines its names once.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace hyper {

// The names of the values 0, 1, .. of an enum. Each enum that has names specialises it.
template <class Enum>
inline constexpr std::array<const char*, 0> kNamesOf = {};

// The name of a value. Pure.
template <class Enum>
constexpr const char* NameOf(Enum value) {
  static_assert(!kNamesOf<Enum>.empty(), "the enum has no names");
  return kNamesOf<Enum>[static_cast<size_t>(value)];
}

// The value of a name; nothing where no value has it. Pure.
template <class Enum>
constexpr std::optional<Enum> ValueOf(std::string_view name) {
  for (size_t i = 0; i < kNamesOf<Enum>.size(); ++i) {
    if (name == kNamesOf<Enum>[i]) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

}  // namespace hyper
#pragma GCC visibility pop
