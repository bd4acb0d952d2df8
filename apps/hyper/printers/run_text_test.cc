#include "apps/hyper/printers/run_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/scripted_paths.h"

namespace hyper::app {
namespace {

TEST(Grouped, PutsACommaBeforeEachThree) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-1234), "-1,234");
  EXPECT_EQ(Grouped(-123), "-123");
}

TEST(FinishLine, ShowsUnknownNumbersAndEscapesAnswers) {
  FinishRecord record;
  record.path = 3;
  record.status = PathStatus::kPruned;
  record.tokens = 17;
  record.answer = "a\nb";
  record.tentative = true;
  record.confidence = std::numeric_limits<double>::quiet_NaN();
  record.lowest_window = 2.345;
  const std::string line = FinishLine(record);
  EXPECT_NE(line.find("pruned"), std::string::npos);
  EXPECT_NE(line.find("   17 tokens"), std::string::npos);
  EXPECT_NE(line.find("confidence     -"), std::string::npos) << line;
  EXPECT_NE(line.find("a\\nb (tentative)"), std::string::npos) << line;
  record.answer.clear();
  record.tentative = false;
  EXPECT_NE(FinishLine(record).find("no answer"), std::string::npos);
}

TEST(ActionText, ShowsAnExpansionOnlyWhereThereWasOne) {
  DecisionRecord record;
  record.action = Action::kBranch;
  record.expansion = 3;
  record.paths_before = 2;
  record.lanes_after = 2;
  EXPECT_EQ(ActionText(record), "branch");
  record.lanes_after = 6;
  record.acted = true;
  EXPECT_EQ(ActionText(record), "branch x3");
}

// Six paths write "x=7" or "x=8", three each.
class RunText : public testing::Test {
 protected:
  std::string Text(int64_t budget_tokens) {
    FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int) {
      const char answer = key % 2 == 0 ? '7' : '8';
      const std::string_view rest[] = {"x", "=", std::string_view(&answer, 1), "$"};
      return ScriptedNext{rest[std::min<size_t>(written.size(), 3)][0]};
    }));
    MethodOptions options = *Preset("short");
    options.width = 6;
    options.vote.rule = VoteRule::kMajority;
    SessionLimits limits;
    limits.budget_tokens = budget_tokens;
    auto session = ScriptedSession(engine, "sc", options, 1 << 20, limits);
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    RunSetup setup;
    setup.method = "sc";
    setup.model.name = "fake";
    setup.preset = "short";
    setup.determinism = "strict";
    setup.seed = 12;
    setup.seed_drawn = true;
    const std::vector<Record> records = session->pool().TakeRecords();
    const std::vector<std::string> warnings;
    return RunToText({setup, *session, records, warnings, 0.5, 1.0});
  }
};

TEST_F(RunText, HasEveryPart) {
  const std::string text = Text(0);
  EXPECT_NE(text.find("6 of 6 paths voted; rule majority"), std::string::npos) << text;
  EXPECT_NE(text.find("* majority"), std::string::npos) << text;
  EXPECT_NE(text.find("paths    6: 6 finished"), std::string::npos) << text;
  EXPECT_NE(text.find("24 tokens generated, 24 effective (0 refined)"), std::string::npos) << text;
  EXPECT_NE(text.find("sc on fake, preset short, strict, seed 12 (drawn)"), std::string::npos);
  EXPECT_EQ(text.find("partial"), std::string::npos);
  EXPECT_EQ(text.find("actions"), std::string::npos) << "SC decides nothing";
}

TEST_F(RunText, SaysWhatIsMissingFromAPartialRun) {
  const std::string text = Text(6);
  EXPECT_NE(text.find("partial  the budget of 6"), std::string::npos) << text;
  EXPECT_NE(text.find("6 cancelled"), std::string::npos) << text;
}

}  // namespace
}  // namespace hyper::app
