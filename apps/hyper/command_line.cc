#include "apps/hyper/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/command_table.h"
#include "apps/hyper/printers/help_text.h"
#include "apps/hyper/secret.h"
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

void List(const CLI::App& app, ListedCommand& listed) {
  listed.footer = app.get_footer();
  AddOptionsOf(app, "", listed);
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
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
      if (!option.of_subcommand) {
        names.push_back(option.long_name);
        names.insert(names.end(), option.other_names.begin(), option.other_names.end());
      }
    }
  }
  return names;
}

// A TOML file of options: those at the top and those of one command.
class ConfigSections : public CLI::ConfigTOML {
 public:
  ConfigSections(const CLI::App& app, std::string command)
      : app_(app), command_(std::move(command)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> mine;
    std::map<std::string, std::vector<std::string>> names;  // by section
    for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input)) {
      if (item.name == "++" || item.name == "--") {  // of a section
        continue;
      }
      const std::string section = item.parents.empty() ? "" : item.parents.front();
      if ((section.empty() || section == command_) &&
          app_.get_option_no_throw("--" + item.name) != nullptr) {
        item.parents.clear();
        mine.push_back(std::move(item));
        continue;
      }
      // Of others: their parsers are made only now, since that takes as long as a start does.
      if (!names.contains(section)) {
        names[section] = NamesOfSection(section);
      }
      const std::vector<std::string>& known = names[section];
      if (std::find(known.begin(), known.end(), item.name) == known.end()) {
        throw CLI::ConfigError((section.empty() ? "" : "[" + section + "] ") + item.name +
                               " of the config file is not an option" +
                               DidYouMean(item.name, known));
      }
    }
    return mine;
  }

 private:
  const CLI::App& app_;
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

// Words on the first option that is not known; empty where the error is another.
std::string UnknownOption(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("-") || name == "--" || name == "-") {
      continue;
    }
    return fmt::format("option '{}' is not known{}", name, DidYouMean(name, LongNames(app, "--")));
  }
  return "";
}

// Words on the subcommand that is missing or not known; empty where the command has none.
std::string MissingPart(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(part->get_name());
  }
  if (names.empty() || !app.get_subcommands().empty()) {
    return "";
  }
  const std::vector<std::string> rest = app.remaining();
  const std::string known = fmt::format("it takes {}", fmt::join(names, " or "));
  return rest.empty() ? known
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
