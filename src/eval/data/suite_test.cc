#include "src/eval/data/suite.h"

#include <gtest/gtest.h>

#include <set>

#include "hyper/options.h"
#include "src/eval/data/bundled.h"

namespace hyper::eval {
namespace {

const char* const kSmall = R"({"name": "s", "title": "t", "answer": "math", "prompt": "{question}",
                               "step_delimiter": "\n", "preset": "paper")";

std::string With(const std::string& more) { return kSmall + more + "}"; }

TEST(SuiteTest, ThePapersSuitesAndTinymathAreBundled) {
  EXPECT_EQ(SuiteNames(), (std::vector<std::string>{"aime24", "aime25", "arc-c", "arc-e", "gsm8k",
                                                    "hle", "hmmt25", "math500", "tinymath"}));
}

TEST(SuiteTest, EveryBundledSuiteIsWhole) {
  for (const std::string& name : SuiteNames()) {
    const Result<Suite> suite = LoadSuite(name);
    ASSERT_TRUE(suite.has_value()) << suite.error().message;
    EXPECT_EQ(suite->name, name);
    EXPECT_TRUE(suite->hub.has_value() || !suite->files.empty()) << name;
    EXPECT_FALSE(suite->step_delimiter.empty()) << name;
    EXPECT_TRUE(suite->preset == "paper" || suite->preset == "short") << name;
    std::set<std::string> known;
    MethodOptions options;
    for (const Option& option : OptionsOf(options)) {
      known.insert(option.info().name);
    }
    for (const auto& [option, value] : suite->options) {
      EXPECT_EQ(known.count(option), 1U) << name << " sets " << option;
      EXPECT_FALSE(value.empty());
    }
    for (const SuiteFile& file : suite->files) {
      EXPECT_TRUE(FindBundledFile(file.path).has_value()) << file.path;
    }
    if (suite->kind == AnswerKind::kChoice) {
      EXPECT_NE(suite->prompt.find("{options}"), std::string::npos) << name;
    }
  }
}

TEST(SuiteTest, AnUnknownNameListsTheNames) {
  const Result<Suite> suite = LoadSuite("gms8k");
  ASSERT_FALSE(suite.has_value());
  EXPECT_EQ(suite.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(suite.error().message.find("gsm8k"), std::string::npos);
  EXPECT_EQ(LoadSuite("missing.json").error().code, ErrorCode::kNotFound);
}

TEST(SuiteTest, DefaultsFitTheShapesInUse) {
  const Result<Suite> suite = ParseSuite(With(""), "x.json");
  ASSERT_TRUE(suite.has_value()) << suite.error().message;
  EXPECT_EQ(suite->question_fields, (std::vector<std::string>{"question", "problem", "prompt"}));
  EXPECT_EQ(suite->answer_fields.back(), "solution");
  EXPECT_FALSE(suite->range.has_value());
}

TEST(SuiteTest, MistakesAreNamed) {
  const std::pair<std::string, std::string> mistakes[] = {
      {With(R"(, "colour": "red")"), "\"colour\""},
      {With(R"(, "range": [9, 1])"), "\"range\""},
      {With(R"(, "range": ["a", "b"])"), "\"range\""},
      {With(R"(, "options": {"width": 8})"), "\"options\""},
      {With(R"(, "leave_out": "image")"), "\"leave_out\""},
      {With(R"(, "leave_out": [])"), "\"leave_out\""},
      {With(R"(, "hub": {"dataset": "a/b", "config": "c"})"), "\"split\""},
      {With(R"(, "hub": {"dataset": "a/b", "config": "c", "split": "d", "gated": 1})"),
       "\"gated\""},
      {With(R"(, "files": [{"path": "p", "split": "s"}])"), "\"group\""},
      {With(R"(, "fields": {"questions": ["q"]})"), "\"questions\""},
      {With(R"(, "row_kind": {"field": "f", "values": {"x": "number"}})"), "number"},
      {R"({"title": "t"})", "\"name\""},
      {"[]", "JSON object"},
      {"{", "not valid JSON"},
  };
  for (const auto& [text, word] : mistakes) {
    const Result<Suite> suite = ParseSuite(text, "x.json");
    ASSERT_FALSE(suite.has_value()) << text;
    EXPECT_EQ(suite.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(suite.error().message.find(word), std::string::npos) << suite.error().message;
    EXPECT_NE(suite.error().message.find("x.json"), std::string::npos) << suite.error().message;
  }
}

TEST(SuiteTest, APromptWithoutTheQuestionIsRefused) {
  std::string text = With("");
  text.replace(text.find("{question}"), 10, "{quest}");
  EXPECT_FALSE(ParseSuite(text, "x").has_value());
  text = With("");
  text.replace(text.find("\"math\""), 6, "\"maths\"");
  EXPECT_FALSE(ParseSuite(text, "x").has_value());
}

}  // namespace
}  // namespace hyper::eval
