#include "src/engine/remote/wire/chunk.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyper::remote {
namespace {

Chunk Read(std::string_view json) {
  ChunkParser parser;
  Chunk chunk;
  EXPECT_TRUE(parser.Parse(json, chunk)) << json;
  return chunk;
}

TEST(Chunk, LlamaServersObjectsWithBytesAndIds) {
  const Chunk chunk = Read(R"({"choices":[{"text":"ab","index":0,"finish_reason":null,"logprobs":
    {"content":[{"id":5,"token":"ab","bytes":[97,98],"logprob":-0.25,"top_logprobs":[
      {"id":5,"token":"ab","bytes":[97,98],"logprob":-0.25},
      {"id":7,"token":"","bytes":[240,159],"logprob":-2.5}]}]}}]})");
  ASSERT_EQ(chunk.tokens.size(), 1U);
  EXPECT_EQ(chunk.tokens[0].id, 5);
  EXPECT_EQ(chunk.tokens[0].bytes, "ab");
  EXPECT_FLOAT_EQ(chunk.tokens[0].logprob, -0.25F);
  ASSERT_EQ(chunk.tokens[0].top.size(), 2U);
  EXPECT_EQ(chunk.tokens[0].top[1].bytes, "\xF0\x9F") << "bytes, not the name";
  EXPECT_TRUE(chunk.finish_reason.empty());
}

TEST(Chunk, ParallelListsWithIdsAndUsage) {
  const Chunk chunk =
      Read(R"({"choices":[{"text":" a b","token_ids":[11,12],"finish_reason":"length",
    "logprobs":{"tokens":[" a"," b"],"token_logprobs":[-0.5,null],"text_offset":[0,2],
    "top_logprobs":[{" a":-0.5," c":-1.5},null]}}],
    "usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}})");
  ASSERT_EQ(chunk.tokens.size(), 2U);
  EXPECT_EQ(chunk.tokens[0].id, 11);
  EXPECT_EQ(chunk.tokens[1].bytes, " b");
  EXPECT_EQ(chunk.tokens[0].top.size(), 2U);
  EXPECT_TRUE(chunk.tokens[1].top.empty()) << "an empty list in between is no error";
  EXPECT_EQ(chunk.finish_reason, "length");
  EXPECT_EQ(chunk.prompt_tokens, 9);
  EXPECT_EQ(chunk.cached_tokens, 8);
}

// A character split over tokens: names are U+FFFD, the text comes with the last of them.
TEST(Chunk, TheTextWinsOverNames) {
  const Chunk first = Read(R"({"choices":[{"text":"","logprobs":{"tokens":["\ufffd"],
    "token_logprobs":[-1],"top_logprobs":[{"\ufffd":-1}]}}]})");
  ASSERT_EQ(first.tokens.size(), 1U);
  EXPECT_EQ(first.tokens[0].bytes, "");
  EXPECT_EQ(first.tokens[0].name, "\xEF\xBF\xBD");
  const Chunk both =
      Read(R"({"choices":[{"text":"\ud83c\udf0d","logprobs":{"tokens":["\ufffd","\ufffd"],
    "token_logprobs":[-1,-2]}}]})");
  ASSERT_EQ(both.tokens.size(), 2U);
  EXPECT_EQ(both.tokens[0].bytes + both.tokens[1].bytes, "\xF0\x9F\x8C\x8D");
}

TEST(Chunk, AnEndTokenThatTheTextLeavesOut) {
  const Chunk chunk = Read(R"({"choices":[{"text":"}","finish_reason":"stop","logprobs":
    {"tokens":["}","<|im_end|>"],"token_logprobs":[-1,-2]}}]})");
  ASSERT_EQ(chunk.tokens.size(), 2U);
  EXPECT_EQ(chunk.tokens[0].bytes, "}");
  EXPECT_EQ(chunk.tokens[1].bytes, "");
}

TEST(Chunk, LogprobsThatAreNoNumbersAreFloored) {
  for (const char* lowest : {"-3.4028234663852886e+38", "-1e999", "null", "-Infinity"}) {
    ChunkParser parser;
    Chunk chunk;
    const std::string json =
        std::string(R"({"choices":[{"text":"x NaN","logprobs":{"tokens":["x NaN"],
      "token_logprobs":[0.0],"top_logprobs":[{"x NaN":0.0,"#":)") +
        lowest + "}]}}]}";
    if (!parser.Parse(json, chunk)) {
      EXPECT_STREQ(lowest, "-1e999") << "the only one that no parser takes";
      continue;
    }
    ASSERT_EQ(chunk.tokens.size(), 1U) << lowest;
    EXPECT_EQ(chunk.tokens[0].bytes, "x NaN") << "strings are left alone";
    EXPECT_FLOAT_EQ(chunk.tokens[0].top[1].logprob, -9999.0F) << lowest;
  }
}

// A NaN is not a low probability: it would make a token look very sure.
TEST(Chunk, NanStaysNanAndANullOfTheChosenTokenIsNone) {
  for (const char* nan : {"NaN", "Infinity", "\"nan\""}) {
    const Chunk lists = Read(std::string(R"({"choices":[{"text":"ab","logprobs":
      {"tokens":["a","b"],"token_logprobs":[)") +
                             nan + R"(,-0.5],"top_logprobs":[{"a":-0.5,"c":)" + nan +
                             R"(},{"b":-0.5,"c":-2}]}}]})");
    ASSERT_EQ(lists.tokens.size(), 2U) << nan;
    EXPECT_TRUE(std::isnan(lists.tokens[0].logprob)) << nan;
    EXPECT_TRUE(std::isnan(lists.tokens[0].top[1].logprob)) << nan;
    EXPECT_FLOAT_EQ(lists.tokens[1].top[1].logprob, -2.0F);
    const Chunk objects = Read(
        std::string(R"({"choices":[{"text":"a","logprobs":{"content":[{"token":"a","logprob":)") +
        nan + R"(,"top_logprobs":[{"token":"a","logprob":)" + nan + "}]}]}}]}");
    ASSERT_EQ(objects.tokens.size(), 1U) << nan;
    EXPECT_TRUE(std::isnan(objects.tokens[0].logprob)) << nan;
    EXPECT_TRUE(std::isnan(objects.tokens[0].top[0].logprob)) << nan;
  }
  const Chunk null = Read(R"({"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],
    "token_logprobs":[null,-1],"top_logprobs":[{"a":null},{"b":-1}]}}]})");
  EXPECT_FALSE(null.tokens[0].has_logprob);
  EXPECT_TRUE(null.tokens[1].has_logprob);
}

// Linear in the tokens: looked up by index, these lists would take longer than a test may.
TEST(Chunk, LongListsAreWalkedOnce) {
  constexpr size_t kTokens = 50'000;
  std::string names = "\"a\"";
  std::string values = "-1";
  std::string tops = "null";
  for (size_t i = 1; i < kTokens; ++i) {
    names += ",\"b\"";
    values += ",-2";
    tops += ",null";
  }
  const Chunk chunk =
      Read(R"({"choices":[{"logprobs":{"tokens":[)" + names + R"(],"token_logprobs":[)" + values +
           R"(],"top_logprobs":[)" + tops + "]}}]}");
  ASSERT_EQ(chunk.tokens.size(), kTokens);
  EXPECT_FLOAT_EQ(chunk.tokens.front().logprob, -1.0F);
  EXPECT_FLOAT_EQ(chunk.tokens.back().logprob, -2.0F);
}

TEST(Chunk, ListsOfUnequalLengthLackWhatTheShorterOnesLack) {
  const Chunk chunk = Read(R"({"choices":[{"text":"abc","logprobs":{"tokens":["a","b","c"],
    "token_logprobs":[-1,-2],"top_logprobs":[{"a":-1}]}}]})");
  ASSERT_EQ(chunk.tokens.size(), 3U);
  EXPECT_EQ(chunk.tokens[0].top.size(), 1U);
  EXPECT_FLOAT_EQ(chunk.tokens[1].logprob, -2.0F);
  EXPECT_TRUE(chunk.tokens[1].top.empty());
  EXPECT_FALSE(chunk.tokens[2].has_logprob);
}

TEST(Chunk, ErrorsInEveryForm) {
  EXPECT_EQ(Read(R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})")
                .error.code,
            503);
  EXPECT_EQ(Read(R"({"error":"out of memory"})").error.message, "out of memory");
  EXPECT_EQ(Read(R"({"object":"error","message":"too long","type":"BadRequestError","code":400})")
                .error.message,
            "too long");
  EXPECT_EQ(Read(R"({"detail":"Not Found"})").error.message, "Not Found");
  EXPECT_FALSE(Read(R"({"error":{}})").error.message.empty());
  EXPECT_TRUE(Read(R"({"choices":[],"error":null})").error.message.empty());
}

TEST(Chunk, WhatIsNoObjectIsRefused) {
  ChunkParser parser;
  Chunk chunk;
  for (const char* json : {"", "[]", "{\"choices\":", "null", "<html>502</html>"}) {
    EXPECT_FALSE(parser.Parse(json, chunk)) << json;
  }
  EXPECT_FALSE(parser.Parse({}, chunk));
}

TEST(Chunk, ChatAnswersWithReasoning) {
  const Chunk chunk =
      Read(R"({"choices":[{"delta":{"reasoning_content":"hm","content":null},"logprobs":null}]})");
  ASSERT_EQ(chunk.tokens.size(), 1U);
  EXPECT_EQ(chunk.tokens[0].bytes, "hm");
  EXPECT_FALSE(chunk.tokens[0].has_logprob);
}

TEST(Chunk, ATextBesideAnEmptyListIsKept) {
  for (const char* json :
       {R"({"choices":[{"text":"hm","logprobs":{"content":[]}}]})",
        R"({"choices":[{"delta":{"content":"hm"},"logprobs":{"content":[]}}]})"}) {
    const Chunk chunk = Read(json);
    ASSERT_EQ(chunk.tokens.size(), 1U);
    EXPECT_EQ(chunk.tokens[0].bytes, "hm");
    EXPECT_FALSE(chunk.tokens[0].has_logprob);
  }
}

// The bytes of a chat's tokens, each behind a bar, given its text, their names and its end.
std::string ChatBytes(const std::string& text, std::initializer_list<const char*> names,
                      const std::string& finish) {
  std::string list;
  for (const char* name : names) {
    list += list.empty() ? "" : ",";
    list += std::string(R"({"token":")") + name + R"(","logprob":-1,"top_logprobs":[]})";
  }
  const Chunk chunk =
      Read(R"({"choices":[{"delta":{"content":")" + text + R"("},"logprobs":{"content":[)" + list +
           R"(]},"finish_reason":)" + finish + "}]}");
  std::string bytes;
  for (const ChunkToken& token : chunk.tokens) {
    bytes += "|" + token.bytes;
  }
  return bytes;
}

TEST(Chunk, ChatTextsAndTheirTokens) {
  EXPECT_EQ(ChatBytes("a b", {"a", " b"}, "null"), "|a| b");
  EXPECT_EQ(ChatBytes("", {"<|im_end|>"}, R"("stop")"), "|") << "the end is no text";
  EXPECT_EQ(ChatBytes("}", {"}", "<|im_end|>"}, R"("stop")"), "|}|");
  EXPECT_EQ(ChatBytes("", {"</think>"}, "null"), "|</think>") << "taken out as a tag";
  EXPECT_EQ(ChatBytes("<b", {"b"}, "null"), "|<b") << "a token was held back";
  EXPECT_EQ(ChatBytes("\\ud83c\\udf0d", {"\\ufffd"}, "null"), "|\xF0\x9F\x8C\x8D");
}

}  // namespace
}  // namespace hyper::remote
