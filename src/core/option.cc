#include "hyper/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <system_error>
#include <type_traits>
#include <utility>

#include "src/core/stopping.h"
#include "src/core/threshold.h"

namespace hyper {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// The word for the lowest value of an option that is `automatic`.
constexpr std::string_view kAuto = "auto";

std::string NumberText(double value) { return fmt::format("{}", value); }

// What a number takes: "1 to 4096", "a number above 0 to 1", "a whole number from 0".
std::string NumberRange(const Bounds& bounds, bool whole) {
  const char* kind = whole ? "a whole number" : "a number";
  if (std::isinf(bounds.low) && std::isinf(bounds.high)) {
    return kind;
  }
  std::string text = NumberText(bounds.low);
  if (!std::isinf(bounds.high)) {
    text += (bounds.open_high ? ", below " : " to ") + NumberText(bounds.high);
    if (whole) {
      return text;
    }
  }
  return fmt::format("{} {} {}", kind, bounds.open_low ? "above" : "from", text);
}

bool Inside(const Bounds& bounds, double value) {
  return std::isfinite(value) && (bounds.open_low ? value > bounds.low : value >= bounds.low) &&
         (bounds.open_high ? value < bounds.high : value <= bounds.high);
}

// Splits at commas; an empty text has no parts, one behind the last comma may be empty.
std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (bool more = !text.empty(); more;) {
    const size_t end = text.find(',');
    parts.push_back(text.substr(0, end));
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
  }
  return parts;
}

template <class Number>
Status ParseNumber(const std::string& name, std::string_view text, const std::string& takes,
                   Number& value) {
  Number read{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, read);
  if (code == std::errc::result_out_of_range && stop == end) {
    return InvalidArgument(
        fmt::format("--{} is {}, too large or small a number; it takes {}", name, text, takes));
  }
  if (code != std::errc() || stop != end) {
    const char* kind = std::is_integral_v<Number> ? "whole number" : "number";
    return InvalidArgument(
        fmt::format("--{} is '{}', which is not a {}; it takes {}", name, text, kind, takes));
  }
  value = read;
  return {};
}

std::string ActionsText(ActionSet actions) {
  std::string text;
  for (size_t i = 0; i < kActionCount; ++i) {
    if (actions.Has(static_cast<Action>(i))) {
      text += (text.empty() ? "" : ",") + std::string(kNamesOf<Action>[i]);
    }
  }
  return text;
}

// The set of the named actions; false where a name is unknown or there is none.
bool ParseActions(std::string_view text, ActionSet& actions) {
  ActionSet read;
  const std::vector<std::string_view> names = Parts(text);
  for (const std::string_view name : names) {
    const std::optional<Action> action = ValueOf<Action>(name);
    if (!action) {
      return false;
    }
    read = read.With(*action);
  }
  actions = read;
  return !names.empty();
}

Error RangeError(const Option& option, std::string_view value) {
  const bool word = option.type() == Option::Type::kWord || option.type() == Option::Type::kSwitch;
  return InvalidArgument(fmt::format("--{} is {}{}; it takes {}", option.info().name, value,
                                     word ? "" : ", outside its range", option.Takes()));
}

// Reads a number in the option's range.
template <class Number>
Status ReadInside(const Option& option, std::string_view text, Number& value) {
  Status read = ParseNumber(option.info().name, text, option.Takes(), value);
  if (read && !Inside(option.info().bounds, static_cast<double>(value))) {
    return RangeError(option, fmt::format("{}", value));
  }
  return read;
}

// What Option::Set does for each type of a field, which stays unchanged after an error.
Status SetField(const Option& option, std::string_view text, double& field) {
  double value = field;
  if (option.info().seconds && text != "0") {
    const Result<double> seconds = ParseDuration(option.info().name, std::string(text));
    if (!seconds) {
      return seconds.error();
    }
    value = *seconds;
  } else if (Status read = ReadInside(option, text, value); !read) {
    return read;
  }
  field = value;
  return {};
}

template <std::integral Whole>
Status SetField(const Option& option, std::string_view text, Whole& field) {
  if (option.info().automatic && text == kAuto) {
    field = static_cast<Whole>(option.info().bounds.low);
    return {};
  }
  Whole value = field;
  Status read = ReadInside(option, text, value);
  field = read ? value : field;
  return read;
}

Status SetField(const Option& option, std::string_view text, bool& field) {
  const auto& words = option.info().words;
  if (text != words[0] && text != words[1]) {
    return InvalidArgument(
        fmt::format("--{} is '{}'; it takes {}", option.info().name, text, option.Takes()));
  }
  field = text == words[1];
  return {};
}

Status SetField(const Option& /*option*/, std::string_view text, std::string& field) {
  field = text;
  return {};
}

Status SetField(const Option& option, std::string_view text, std::vector<std::string>& field) {
  if (option.info().repeated) {
    field.emplace_back(text);
    return {};
  }
  const auto parts = Parts(text);
  field.assign(parts.begin(), parts.end());
  return {};
}

Status SetField(const Option& option, std::string_view text, std::vector<float>& field) {
  std::vector<float> values;
  for (const std::string_view part : Parts(text)) {
    double value = 0;
    Status read = ParseNumber(option.info().name, part, option.Takes(), value);
    if (!read) {
      return read;
    }
    if (!Inside(option.info().bounds, value)) {
      return RangeError(option, text);
    }
    values.push_back(static_cast<float>(value));
  }
  field = std::move(values);
  return {};
}

Status SetField(const Option& option, std::string_view text, ActionSet& field) {
  return ParseActions(text, field) ? Status()
                                   : Status(RangeError(option, fmt::format("'{}'", text)));
}

// A rule as its own parser has read it.
template <class Rule>
Status SetRule(const Option& option, std::string_view text, const Result<Rule>& rule, Rule& field) {
  if (!rule) {
    return RangeError(option, fmt::format("'{}'", text));
  }
  field = *rule;
  return {};
}

Status SetField(const Option& option, std::string_view text, ThresholdRule& field) {
  return SetRule(option, text, ParseThresholdRule(text), field);
}

Status SetField(const Option& option, std::string_view text, StopRule& field) {
  return SetRule(option, text, ParseStopRule(text), field);
}

}  // namespace

OptionValue::OptionValue(std::string option, double value)
    : name(std::move(option)), text(NumberText(value)) {}

OptionValue::OptionValue(std::string option, int value)
    : name(std::move(option)), text(std::to_string(value)) {}

Option::Type Option::type() const {
  return std::visit(Overloaded{[](const int*) { return Type::kInteger; },
                               [](const int64_t*) { return Type::kInteger; },
                               [](const uint64_t*) { return Type::kInteger; },
                               [](const double*) { return Type::kNumber; },
                               [](const bool*) { return Type::kSwitch; },
                               [](const WordField&) { return Type::kWord; },
                               [](const std::vector<std::string>*) { return Type::kList; },
                               [](const std::vector<float>*) { return Type::kList; },
                               [](const auto*) { return Type::kText; }},
                    field_);
}

std::string Option::Text() const {
  return std::visit(
      Overloaded{
          [](const std::string* field) { return *field; },
          [this](const bool* field) { return std::string(info_.words[*field ? 1 : 0]); },
          [this](const double* field) {
            return NumberText(*field) + (info_.seconds && *field > 0 ? "s" : "");
          },
          [](const std::vector<std::string>* field) {
            return fmt::format("{}", fmt::join(*field, ","));
          },
          [](const std::vector<float>* field) { return fmt::format("{}", fmt::join(*field, ",")); },
          [](const ActionSet* field) { return ActionsText(*field); },
          [](const ThresholdRule* field) { return ThresholdRuleText(*field); },
          [](const StopRule* field) { return StopRuleText(*field); },
          [](const WordField& field) { return std::string(field.words[field.get(field.field)]); },
          [this](const auto* field) {  // whole numbers
            const bool word = info_.automatic && *field == info_.bounds.low;
            return word ? std::string(kAuto) : fmt::format("{}", *field);
          }},
      field_);
}

Option::Value Option::value() const {
  if (const auto* field = std::get_if<bool*>(&field_);
      field != nullptr && info_.words[1] == std::string_view("true")) {
    return **field;
  }
  if (const auto* field = std::get_if<double*>(&field_)) {
    return **field;
  }
  if (const auto* field = std::get_if<int*>(&field_); field != nullptr && !info_.automatic) {
    return int64_t{**field};
  }
  if (const auto* field = std::get_if<int64_t*>(&field_)) {
    return **field;
  }
  if (const auto* field = std::get_if<uint64_t*>(&field_)) {
    return static_cast<int64_t>(**field);
  }
  return Text();
}

std::vector<std::string> Option::Words() const {
  if (const auto* field = std::get_if<WordField>(&field_)) {
    return {field->words.begin(), field->words.end()};
  }
  return type() == Type::kSwitch ? std::vector<std::string>{info_.words[1], info_.words[0]}
                                 : std::vector<std::string>();
}

std::string Option::Takes() const {
  if (info_.seconds) {
    return "a time such as 30s, 2m, 1h or 500ms, or 0 for none";
  }
  if (*info_.takes != '\0') {
    return info_.takes;
  }
  switch (type()) {
    case Type::kInteger:
    case Type::kNumber:
      return NumberRange(info_.bounds, type() == Type::kInteger);
    case Type::kSwitch:
    case Type::kWord:
      return fmt::format("{}", fmt::join(Words(), ", "));
    case Type::kText:
    case Type::kList:
      break;
  }
  return "text";
}

Error Option::OutOfRange(std::string_view value) const { return RangeError(*this, value); }

Status Option::Set(std::string_view text) {
  return std::visit(
      Overloaded{[&](WordField& field) -> Status {
                   const auto at = std::find(field.words.begin(), field.words.end(), text);
                   if (at == field.words.end()) {
                     return OutOfRange(fmt::format("'{}'", text));
                   }
                   field.set(field.field, static_cast<size_t>(at - field.words.begin()));
                   return {};
                 },
                 [&](auto* field) { return SetField(*this, text, *field); }},
      field_);
}

Status Option::Check() const {
  const auto number = [this](double value, const std::string& text) {
    return Inside(info_.bounds, value) ? Status() : Status(OutOfRange(text));
  };
  return std::visit(
      Overloaded{[&](const int* field) { return number(*field, std::to_string(*field)); },
                 [&](const int64_t* field) {
                   return number(static_cast<double>(*field), std::to_string(*field));
                 },
                 [&](const double* field) { return number(*field, NumberText(*field)); },
                 [&](const ThresholdRule* field) {
                   const bool sound =
                       field->top >= 1 && field->percentile >= 0 && field->percentile <= 100;
                   return sound ? Status()
                                : Status(OutOfRange("'" + ThresholdRuleText(*field) + "'"));
                 },
                 [&](const StopRule* field) {
                   const bool sound = field->kind != StopRule::Kind::kPosterior ||
                                      IsStopPosterior(field->posterior);
                   return sound ? Status() : Status(OutOfRange("'" + StopRuleText(*field) + "'"));
                 },
                 [](const WordField&) { return Status(); }, [](const auto*) { return Status(); }},
      field_);
}

Option* FindOption(std::span<Option> options, std::string_view name) {
  const auto at = std::find_if(options.begin(), options.end(),
                               [name](const Option& option) { return name == option.info().name; });
  return at == options.end() ? nullptr : &*at;
}

bool Given(const OptionValues& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(),
                     [name](const OptionValue& value) { return value.name == name; });
}

Result<double> ParseDuration(const std::string& name, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}}};
  std::string_view number = text;
  double scale = 1.0;
  for (const auto& [unit, seconds] : kUnits) {
    if (number.ends_with(unit)) {
      number.remove_suffix(unit.size());
      scale = seconds;
      break;
    }
  }
  double value = 0;
  const Status status = ParseNumber(name, number, "", value);
  if (!status || !std::isfinite(value * scale) || value * scale <= 0) {
    return InvalidArgument(fmt::format(
        "--{} is '{}'; it takes a time above zero such as 30s, 2m, 1h or 500ms", name, text));
  }
  return value * scale;
}

}  // namespace hyper
