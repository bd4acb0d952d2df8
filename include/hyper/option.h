// One option: a field of an options struct with all that flags, JSON, help, records and documents
// say about it. Each options struct has one table of options (OptionsOf), and every reader uses
// that table.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hyper/names.h"
#include "hyper/option_types.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// The values that a number may take; an open end is not one of them.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;
};
constexpr Bounds Between(double low, double high) { return {low, high}; }
constexpr Bounds From(double low) { return {low}; }
constexpr Bounds Above(double low) { return {low, Bounds().high, /*open_low=*/true}; }

// What is said of an option beside its field.
struct OptionInfo {
  const char* name;             // flag and JSON key, with dashes
  const char* symbol = "";      // the paper's symbol
  const char* help = "";        // meaning, one line
  const char* brief_help = "";  // in the short help, where that has to be shorter
  Bounds bounds = {};           // of numbers
  const char* group = "";       // heading in help
  uint32_t read_by = ~0U;       // MethodFeature bits of the methods that read it
  const char* brief = "";       // value in preset `short`; empty: as in `paper`
  const char* takes = "";       // values in words, where type and bounds do not say it
  std::array<const char*, 2> words = {"false", "true"};  // of a switch
  bool seconds = false;    // a duration: 30s, 2m, 1h or 500ms; 0: none
  bool file = false;       // on the command line a file that holds the text
  bool repeated = false;   // each text is one more entry of a list, commas and all
  bool automatic = false;  // the lowest value of a whole number is written "auto"
  const char* alias = "";  // a second flag for it
};

// A text as a caller gives it, by option name: {"width", 8}, {"vote", "majority"}.
struct OptionValue {
  OptionValue(std::string option, std::string value)
      : name(std::move(option)), text(std::move(value)) {}
  OptionValue(std::string option, const char* value) : name(std::move(option)), text(value) {}
  OptionValue(std::string option, double value);
  OptionValue(std::string option, int value);
  OptionValue(std::string option, bool value) : name(std::move(option)) {
    text = value ? "true" : "false";
  }
  bool operator==(const OptionValue&) const = default;

  std::string name;
  std::string text;
};
using OptionValues = std::vector<OptionValue>;

// An option bound to its field, which must outlive it.
class Option {
 public:
  enum class Type { kInteger, kNumber, kSwitch, kWord, kText, kList };
  using Value = std::variant<bool, int64_t, double, std::string>;

  // Enums have names (hyper/names.h), which are then the words.
  template <class T>
  Option(T& field, OptionInfo info) : field_(FieldOf(field)), info_(info) {}

  const OptionInfo& info() const { return info_; }
  Type type() const;
  bool is_unsigned() const { return std::holds_alternative<uint64_t*>(field_); }
  // The field's value as text that Set reads, and as a plain value (lists and rules as text).
  std::string Text() const;
  Value value() const;
  // Puts a value into the field. Errors: kInvalidArgument with option, value and what it takes; the
  // field is then unchanged.
  Status Set(std::string_view text);
  // Whether the field's value is in range. Errors: as Set.
  Status Check() const;
  // What it takes, in words: "1 to 4096", "score, softmax".
  std::string Takes() const;
  // The words of a kWord or kSwitch option.
  std::vector<std::string> Words() const;

 private:
  struct WordField {
    void* field;
    std::span<const char* const> words;
    size_t (*get)(const void* field);
    void (*set)(void* field, size_t index);
  };
  using Field = std::variant<int*, int64_t*, uint64_t*, double*, bool*, std::string*,
                             std::vector<std::string>*, std::vector<float>*, ActionSet*,
                             ThresholdRule*, StopRule*, WordField>;

  template <class T>
  [[gnu::visibility("hidden")]] static Field FieldOf(T& field) {
    if constexpr (std::is_enum_v<T>) {
      static_assert(!kNamesOf<T>.empty(), "the enum has no names");
      return WordField{
          &field, kNamesOf<T>,
          [](const void* at) { return static_cast<size_t>(*static_cast<const T*>(at)); },
          [](void* at, size_t index) { *static_cast<T*>(at) = static_cast<T>(index); }};
    } else {
      return &field;
    }
  }
  Error OutOfRange(std::string_view value) const;

  Field field_;
  OptionInfo info_;
};

// The option of that name. Null where there is none.
Option* FindOption(std::span<Option> options, std::string_view name);

// Whether all values of a table are in range. Errors: as Option::Set, of the first that is not.
inline Status CheckRanges(std::span<const Option> options) {
  for (const Option& option : options) {
    if (Status status = option.Check(); !status) {
      return status;
    }
  }
  return {};
}

// Whether a value was given for the option of that name.
bool Given(const OptionValues& values, std::string_view name);

// A time such as "30s", "2m", "1h" or "500ms", in seconds, above zero. `name` is for the message.
// Errors: kInvalidArgument. Pure.
Result<double> ParseDuration(const std::string& name, const std::string& text);

}  // namespace hyper
#pragma GCC visibility pop
