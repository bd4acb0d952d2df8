#include "src/engine/remote/wire/sse.h"

#include <gtest/gtest.h>

namespace hyper::remote {
namespace {

std::vector<std::string> DataOf(std::string_view bytes, size_t step) {
  SseParser parser;
  std::vector<SseParser::Event> events;
  for (size_t at = 0; at < bytes.size(); at += step) {
    EXPECT_TRUE(parser.Feed(bytes.substr(at, step), events));
  }
  parser.Finish(events);
  std::vector<std::string> data;
  data.reserve(events.size());
  for (const SseParser::Event& event : events) {
    data.push_back(event.data);
  }
  return data;
}

struct Case {
  const char* name;
  std::string bytes;
  std::vector<std::string> data;
};

// However the network cuts the stream, the events are the same.
TEST(Sse, AllFormsInPiecesOfAnySize) {
  const std::vector<Case> cases = {
      {"plain", "data: a\n\ndata: b\n\n", {"a", "b"}},
      {"no space after the colon", "data:a\n\ndata:  b\n\n", {"a", " b"}},
      {"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"}},
      {"CR alone", "data: a\r\rdata: b\r\r", {"a", "b"}},
      {"comments", ": OPENROUTER PROCESSING\n\ndata: a\n: ping\n\n:\n\n", {"a"}},
      {"several data lines", "data: a\ndata: b\n\n", {"a\nb"}},
      {"other fields", "event: x\nid: 1\nretry: 5\ndata: a\n\n", {"a"}},
      {"no final blank line", "data: a\n\ndata: b\n", {"a", "b"}},
      {"no final line end", "data: a\n\ndata: b", {"a", "b"}},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "data: a\n\n",
       {"a"}},
      {"empty data", "data:\n\ndata\n\n", {"", ""}},
      {"nothing", "\n\n\n", {}},
      {"UTF-8", "data: \xE4\xBD\xA0\xF0\x9F\x8C\x8D\n\n", {"\xE4\xBD\xA0\xF0\x9F\x8C\x8D"}},
  };
  for (const Case& entry : cases) {
    for (size_t step = 1; step <= entry.bytes.size(); ++step) {
      EXPECT_EQ(DataOf(entry.bytes, step), entry.data) << entry.name << " in steps of " << step;
    }
  }
}

TEST(Sse, NamesAreKeptAndOldErrorsAreNamed) {
  SseParser parser;
  std::vector<SseParser::Event> events;
  ASSERT_TRUE(parser.Feed("event: error\ndata: {}\n\nerror: {\"code\":1}\n\ndata: a\n\n", events));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].name, "error");
  EXPECT_EQ(events[1].name, "error");
  EXPECT_EQ(events[1].data, "{\"code\":1}");
  EXPECT_EQ(events[2].name, "");
}

TEST(Sse, AnEndlessEventIsRefused) {
  SseParser parser(100);
  std::vector<SseParser::Event> events;
  const std::string piece = "data: " + std::string(60, 'x') + "\n";
  EXPECT_TRUE(parser.Feed(piece, events));
  EXPECT_FALSE(parser.Feed(piece, events));
  EXPECT_FALSE(parser.Feed("\n\n", events));
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace hyper::remote
