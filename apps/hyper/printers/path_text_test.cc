#include "apps/hyper/printers/path_text.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_paths.h"

namespace hyper::app {
namespace {

TEST(PlainText, KeepsLinesAndEscapesWhatATerminalObeys) {
  EXPECT_EQ(PlainText("a\n\nb\r\n\tc"), "a\n\nb\n    c");
  EXPECT_EQ(PlainText("\x1b[2J\x07"), "\\x1B[2J\\x07");
  EXPECT_EQ(PlainText("\xC3\xA8\xFF"), "\xC3\xA8\\xFF");
  EXPECT_EQ(PlainText(""), "");
}

TEST(PathText, FoldsTheReasoningAndKeepsTheAnswer) {
  const std::string text = "<think>one two\nthree\nfour\nfive\nsix</think>\nIt is 6.\nSure.";
  EXPECT_EQ(PathText(text, "q", /*whole=*/false),
            "[3 words of reasoning before; --show winner prints them]\nfour\nfive\nsix\n\n"
            "It is 6.\nSure.\n");
  EXPECT_EQ(PathText(text, "q", /*whole=*/true),
            "one two\nthree\nfour\nfive\nsix\n\nIt is 6.\nSure.\n");
  EXPECT_EQ(PathText("<think>a\nb\nc</think>d", "q", false), "a\nb\nc\n\nd\n");
  EXPECT_EQ(PathText("plain", "q", false), "plain\n");
  EXPECT_EQ(PathText("", "q", false), "");
}

TEST(PathText, CutsALongLineOfReasoningAtAWord) {
  std::string line;
  for (int i = 0; i < 100; ++i) {
    line += "word ";
  }
  const std::string text = PathText(line + "end</think>7", "q <think>", false);
  EXPECT_EQ(text.rfind("[53 words of reasoning before", 0), 0U) << text;
  const size_t shown = text.find("\nword");
  EXPECT_EQ(text.find("\n\n7\n") - shown - 1, 47 * 5 + 3U) << text;
}

// Two paths write "aaaa=1" and "bbbb=2"; the second one to be opened is the surer.
class Leader : public testing::Test {
 protected:
  void Start(const std::string& method) {
    options_ = *Preset("short");
    options_.width = 2;
    session_ = ScriptedSession(engine_, method, options_);
    driver_.Add(session_.get());
  }
  std::string Step() {
    EXPECT_TRUE(driver_.Step(0).ok());
    return leader_.Next(session_->pool());
  }

  FakeEngine engine_{ScriptedOptions([](uint64_t key, std::string_view written, int) {
    const bool first = PathIndexOf(key) == 0;
    const std::string text = first ? "aaaa=1$" : "bbbb=2$";
    return ScriptedNext{text[std::min(written.size(), text.size() - 1)], first ? 5.0F : 9.0F};
  })};
  MethodOptions options_;
  std::unique_ptr<Session> session_;
  Driver driver_{engine_};
  LeaderText leader_;
};

TEST_F(Leader, IsTheSurestAndStaysToItsEnd) {
  Start("sc");
  std::string text;
  while (!driver_.idle()) {
    text += Step();
  }
  EXPECT_EQ(text, "bbbb=2");
  EXPECT_TRUE(leader_.shown(session_->pool().path(1)));
  EXPECT_FALSE(leader_.shown(session_->pool().path(0)));
}

TEST_F(Leader, IsFollowedByTheNextWhereItIsLost) {
  Start("sc");
  std::string text;
  while (text.size() < 3) {
    text += Step();
  }
  session_->pool().Finish(1, PathStatus::kPruned, "test");
  while (!driver_.idle()) {
    text += Step();
  }
  EXPECT_EQ(text, "bbb\n[path 1 was pruned; path 0 leads]\naaaa=1");
}

}  // namespace
}  // namespace hyper::app
