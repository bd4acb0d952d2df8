#include "src/eval/data/rows.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace hyper::eval {
namespace {

std::vector<std::string> Names(const Result<std::vector<DataRow>>& rows) {
  std::vector<std::string> names;
  if (!rows) {
    return {"error: " + rows.error().message};
  }
  for (const DataRow& row : *rows) {
    names.push_back(row.value.value("n", std::string()));
  }
  return names;
}

const std::vector<std::string> kThree = {"a", "b", "c"};

TEST(ParseRowsTest, ByteOrderMarkCrLfAndMissingFinalLineBreakGiveAllRows) {
  const std::string rows[] = {R"({"n":"a"})", R"({"n":"b"})", R"({"n":"c"})"};
  for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
    for (const std::string line_break : {"\n", "\r\n", "\n\n", "\r\n  \r\n"}) {
      for (const std::string& end : {std::string(), line_break}) {
        std::string text = mark;
        text.append(rows[0]).append(line_break).append(rows[1]).append(line_break);
        text.append(rows[2]).append(end);
        EXPECT_EQ(Names(ParseRows(text, "x")), kThree) << text;
      }
    }
  }
}

TEST(ParseRowsTest, UnicodeLineSeparatorsInsideAStringDoNotSplitARow) {
  const auto rows = ParseRows("{\"n\":\"a\xE2\x80\xA8z\"}\n", "x");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->front().value["n"], "a\xE2\x80\xA8z");
}

TEST(ParseRowsTest, ArraysAndHubPagesAreReadToo) {
  EXPECT_EQ(Names(ParseRows(R"([{"n":"a"}, {"n":"b"}, {"n":"c"}])", "x")), kThree);
  EXPECT_EQ(Names(ParseRows("[\n{\"n\":\"a\"},\n{\"n\":\"b\"},\n{\"n\":\"c\"}\n]", "x")), kThree);
  EXPECT_EQ(Names(ParseRows(R"({"features": [], "rows": [
      {"row_idx": 0, "row": {"n": "a"}, "truncated_cells": []},
      {"row_idx": 1, "row": {"n": "b"}}, {"row_idx": 2, "row": {"n": "c"}}]})",
                            "x")),
            kThree);
}

TEST(ParseRowsTest, ALineWithAFieldNamedRowsIsStillALine) {
  EXPECT_EQ(Names(ParseRows("{\"n\":\"a\",\"rows\":2}\n{\"n\":\"b\"}\n{\"n\":\"c\"}", "x")),
            kThree);
}

TEST(ParseRowsTest, ErrorsNameTheLine) {
  const auto broken = ParseRows("{\"n\":\"a\"}\n\n{\"n\":\n{\"n\":\"c\"}\n", "data.jsonl");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::kDataLoss);
  EXPECT_NE(broken.error().message.find("data.jsonl line 3"), std::string::npos);
  EXPECT_FALSE(ParseRows("{\"n\":\"\xFF\"}", "x").has_value());
  EXPECT_FALSE(ParseRows("{\"n\":\"a\"}\n17\n", "x").has_value());
  EXPECT_FALSE(ParseRows("[{\"n\":\"a\"}, 3]", "x").has_value());
  EXPECT_FALSE(ParseRows("[{\"n\":\"a\"}", "x").has_value());
}

TEST(ParseRowsTest, AnEmptyTextIsRefused) {
  for (const char* text : {"", "\n \r\n", "\xEF\xBB\xBF"}) {
    EXPECT_FALSE(ParseRows(text, "x").has_value());
  }
  EXPECT_TRUE(ParseRows("[]", "x").has_value());  // a set of no rows, said so
}

TEST(ParseRowsTest, APartialLastLineIsLeftOutOnlyWhereAllowed) {
  const std::string text = "{\"n\":\"a\"}\n{\"n\":\"b\"}\n{\"n\":\"c";
  const auto refused = ParseRows(text, "x");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("cut off"), std::string::npos);
  EXPECT_EQ(Names(ParseRows(text, "x", {.allow_partial_last_line = true})),
            (std::vector<std::string>{"a", "b"}));
  // A broken line that has its line break was not cut off: still an error.
  EXPECT_FALSE(ParseRows(text + "\n", "x", {.allow_partial_last_line = true}).has_value());
}

TEST(ReadWholeFileTest, MissingFilesAndDirectoriesAreNotFound) {
  EXPECT_EQ(ReadWholeFile("no/such/file").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadWholeFile(std::filesystem::temp_directory_path().string()).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper::eval
