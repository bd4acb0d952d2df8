#include "apps/hyper/option_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "apps/hyper/parse_value.h"

namespace hyper::app {
namespace {

template <class T>
const char* TypeName(const T& /*field*/) {
  if constexpr (std::is_same_v<T, int>) {
    return "N";
  } else if constexpr (std::is_same_v<T, double>) {
    return "X";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "BOOL";
  } else {
    return "WORD";
  }
}

// The value of every option, in the order of ForEach.
std::vector<std::string> ValuesOf(const MethodOptions& options) {
  std::vector<std::string> values;
  MethodOptions::ForEach(options, [&values](const auto& field, const OptionInfo& /*info*/) {
    values.push_back(fmt::format("{}", field));
  });
  return values;
}

std::string Describe(const OptionInfo& info, const std::string& paper, const std::string& brief) {
  const std::string symbol = *info.symbol != '\0' ? fmt::format("{}; ", info.symbol) : "";
  const std::string other = paper != brief ? fmt::format("; short: {}", brief) : "";
  return fmt::format("{} ({}{}) [{}{}]", info.help, symbol, info.range, paper, other);
}

}  // namespace

void OptionFlags::AddTo(CLI::App& app) {
  const MethodOptions paper = Preset("paper").value_or({});
  const std::vector<std::string> paper_values = ValuesOf(paper);
  const std::vector<std::string> short_values = ValuesOf(Preset("short").value_or({}));
  size_t index = 0;
  MethodOptions::ForEach(paper, [&](const auto& field, const OptionInfo& info) {
    const std::string name = info.name;
    app.add_option_function<std::string>(
           "--" + name, [this, name](const std::string& value) { given_[name] = value; },
           Describe(info, paper_values[index], short_values[index]))
        ->type_name(TypeName(field))
        ->group("Method [default of preset paper; of short]");
    ++index;
  });
}

Status OptionFlags::Apply(MethodOptions& options) const {
  for (const auto& given : given_) {
    bool known = false;
    Status status;
    MethodOptions::ForEach(options, [&](auto& field, const OptionInfo& info) {
      if (given.first == info.name) {
        known = true;
        status = ParseValue(info.name, given.second, info.range, field);
      }
    });
    if (!known) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("option '{}' is not known; 'hyper run --help' lists them", given.first)};
    }
    if (!status) {
      return status;
    }
  }
  return Validate(options);
}

}  // namespace hyper::app
