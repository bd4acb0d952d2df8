// The flags of an option table: one for each row, read as text and put into the fields later, so
// that a value is judged by the same words wherever it comes from.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/option.h"
#include "hyper/options.h"
#include "hyper/result.h"

namespace CLI {
class App;
}

namespace hyper::app {

// Adds a flag for each option but those of `without`. What is given lands in `given`, in its order;
// help shows the field's value as default. `app` and `given` must outlive the parse.
void AddOptionFlags(CLI::App& app, const std::vector<Option>& options, OptionValues& given,
                    std::initializer_list<std::string_view> without = {});

// The rows of a table that have these names.
std::vector<Option> Only(std::vector<Option> options,
                         std::initializer_list<std::string_view> names);

// An option as the short help has it.
struct EverydayOption {
  const char* name;       // with its dashes
  const char* help = "";  // empty: that of the whole help
};

// `everyday`, where an entry without words gets the short ones of its row, if the row has any.
std::vector<EverydayOption> WithBriefHelp(std::span<const EverydayOption> everyday,
                                          const std::vector<Option>& options);

// The flags of a method's options, with the default of each preset in the help.
void AddMethodFlags(CLI::App& app, OptionValues& given);

// Puts the given values into the options that have their names; others are left alone. The value of
// a file option is read from the file. Errors: kInvalidArgument, those of the file.
Status ApplyFlags(const OptionValues& given, std::vector<Option> options);

}  // namespace hyper::app
