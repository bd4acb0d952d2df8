#include "apps/hyper/input/questions_file.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

TEST(ParseQuestions, TakesLinesObjectsAndRequests) {
  const Result<std::vector<OneOfMany>> all = ParseQuestions(
      "What is 1 + 1?\r\n"
      "\n"
      "{\"id\": 7, \"question\": \"Two?\"}\n"
      "{\"prompt\": \"Three?\"}\n"
      "{\"custom_id\": \"r-1\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": "
      "{\"model\": \"m\", \"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, "
      "{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"Four?\"}]}]}}");
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->size(), 4U);
  const auto expect = [&all](size_t at, const char* id, const char* question, bool openai) {
    EXPECT_EQ((*all)[at].id, id);
    EXPECT_EQ((*all)[at].messages.back().role, "user");
    EXPECT_EQ((*all)[at].messages.back().content, question);
    EXPECT_EQ((*all)[at].openai, openai);
  };
  expect(0, "1", "What is 1 + 1?", false);
  expect(1, "7", "Two?", false);
  expect(2, "4", "Three?", false);
  expect(3, "r-1", "Four?", true);
  EXPECT_EQ((*all)[3].messages.front().content, "Be brief.");
}

TEST(ParseQuestions, TakesTheSeedOfAQuestion) {
  const Result<std::vector<OneOfMany>> all = ParseQuestions(
      "{\"question\": \"a\", \"seed\": 18446744073709551615}\n"
      "{\"question\": \"b\", \"seed\": null}\n"
      "{\"custom_id\": \"c\", \"seed\": 1, \"body\": {\"seed\": 0, \"messages\": [{\"role\": "
      "\"user\", \"content\": \"c\"}]}}");
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ((*all)[0].seed, UINT64_MAX);
  EXPECT_EQ((*all)[1].seed, std::nullopt);
  EXPECT_EQ((*all)[2].seed, 0U) << "the request's, not the line's";
}

TEST(ParseQuestions, NamesTheLineThatIsWrong) {
  for (const auto& [text, words] :
       {std::pair("a\n{broken", "line 2: it begins with {"),
        std::pair("{\"id\": 1}", "line 1: the object has no question"),
        std::pair("{\"id\": 2, \"question\": \"a\"}\nb", "line 2: the id '2' appears twice"),
        std::pair("a\n{\"question\": \"b\", \"seed\": -1}", "line 2: the seed is not a whole"),
        std::pair("{\"question\": \"b\", \"seed\": 1.5}", "the seed is not a whole"),
        std::pair("{\"body\": {\"seed\": \"1\", \"messages\": []}}", "the seed is not a whole"),
        std::pair("{\"custom_id\": \"a\", \"body\": {}}", "has no messages"),
        std::pair("{\"body\": {\"messages\": [1]}}", "not an object"),
        std::pair("{\"body\": {\"messages\": [{\"role\": \"assistant\", \"content\": \"a\"}]}}",
                  "'assistant'"),
        std::pair(" \n\n", "no question")}) {
    const Result<std::vector<OneOfMany>> all = ParseQuestions(text);
    ASSERT_FALSE(all.has_value()) << text;
    EXPECT_EQ(all.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(all.error().message.find(words), std::string::npos) << all.error().message;
  }
}

TEST(AnsweredIds, StopsAtALineThatWasCutOff) {
  size_t whole = 9;
  const std::string lines =
      "{\"id\": \"1\", \"question\": \"q\"}\n{\"id\": \"x\", \"custom_id\": \"r-1\"}\n";
  EXPECT_EQ(AnsweredIds(lines + "{\"id\": \"2\"", whole),
            (std::map<std::string, std::string>{{"1", "q"}, {"r-1", ""}}));
  EXPECT_EQ(whole, lines.size());
  EXPECT_TRUE(AnsweredIds("", whole).empty());
  EXPECT_EQ(whole, 0U);
}

}  // namespace
}  // namespace hyper::app
