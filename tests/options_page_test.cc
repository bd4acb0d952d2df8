// docs/options.md is made from the option tables: HYPER_WRITE=1 writes it anew, else it is
// compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/llama_engine.h"
#include "hyper/remote_engine.h"
#include "src/decode/ask_options.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

constexpr const char* kHead = R"(# Options

Each option is one row of a table in the library. Flags, JSON members, the OpenAPI description and
this page come from those tables. `hyper run --width 16` and `{"width": 16}` mean the same.

A value that the chosen method does not read is refused, with the methods that read it.
)";

std::string Escaped(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string Code(const std::string& text) { return text.empty() ? "" : "`" + Escaped(text) + "`"; }

// What an option takes, in a cell of at most two lines.
std::string TakesCell(const Option& option) {
  constexpr size_t kLine = 60;
  std::string cell = Escaped(option.Takes());
  const size_t comma = cell.size() > kLine ? cell.rfind(", ", kLine) : std::string::npos;
  return comma == std::string::npos ? cell : cell.replace(comma, 2, ",<br>");
}

// The options of the methods, a table for each group.
std::string MethodTables() {
  MethodOptions paper = *Preset("paper");
  MethodOptions brief = *Preset("short");
  const std::vector<Option> options = OptionsOf(paper);
  const std::vector<Option> briefs = OptionsOf(brief);
  std::string page;
  std::string group;
  for (size_t i = 0; i < options.size(); ++i) {
    const OptionInfo& info = options[i].info();
    if (group != info.group) {
      group = info.group;
      page += fmt::format(
          "\n## {}\n\n| option | paper | takes | preset `paper` | `short` | meaning |\n"
          "|---|---|---|---|---|---|\n",
          group);
    }
    const std::string other = briefs[i].Text() == options[i].Text() ? "" : briefs[i].Text();
    page += fmt::format("| {} | {} | {} | {} | {} | {} |\n", Code(info.name), Escaped(info.symbol),
                        TakesCell(options[i]), Code(options[i].Text()), Code(other),
                        Escaped(info.help));
  }
  return page;
}

// An item of a list, wrapped at 100 columns.
std::string ListItem(const std::string& text) {
  std::string item = "-";
  size_t column = item.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= 100;
    item += (fits ? " " : "\n  ") + word;
    column = (fits ? column + 1 : 2) + word.size();
  }
  return item + "\n";
}

// Which methods read an option that not all of them read.
std::string Readers() {
  std::string page =
      "\n## Who reads what\n\nOptions that are not listed here are read by every method.\n\n";
  std::vector<std::pair<std::string, std::string>> rows;
  MethodOptions defaults;
  for (const Option& option : OptionsOf(defaults)) {
    const std::string readers = fmt::format("{}", fmt::join(ReadersOf(option.info()), ", "));
    if (readers.empty()) {
      continue;
    }
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const auto& known) { return known.first == readers; });
    if (row == rows.end()) {
      rows.emplace_back(readers, Code(option.info().name));
    } else {
      row->second += ", " + Code(option.info().name);
    }
  }
  for (const auto& [readers, names] : rows) {
    page += ListItem(names + ": " + readers);
  }
  return page;
}

std::string PlainTable(const char* title, const std::vector<Option>& options) {
  std::string page =
      fmt::format("\n## {}\n\n| option | takes | default | meaning |\n|---|---|---|---|\n", title);
  for (const Option& option : options) {
    page += fmt::format("| {} | {} | {} | {} |\n", Code(option.info().name), TakesCell(option),
                        Code(option.Text()), Escaped(option.info().help));
  }
  return page;
}

TEST(OptionsPage, IsWhatTheTablesSay) {
  AskOptions question;
  LlamaOptions llama;
  RemoteOptions remote;
  const std::string page = kHead + PlainTable("Of a question", OptionsOf(question)) +
                           MethodTables() + Readers() +
                           PlainTable("Engine in this process", OptionsOf(llama)) +
                           PlainTable("Servers as the engine", OptionsOf(remote));
  const std::string path = std::string(HYPER_SOURCE_DIR) + "/docs/options.md";
  if (std::getenv("HYPER_WRITE") != nullptr) {
    std::ofstream(path) << page;
  }
  EXPECT_EQ(ReadWholeFile(path), page) << "HYPER_WRITE=1 "
                                       << "front_doors_tests writes it anew";
}

}  // namespace
}  // namespace hyper::test
