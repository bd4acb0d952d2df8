// Help in lines of at most 80 columns.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hyper/option.h"
#include "hyper/result.h"

namespace hyper::app {

inline constexpr size_t kHelpColumns = 80;

// `text` broken at spaces into lines of at most kHelpColumns columns, each but the first with
// `indent` spaces before it; the first begins at column `indent`. A longer word keeps its line. No
// line break at the end. Pure.
std::string Wrapped(std::string_view text, size_t indent);

// An entry of a list: `name` with two spaces before it and `help` in the column beside it, or below
// where the name is long; ends with a line break. Pure.
std::string HelpEntry(std::string_view name, std::string_view help);

// Lines that start with a space stay as they are, those between them are joined and wrapped. Pure.
std::string WrappedParagraphs(std::string_view text);

// The name under which Methods() lists a method: trees stand there with one scorer of several.
// Pure.
std::string ListedName(const std::string& method);

// What preset auto makes of a method's options, by name: the value, or "chosen" where it depends on
// the model or the effort. Pure.
using OptionTexts = std::map<std::string, std::string, std::less<>>;
OptionTexts AutoTexts(const std::string& method);

// Meaning, symbol, range and default of a method's option; `paper` and `brief` are the option in
// the two presets, `autos` is AutoTexts of the method. Pure.
std::string MethodOptionHelp(const Option& paper, const Option& brief, const OptionTexts& autos);

// What a method is and the options it reads, with their ranges and defaults.
// Errors: kNotFound (no such method).
Result<std::string> MethodHelp(const std::string& method);

// All methods, a line each.
std::string MethodList();

}  // namespace hyper::app
