#include "apps/hyper/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/command_table.h"
#include "apps/hyper/input/config_file.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/printers/help_text.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

// The long names of all options, with `dashes` before them.
std::vector<std::string> LongNames(const CLI::App& app, const std::string& dashes) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back(dashes + name);
    }
  }
  return names;
}

class WrappingFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    if (!is_positional && option->get_type_size() != 0 && !option->get_type_name().empty()) {
      name += " " + option->get_type_name();
    }
    return HelpEntry(name, option->get_description());
  }
  std::string make_footer(const CLI::App* app) const override {
    return WrappedParagraphs(app->get_footer());
  }
};

// What the list of a command goes to, where it is only to be listed.
ListedCommand* g_listed = nullptr;

std::vector<std::string> WordsOf(const CLI::Option& option) {
  std::vector<std::string> words;
  std::istringstream text(option.get_option_text());
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return words;
}

void AddOptionsOf(const CLI::App& app, const std::string& group, ListedCommand& listed) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> words = WordsOf(*option);
    if (option->get_lnames().empty()) {
      listed.arguments.push_back({option->get_name(), option->get_description()});
      listed.words.insert(listed.words.end(), words.begin(), words.end());
      continue;
    }
    ListedOption one;
    one.long_name = option->get_lnames().front();
    one.short_name = option->get_snames().empty() ? "" : option->get_snames().front();
    one.value = option->get_type_name();
    one.help = option->get_description();
    one.group = group.empty() ? option->get_group() : group;
    one.words = words;
    one.other_names.assign(option->get_lnames().begin() + 1, option->get_lnames().end());
    one.of_subcommand = !group.empty();
    const bool there =
        std::any_of(listed.options.begin(), listed.options.end(),
                    [&one](const ListedOption& other) { return other.long_name == one.long_name; });
    if (!there) {
      listed.options.push_back(std::move(one));
    }
  }
}

// The subcommands that a command may be given, such as `get` of `hyper data`.
std::vector<const CLI::App*> PartsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void List(const CLI::App& app, ListedCommand& listed) {
  listed.footer = app.get_footer();
  AddOptionsOf(app, "", listed);
  for (const CLI::App* part : PartsOf(app)) {
    listed.words.push_back(part->get_name());
    listed.arguments.push_back({part->get_name(), part->get_description()});
    AddOptionsOf(*part, "Options of " + part->get_name(), listed);
  }
}

// The names that a section of the config file may hold: all options of the command, or of all
// commands where it has no name.
std::vector<std::string> NamesOfSection(const std::string& section) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    const std::string name = command.name;
    if (name == "help" || (!section.empty() && section != name)) {
      continue;  // help has no options, and would print
    }
    for (const ListedOption& option : ListOptions(command).options) {
      const bool of_the_line =
          option.long_name == "config" || option.long_name.rfind("help", 0) == 0;
      if (!option.of_subcommand && !of_the_line) {
        names.push_back(option.long_name);
        names.insert(names.end(), option.other_names.begin(), option.other_names.end());
      }
    }
  }
  return names;
}

// Gives an option what the config file says. Errors: CLI::ParseError where it does not take that.
void Give(CLI::Option& option, const ConfigEntry& entry) {
  const bool is_switch = option.get_expected_max() == 0;
  const std::string value = entry.values.size() == 1 ? entry.values.front() : "";
  if (is_switch && value != "true" && value != "false") {
    throw CLI::ConversionError("it takes true or false", CLI::ExitCodes::ConversionError);
  }
  if (entry.is_array && option.get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll) {
    throw CLI::ConversionError("it takes one value; leave the brackets out",
                               CLI::ExitCodes::ConversionError);
  }
  if (!is_switch || value == "true") {
    option.add_result(entry.values);
    option.run_callback();
  }
}

// Puts the options of the config file that the command line leaves open into the parser itself, so
// that an error has the line: those of the command's section before those at the top.
class ConfigSections : public CLI::ConfigTOML {
 public:
  ConfigSections(CLI::App& app, std::string command) : app_(app), command_(std::move(command)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& /*input*/) const override {
    const CLI::Option* all = app_.get_help_all_ptr();
    if (!app_.get_help_ptr()->empty() || (all != nullptr && !all->empty())) {
      return {};  // help comes whatever the file holds
    }
    const auto file = app_.get_config_ptr()->as<std::string>();
    const Result<std::string> text = ReadText(file);
    if (!text) {
      throw CLI::ConfigError(text.error().message);
    }
    const Result<std::vector<ConfigEntry>> entries = ParseConfig(*text);
    if (!entries) {
      throw CLI::ConfigError(file + ":" + entries.error().message);
    }
    CheckOthers(file, *entries);
    std::set<std::string> taken;
    for (const std::string& section : {command_, std::string()}) {
      for (const ConfigEntry& entry : *entries) {
        if (entry.section == section && taken.insert(entry.name).second) {
          Take(file, entry);
        }
      }
    }
    return {};
  }

 private:
  // Null where the command has none of that name.
  CLI::Option* OptionOf(const ConfigEntry& entry) const {
    CLI::Option* option = app_.get_option_no_throw("--" + entry.name);
    return option != nullptr && option->get_configurable() ? option : nullptr;
  }

  // Refuses what no command takes. The parsers of other commands are made only where an entry is
  // theirs, since that takes as long as a start does.
  void CheckOthers(const std::string& file, const std::vector<ConfigEntry>& entries) const {
    std::map<std::string, std::vector<std::string>> names;  // by section
    for (const ConfigEntry& entry : entries) {
      const std::string& section = entry.section;
      if ((section.empty() || section == command_) && OptionOf(entry) != nullptr) {
        continue;
      }
      const std::string place = fmt::format("{}:{}: ", file, entry.line);
      if (!section.empty() && FindCommand(section) == nullptr) {
        throw CLI::ConfigError(fmt::format("{}[{}] is not a command{}; 'hyper --help' lists them",
                                           place, section, DidYouMean(section, CommandNames())));
      }
      if (!names.contains(section)) {
        names[section] = NamesOfSection(section);
      }
      const std::vector<std::string>& known = names[section];
      if (std::find(known.begin(), known.end(), entry.name) == known.end()) {
        throw CLI::ConfigError(fmt::format(
            "{}{}: '{}' is not an option of {}{}; correct the line or leave it out", place,
            entry.Text(), entry.name, section.empty() ? "any command" : "hyper " + section,
            DidYouMean(entry.name, known)));
      }
    }
  }

  void Take(const std::string& file, const ConfigEntry& entry) const {
    CLI::Option* option = OptionOf(entry);
    if (option == nullptr || !option->empty()) {
      return;
    }
    try {
      Give(*option, entry);
    } catch (const CLI::ParseError& error) {
      throw CLI::ConfigError(
          fmt::format("{}:{}: {}: {}", file, entry.line, entry.Text(), error.what()));
    }
    UseConfig(file, entry);
  }

  CLI::App& app_;
  std::string command_;
};

// Takes all but the everyday options out of the help.
void HideOthers(CLI::App& app, std::span<const EverydayOption> everyday) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option == app.get_help_ptr() ||
        option == app.get_help_all_ptr()) {
      continue;
    }
    const auto at =
        std::find_if(everyday.begin(), everyday.end(),
                     [option](const EverydayOption& one) { return option->check_name(one.name); });
    option->group(at == everyday.end() ? "" : "Options");
    if (at != everyday.end() && *at->help != '\0') {
      option->description(at->help);
    }
  }
}

// Words on the first option that is not known, or the first argument that is too many; empty where
// the error is another.
std::string UnknownOption(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("-") || name == "--" || name == "-") {
      continue;
    }
    return fmt::format("option '{}' is not known{}", name, DidYouMean(name, LongNames(app, "--")));
  }
  const std::vector<std::string> words = app.remaining();
  return words.empty() ? ""
                       : fmt::format(
                             "'{}' is one argument too many; put a text of several words in "
                             "quotes",
                             OneLine(words.front()));
}

// Words on the subcommand that is missing or not known; empty where the command has none.
std::string MissingPart(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* part : PartsOf(app)) {
    names.push_back(part->get_name());
  }
  if (names.empty() || !app.get_subcommands().empty()) {
    return "";
  }
  const std::vector<std::string> rest = app.remaining();
  const std::string known = fmt::format("it takes {}", fmt::join(names, " or "));
  return rest.empty() ? "the subcommand is missing; " + known
                      : fmt::format("'{}' is not known{}; {}", rest.front(),
                                    DidYouMean(rest.front(), names), known);
}

int PrintHelp(const char* command, const std::string& text) {
  return PrintResult(command, text) ? kExitOk : kExitOutput;
}

}  // namespace

void SetUpParser(CLI::App& app, const char* command, const std::string& footer) {
  app.name(std::string("hyper ") + command);
  app.set_help_flag("-h,--help", "print this help");
  app.formatter(std::make_shared<WrappingFormatter>());
  app.footer(footer);
}

std::string ConfigFile() {
  const std::string folder = UserFolder("XDG_CONFIG_HOME", "/.config");
  return folder.empty() ? "" : folder + "/config.toml";
}

ListedCommand ListOptions(const Command& command) {
  ListedCommand listed;
  g_listed = &listed;
  (void)command.run(1, &command.name);
  g_listed = nullptr;
  return listed;
}

std::optional<int> ParseCommandLine(CLI::App& app, const char* command, int argc,
                                    const char* const* argv,
                                    std::span<const EverydayOption> everyday) {
  app.set_config("--config", ConfigFile(), "file of options in TOML [~/.config/hyper/config.toml]")
      ->type_name("FILE");
  app.config_formatter(std::make_shared<ConfigSections>(app, command));
  if (!everyday.empty()) {
    app.set_help_all_flag("--help-all", "print every option");
  }
  if (g_listed != nullptr) {
    List(app, *g_listed);
    return kExitOk;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (!everyday.empty()) {
      HideOthers(app, everyday);
    }
    return PrintHelp(command, app.help());
  } catch (const CLI::CallForAllHelp&) {
    return PrintHelp(command, app.help());
  } catch (const CLI::ConfigError& error) {
    return Complain(command, InvalidArgument(error.what()));
  } catch (const CLI::ParseError& error) {
    const std::string unknown =
        dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr     ? UnknownOption(app)
        : dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ? MissingPart(app)
                                                                     : "";
    return Complain(
        command, InvalidArgument(fmt::format("{}; 'hyper {} --help' lists what it takes",
                                             unknown.empty() ? error.what() : unknown, command)));
  }
  return std::nullopt;
}

}  // namespace hyper::app
