#include "apps/hyper/input/config_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper::app {
namespace {

std::string Message(const std::string& text) {
  const auto entries = ParseConfig(text);
  return entries ? "" : entries.error().message;
}

TEST(ConfigFile, ReadsSectionsValuesAndLines) {
  const auto entries = ParseConfig(
      "# options\n"
      "model = \"a # b.gguf\"  # a comment\r\n"
      "\n"
      "json=true\n"
      "bench.width = 5\n"
      "  [ run ]\n"
      "width = 3\n"
      "'time' = 5m\n"
      "system = 'C:\\new'\n"
      "instruction = \"a \\\"b\\\"\\n\\\\c\"\n"
      "header = [\n"
      "  \"A: 1\",  # one\n"
      "  'B: 2',\n"
      "]\n"
      "rpc = []\n"
      "name = \"\"");
  ASSERT_TRUE(entries) << entries.error().message;
  struct Row {
    std::string section;
    std::string text;
    int line;
  };
  const std::vector<Row> rows = {{"", "model = a # b.gguf", 2},
                                 {"", "json = true", 4},
                                 {"bench", "width = 5", 5},
                                 {"run", "width = 3", 7},
                                 {"run", "time = 5m", 8},
                                 {"run", "system = C:\\new", 9},
                                 {"run", "instruction = a \"b\"\n\\c", 10},
                                 {"run", "header = [A: 1, B: 2]", 11},
                                 {"run", "rpc = []", 15},
                                 {"run", "name = ", 16}};
  ASSERT_EQ(entries->size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ((*entries)[i].section, rows[i].section) << rows[i].text;
    EXPECT_EQ((*entries)[i].Text(), rows[i].text);
    EXPECT_EQ((*entries)[i].line, rows[i].line) << rows[i].text;
  }
  EXPECT_TRUE(ParseConfig("")->empty());
  EXPECT_TRUE(ParseConfig("# nothing\n\n")->empty());
}

TEST(ConfigFile, SectionsWithoutEntriesAreSectionsToo) {
  const auto sections = ParseSections("[a]\n\n[ \"b.c:7b/d\" ] # empty\nwidth = 3\n['e']");
  ASSERT_TRUE(sections) << sections.error().message;
  ASSERT_EQ(sections->size(), 3U);
  EXPECT_EQ(sections->at(0).name, "a");
  EXPECT_EQ(sections->at(1).name, "b.c:7b/d");
  EXPECT_EQ(sections->at(1).line, 3);
  EXPECT_EQ(sections->at(2).name, "e");
  EXPECT_EQ(ParseConfig("[\"b.c\"]\nwidth = 3\n")->front().section, "b.c");
  EXPECT_EQ(ParseSections("[a").error().message, Message("[a"));
}

TEST(ConfigFile, RefusesWithLineReasonAndRemedy) {
  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {"a = 1\nmodel = \"qwen.gguf\nb = 2\n",
       {"2: ", "\"qwen.gguf", "no closing quote", "end the"}},
      {"model = 'qwen.gguf", {"1: ", "'qwen.gguf", "no closing quote", "with '"}},
      {"model = qwen.gguf\"\n", {"1: ", "'\"'", "in quotes"}},
      {"system = be kind\n", {"1: ", "'kind'", "in quotes"}},
      {"instruction = \"$\\boxed{}$\"\n", {"1: ", "\\boxed", "single quotes"}},
      {"x = \"\\", {"1: ", "backslash"}},
      {"json\n", {"1: ", "'json'", "json = true"}},
      {"= 3\n", {"1: ", "'= 3'", "width = 8"}},
      {"\nwidth =  # none\n", {"2: ", "width", "no value"}},
      {"width = ]\n", {"1: ", "']'", "no value"}},
      {"[run\nwidth = 3\n", {"1: ", "'[run'", "[run]"}},
      {"[]\n", {"1: ", "'[]'", "[run]"}},
      {"[b:7b]\n", {"1: ", "'[b:7b]'", "in quotes"}},
      {"[\"b:7b]\n", {"1: ", "'[\"b:7b]'", "no section"}},
      {"\"width = 3\n", {"1: ", "'\"width = 3'", "no 'name ='"}},
      {"[run] x\n", {"1: ", "'x'", "#"}},
      {"rpc = [a, b\n\nwidth = 3\n", {"1: ", "rpc", "not closed", "]"}},
      {"rpc = [", {"1: ", "rpc", "not closed", "]"}},
      {"width = 3\n[bench]\nwidth = 4\n[run]\nwidth = 5\nwidth = 6\n",
       {"6: ", "width = 6", "line 5", "leave one"}},
  };
  for (const Case& one : cases) {
    const std::string message = Message(one.text);
    EXPECT_EQ(message.find(one.parts.front()), 0U) << one.text << ": " << message;
    for (const std::string& part : one.parts) {
      EXPECT_NE(message.find(part), std::string::npos) << one.text << ": " << message;
    }
  }
}

TEST(ConfigFile, AnErrorSaysWhereItsOptionWasSet) {
  UseConfig("c.toml", {"", "kv", {"streams"}, false, 3});
  UseConfig("c.toml", {"run", "method", {"hypr"}, false, 7});
  EXPECT_EQ(ConfigOrigin("--kv streams cannot keep equal bytes"), " (c.toml:3: kv = streams)");
  EXPECT_EQ(ConfigOrigin("use --kv"), " (c.toml:3: kv = streams)");
  EXPECT_EQ(ConfigOrigin("method 'hypr' is not known"), " (c.toml:7: method = hypr)");
  EXPECT_EQ(ConfigOrigin("method 'other' is not known"), "");
  EXPECT_EQ(ConfigOrigin("method 'hypr' takes no --kv"), " (c.toml:3: kv = streams)");
  EXPECT_EQ(ConfigOrigin("--kv-type is x"), "");
  EXPECT_EQ(ConfigOrigin("--kv-type is x; --kv is y"), " (c.toml:3: kv = streams)");
}

}  // namespace
}  // namespace hyper::app
