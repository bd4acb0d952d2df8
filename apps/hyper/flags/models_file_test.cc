#include "apps/hyper/flags/models_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace hyper::app {
namespace {

TEST(ModelsFile, ASectionIsAModel) {
  EngineFlags common;
  common.given = {{"threads", "2"}, {"ctx", "4096"}};
  const auto models = ParseModels(R"(
[small]
model = "small.gguf"
[ "qwen2.5:7b" ]
model = 'large.gguf'
kv-budget = 65536
tensor-split = [3, 1]
plain-name = [titles, tags]
[bundled]
)",
                                  common);
  ASSERT_TRUE(models.has_value()) << models.error().message;
  ASSERT_EQ(models->size(), 3U);
  const ModelSection& small = models->at(0);
  EXPECT_EQ(small.name, "small");
  EXPECT_EQ(small.engine.model, "small.gguf");
  EXPECT_EQ(small.engine.given.size(), 2U);
  const ModelSection& large = models->at(1);
  EXPECT_EQ(large.name, "qwen2.5:7b");
  EXPECT_EQ(large.line, 4);
  EXPECT_EQ(large.plain_names, (std::vector<std::string>{"titles", "tags"}));
  EXPECT_EQ(large.engine.model, "large.gguf");
  ASSERT_EQ(large.engine.given.size(), 4U);      // the last of a name counts
  EXPECT_EQ(large.engine.given[2].name, "ctx");  // of which kv-budget is another name
  EXPECT_EQ(large.engine.given[2].text, "65536");
  EXPECT_EQ(large.engine.given[3].text, "3,1");
  const ModelSection& bundled = models->at(2);
  EXPECT_EQ(bundled.name, "bundled");
  EXPECT_EQ(bundled.line, 9);
  EXPECT_EQ(bundled.engine.model, "");
  EXPECT_TRUE(bundled.plain_names.empty());
}

TEST(ModelsFile, EntriesOfARepeatedOptionKeepTheirCommas) {
  const auto models = ParseModels("[a]\nheader = ['A: 1,2', 'B: 3']\n", {});
  ASSERT_TRUE(models.has_value()) << models.error().message;
  EXPECT_EQ(models->front().engine.given, (OptionValues{{"header", "A: 1,2"}, {"header", "B: 3"}}));
}

// What is wrong is said with its line.
std::string WrongModels(const std::string& text) {
  const auto models = ParseModels(text, {});
  return models ? "nothing" : models.error().message;
}

TEST(ModelsFile, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(WrongModels("[a]\nmodel = x\nwidth = 4\n").rfind("3: 'width = 4' is not known here", 0),
            0U);
  EXPECT_EQ(WrongModels("[a]\nmax-lanes = 4\n").rfind("2: 'max-lanes = 4' is not known here", 0),
            0U);
  EXPECT_EQ(WrongModels("model = x\n").rfind("1: 'model = x' stands in no section", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\nmodel\n").rfind("2: ", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\n[b]\n[a]\n").rfind("3: [a] is also in line 1", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\n[b]\nplain-name = a\n").rfind("2: 'a' is the name of two models", 0),
            0U);
  EXPECT_EQ(WrongModels("[a]\nplain-name = c\n[b]\nplain-name = c\n").rfind("3: 'c' is", 0), 0U);
}

TEST(ModelsFile, ANameOfASectionTwiceIsSaidSo) {
  EXPECT_EQ(WrongModels("[a]\nplain-name = a\n").rfind("1: [a] has the name 'a' twice", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\nplain-name = [c, c]\n").rfind("1: [a] has the name 'c' twice", 0),
            0U);
}

TEST(ModelsFile, ANameMeansOneModelWithOneMethod) {
  EXPECT_EQ(WrongModels("[a]\n['a:sc']\n").rfind("2: 'a:sc' also means a method of [a]", 0), 0U);
  EXPECT_EQ(WrongModels("['a:plain']\n[a]\n").rfind("1: 'a:plain' also means", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\n[b]\nplain-name = 'a:sc'\n").rfind("2: 'a:sc' also means", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\nplain-name = 'a:sc'\n").rfind("1: 'a:sc' also means", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\n['a:7b']\n['b:sc']\n"), "nothing");
}

TEST(ModelsFile, AnArrayIsForListsOnly) {
  EXPECT_EQ(WrongModels("[a]\nmodel = [x, y]\n").rfind("2: model takes one value", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\nengine = [scripted]\n").rfind("2: engine takes one value", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\nctx = [1, 2]\n").rfind("2: ctx takes one value", 0), 0U);
  EXPECT_EQ(WrongModels("[a]\ntensor-split = [1, 2]\nplain-name = [b]\n"), "nothing");
}

// The message of a file with that text.
std::string WrongFile(const std::string& text) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.File("models.toml")) << text;
  const auto models = ReadModels(folder.File("models.toml"), {});
  return models ? "nothing" : models.error().message;
}

TEST(ModelsFile, ValuesAreJudgedWhenTheFileIsRead) {
  EXPECT_NE(WrongFile("# none\n").find("has no model"), std::string::npos);
  const std::string engine = WrongFile("[a]\nengine = scripted\n[b]\nengine = gpt\n");
  EXPECT_NE(engine.find("models.toml:3: [b] --engine 'gpt' is not known"), std::string::npos)
      << engine;
  const std::string cells = WrongFile("[a]\nengine = scripted\nkv-budget = lots\n");
  EXPECT_NE(cells.find("models.toml:1: [a] "), std::string::npos) << cells;
  EXPECT_NE(cells.find("lots"), std::string::npos) << cells;
  EXPECT_EQ(WrongFile("[a]\nengine = scripted\nkv-budget = 512\n"), "nothing");
  const std::string missing = WrongFile("[a]\nengine = scripted\n[b]\nmodel = none.gguf\n");
  EXPECT_NE(missing.find("models.toml:3: [b] model file 'none.gguf' cannot be opened"),
            std::string::npos)
      << missing;
}

}  // namespace
}  // namespace hyper::app
