#include "apps/hyper/printers/shell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hyper::app {
namespace {

std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    escaped += special.find(c) != std::string_view::npos ? std::string{'\\', c} : std::string{c};
  }
  return escaped;
}

// A word of the shell in single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string{c};
  }
  return quoted + "'";
}

// The part of a help text that fits beside a completion.
std::string Brief(const std::string& help) { return help.substr(0, help.find_first_of("([;")); }

std::string Names(std::span<const ListedCommand> commands) {
  std::vector<std::string> names;
  for (const ListedCommand& command : commands) {
    names.push_back(command.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// Text of a manual page: backslashes, dashes, and no request at the start of a line.
std::string Roff(std::string_view text) {
  std::string roff;
  bool start = true;
  for (const char c : text) {
    roff += start && (c == '.' || c == '\'') ? "\\&" : "";
    roff += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string{c};
    start = c == '\n';
  }
  return roff;
}

std::string Title(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(".TH {} 1 \"\" \"hyper {}\" \"User Commands\"\n", Roff(upper), HYPER_VERSION);
}

// The groups of a command's options, in the order in which they are first there.
std::vector<std::string> Groups(const ListedCommand& command) {
  std::vector<std::string> groups;
  for (const ListedOption& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  return groups;
}

}  // namespace

std::string BashCompletion(std::span<const ListedCommand> commands) {
  std::string values;
  std::string options;
  std::string first;
  for (const ListedCommand& command : commands) {
    first += command.words.empty()
                 ? ""
                 : fmt::format("      {}) words={} ;;\n", command.name,
                               Quoted(fmt::format("{}", fmt::join(command.words, " "))));
    std::string names;
    for (const ListedOption& option : command.options) {
      names += (names.empty() ? "--" : " --") + option.long_name;
      if (!option.words.empty()) {
        values += fmt::format("    '{} --{}') words={} ;;\n", command.name, option.long_name,
                              Quoted(fmt::format("{}", fmt::join(option.words, " "))));
      }
    }
    options += fmt::format("      {}) words={} ;;\n", command.name, Quoted(names));
  }
  return fmt::format(
      R"(# bash completion of hyper; made by 'hyper complete bash'
_hyper() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  if [ -z "$words" ] && [ "${{current#-}}" != "$current" ]; then
    case "${{COMP_WORDS[1]}}" in
{}    esac
  elif [ -z "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then
    case "${{COMP_WORDS[1]}}" in
{}    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _hyper hyper
)",
      Quoted(Names(commands)), values, options, first);
}

std::string ZshCompletion(std::span<const ListedCommand> commands) {
  std::string names;
  std::string cases;
  for (const ListedCommand& command : commands) {
    names += " " + Quoted(command.name + ":" + Escaped(command.summary, ":"));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const ListedOption& option : command.options) {
      std::string spec =
          fmt::format("--{}[{}]", option.long_name, Escaped(Brief(option.help), "[]:\\"));
      if (!option.words.empty()) {
        spec += fmt::format(":value:({})", fmt::join(option.words, " "));
      } else if (!option.value.empty()) {
        spec += fmt::format(":{}:{}", option.value, option.value == "FILE" ? "_files" : " ");
      }
      cases += " \\\n        " + Quoted(spec);
    }
    if (!command.words.empty()) {
      cases += " \\\n        " + Quoted(fmt::format("1:word:({})", fmt::join(command.words, " ")));
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(
      R"(#compdef hyper
# zsh completion of hyper; made by 'hyper complete zsh'
_hyper() {{
  local -a commands
  commands=({})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_hyper "$@"
)",
      names, cases);
}

std::string FishCompletion(std::span<const ListedCommand> commands) {
  std::string text = "# fish completion of hyper; made by 'hyper complete fish'\n";
  for (const ListedCommand& command : commands) {
    text += fmt::format("complete -c hyper -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        Quoted(command.summary));
    if (!command.words.empty()) {
      text += fmt::format("complete -c hyper -n '__fish_seen_subcommand_from {}' -f -a {}\n",
                          command.name, Quoted(fmt::format("{}", fmt::join(command.words, " "))));
    }
    for (const ListedOption& option : command.options) {
      text += fmt::format("complete -c hyper -n '__fish_seen_subcommand_from {}' -l {}",
                          command.name, option.long_name);
      text += option.short_name.empty() ? "" : " -s " + option.short_name;
      text += option.value.empty() ? "" : " -r";
      text += option.words.empty()
                  ? ""
                  : " -f -a " + Quoted(fmt::format("{}", fmt::join(option.words, " ")));
      text += " -d " + Quoted(Brief(option.help)) + "\n";
    }
  }
  return text;
}

std::string CommandManual(const ListedCommand& command) {
  std::string text = Title("hyper-" + command.name);
  text += fmt::format(".SH NAME\nhyper\\-{} \\- {}\n", command.name, Roff(command.summary));
  text += fmt::format(".SH SYNOPSIS\n.B hyper {}\n[options] [arguments]\n", command.name);
  if (!command.arguments.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const ListedArgument& argument : command.arguments) {
      text += fmt::format(".TP\n.B {}\n{}\n", Roff(argument.name), Roff(argument.help));
    }
  }
  text += ".SH OPTIONS\n";
  for (const std::string& group : Groups(command)) {
    text += ".SS " + Roff(group) + "\n";
    for (const ListedOption& option : command.options) {
      if (option.group == group) {
        const std::string brief = option.short_name.empty() ? "" : "\\-" + option.short_name + ", ";
        text +=
            fmt::format(".TP\n.B {}\\-\\-{}{}\n{}\n", brief, Roff(option.long_name),
                        option.value.empty() ? "" : " " + Roff(option.value), Roff(option.help));
      }
    }
  }
  return text + ".SH NOTES\n.nf\n" + Roff(command.footer) + "\n.fi\n.SH SEE ALSO\n.BR hyper (1)\n";
}

std::string ProgramManual(std::span<const ListedCommand> commands, const std::string& help) {
  std::string text = Title("hyper");
  text += ".SH NAME\nhyper \\- test\\-time scaling of language models\n.SH DESCRIPTION\n.nf\n";
  text += Roff(help) + ".fi\n.SH SEE ALSO\n";
  for (size_t i = 0; i < commands.size(); ++i) {
    text +=
        fmt::format(".BR hyper\\-{} (1){}\n", commands[i].name, i + 1 < commands.size() ? "," : "");
  }
  return text;
}

}  // namespace hyper::app
