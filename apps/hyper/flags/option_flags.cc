#include "apps/hyper/flags/option_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/hyper/input/read_text.h"
#include "apps/hyper/printers/help_text.h"

namespace hyper::app {
namespace {

const char* TypeName(const Option& option) {
  if (option.info().seconds) {
    return "TIME";
  }
  if (option.info().file) {
    return "FILE";
  }
  switch (option.type()) {
    case Option::Type::kInteger:
      return "N";
    case Option::Type::kNumber:
      return "X";
    case Option::Type::kSwitch:
      return option.info().words[1] == std::string_view("true") ? "BOOL" : "WORD";
    case Option::Type::kList:
      return option.info().repeated ? "TEXT" : "LIST";
    case Option::Type::kWord:
    case Option::Type::kText:
      break;
  }
  return "WORD";
}

void AddFlag(CLI::App& app, const Option& option, const std::string& help, OptionValues& given) {
  const std::string name = option.info().name;
  const std::string alias = option.info().alias;
  const std::string short_name = name == "width" ? "-n," : "";
  const auto take = [&given, name](const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      given.emplace_back(name, value);
    }
  };
  app.add_option_function<std::vector<std::string>>(
         short_name + "--" + name + (alias.empty() ? "" : ",--" + alias), take, help)
      ->type_name(TypeName(option))
      ->option_text(fmt::format("{}", fmt::join(option.Words(), " ")))  // for completions
      ->group(*option.info().group != '\0' ? option.info().group : "Options")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(option.info().repeated ? CLI::MultiOptionPolicy::TakeAll
                                                   : CLI::MultiOptionPolicy::Throw);
}

}  // namespace

void AddOptionFlags(CLI::App& app, const std::vector<Option>& options, OptionValues& given,
                    std::initializer_list<std::string_view> without) {
  for (const Option& option : options) {
    const OptionInfo& info = option.info();
    if (std::find(without.begin(), without.end(), info.name) != without.end()) {
      continue;
    }
    const std::string words = fmt::format("{}", fmt::join(option.Words(), ", "));
    const std::string value = option.Text();
    AddFlag(app, option,
            fmt::format("{}{} [{}]", info.help, words.empty() ? "" : " (" + words + ")",
                        value.empty() ? "none" : value),
            given);
  }
}

std::vector<Option> Only(std::vector<Option> options,
                         std::initializer_list<std::string_view> names) {
  std::erase_if(options, [names](const Option& option) {
    return std::find(names.begin(), names.end(), option.info().name) == names.end();
  });
  return options;
}

std::vector<EverydayOption> WithBriefHelp(std::span<const EverydayOption> everyday,
                                          const std::vector<Option>& options) {
  std::vector<EverydayOption> filled(everyday.begin(), everyday.end());
  for (EverydayOption& one : filled) {
    for (const Option& option : options) {
      if (*one.help == '\0' && option.info().name == std::string_view(one.name).substr(2)) {
        one.help = option.info().brief_help;
      }
    }
  }
  return filled;
}

void AddMethodFlags(CLI::App& app, OptionValues& given) {
  MethodOptions paper = *Preset("paper");
  MethodOptions brief = *Preset("short");
  const std::vector<Option> options = OptionsOf(paper);
  const std::vector<Option> briefs = OptionsOf(brief);
  const OptionTexts autos = AutoTexts("hyper");
  for (size_t i = 0; i < options.size(); ++i) {
    AddFlag(app, options[i], MethodOptionHelp(options[i], briefs[i], autos), given);
  }
}

Status ApplyFlags(const OptionValues& given, std::vector<Option> options) {
  for (const OptionValue& value : given) {
    Option* option = FindOption(options, value.name);
    if (option == nullptr) {
      continue;
    }
    std::string text = value.text;
    if (option->info().file) {
      Result<std::string> read = ReadText(value.text);
      if (!read) {
        return read.error();
      }
      text = std::move(*read);
    }
    if (Status status = option->Set(text); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper::app
