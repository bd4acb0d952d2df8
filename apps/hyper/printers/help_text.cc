#include "apps/hyper/printers/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/method_traits.h"
#include "src/base/utf8.h"

namespace hyper::app {
namespace {

constexpr size_t kHelpAt = 26;  // column of the second column

// Columns of a text in which every character takes one.
size_t Columns(std::string_view text) { return base::CountCharacters(text); }

std::string TraitsText(const MethodTraits& traits) {
  std::string text = fmt::format("Decides on {}s", traits.granularity);
  text += traits.adaptive ? ", adapts to what it sees" : "";
  text += traits.rigid_search ? ", searches a tree level by level" : "";
  text += traits.prunes ? ", prunes paths" : "";
  text += traits.refines_tokens ? ", refines tokens" : "";
  text += traits.aggregates ? ", votes over several paths" : "";
  return text + ".";
}

}  // namespace

std::string Wrapped(std::string_view text, size_t indent) {
  std::string wrapped;
  size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t columns = Columns(word);
    if (column > indent && column + 1 + columns > kHelpColumns) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += columns;
  }
  return wrapped;
}

std::string HelpEntry(std::string_view name, std::string_view help) {
  std::string text = "  " + std::string(name);
  const size_t columns = Columns(text);
  text += columns + 2 > kHelpAt ? "\n" + std::string(kHelpAt, ' ')
                                : std::string(kHelpAt - columns, ' ');
  return text + Wrapped(help, kHelpAt) + "\n";
}

std::string WrappedParagraphs(std::string_view text) {
  std::string wrapped;
  std::string paragraph;
  const auto flush = [&wrapped, &paragraph] {
    wrapped += paragraph.empty() ? "" : Wrapped(paragraph, 0) + "\n";
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.front() == ' ' || line.back() == ':') {
      flush();
      wrapped += std::string(line) + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  flush();
  return wrapped;
}

std::string ListedName(const std::string& method) {
  for (const MethodInfo& info : Methods()) {
    if (info.name == method) {
      return method;
    }
  }
  return method.substr(0, method.find('-')) + "-conf";
}

OptionTexts AutoTexts(const std::string& method) {
  ModelInfo base;
  ModelInfo reasoning;
  reasoning.has_chat_template = true;
  reasoning.reasons = true;
  ModelInfo brief;
  brief.preset = "short";
  const std::array<std::pair<ModelInfo, Effort>, 3> kinds = {
      {{base, Effort::kLow}, {reasoning, Effort::kHigh}, {brief, Effort::kMedium}}};
  std::map<std::string, std::set<std::string>, std::less<>> values;
  for (const auto& [model, effort] : kinds) {
    RunRequest request;
    request.method = method;
    request.automatic.effort = effort;
    if (Result<RunPlan> plan = ResolveRun(request, model)) {
      for (const Option& option : OptionsOf(plan->options)) {
        values[option.info().name].insert(option.Text());
      }
    }
  }
  OptionTexts texts;
  for (const auto& [name, words] : values) {
    texts[name] = words.size() == 1 ? *words.begin() : "chosen";
  }
  return texts;
}

std::string MethodOptionHelp(const Option& paper, const Option& brief, const OptionTexts& autos) {
  const OptionInfo& info = paper.info();
  const auto by_auto = autos.find(info.name);
  const std::string symbol = *info.symbol != '\0' ? fmt::format("{}; ", info.symbol) : "";
  const std::string value = paper.Text();
  const std::string other = brief.Text() != value ? fmt::format("; short: {}", brief.Text()) : "";
  const bool differs = by_auto != autos.end() && by_auto->second != value;
  return fmt::format("{} ({}{}) [{}{}{}]", info.help, symbol, paper.Takes(), value, other,
                     differs ? "; auto: " + by_auto->second : "");
}

Result<std::string> MethodHelp(const std::string& method) {
  RunRequest request;
  request.method = method;
  request.preset = "paper";
  Result<RunPlan> paper = ResolveRun(request, {});
  request.preset = "short";
  Result<RunPlan> brief = ResolveRun(request, {});
  if (!paper || !brief) {
    return (paper ? brief : paper).error();
  }
  const std::string listed = ListedName(method);
  std::string text;
  for (const MethodInfo& info : Methods()) {
    if (info.name == listed) {
      text = Wrapped(fmt::format("{}: {}", method, info.description), 0) + "\n";
    }
  }
  if (const Result<MethodTraits> traits = TraitsOf(method, paper->options)) {
    text += Wrapped(TraitsText(*traits), 0) + "\n";
  }
  std::string own;
  std::string common;
  const std::vector<Option> options = OptionsOf(paper->options);
  const std::vector<Option> briefs = OptionsOf(brief->options);
  const OptionTexts autos = AutoTexts(method);
  for (size_t i = 0; i < options.size(); ++i) {
    const std::vector<std::string> readers = ReadersOf(options[i].info());
    const std::string entry = HelpEntry(std::string("--") + options[i].info().name,
                                        MethodOptionHelp(options[i], briefs[i], autos));
    if (readers.empty()) {
      common += entry;
    } else if (std::find(readers.begin(), readers.end(), listed) != readers.end()) {
      own += entry;
    }
  }
  if (!own.empty()) {
    text += "\nOptions of this kind of method:\n" + own;
  }
  return text + "\nOptions of every method:\n" + common +
         fmt::format(
             "\nExample:\n  hyper run --method {} \\\n"
             "      \"Solve 5x+43=173 for x.\"\n",
             method);
}

std::string MethodList() {
  std::string text = "Methods (hyper help METHOD shows what one reads):\n";
  for (const MethodInfo& info : Methods()) {
    text += HelpEntry(info.name, info.description);
  }
  return text;
}

}  // namespace hyper::app
