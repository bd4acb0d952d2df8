#include "apps/hyper/printers/run_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

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

TEST(ActionText, NamesAnActionOnlyWhereItHadAnEffect) {
  DecisionRecord record;
  record.action = Action::kBranch;
  record.expansion = 3;
  record.paths_before = 2;
  record.lanes_after = 2;
  EXPECT_EQ(ActionText(record), "none");
  record.lanes_after = 6;
  record.acted = true;
  EXPECT_EQ(ActionText(record), "branch x3");
}

// Six paths write "x=7" or "x=8", three each.
class RunText : public testing::Test {
 protected:
  std::string Text(int64_t budget_tokens, Detail detail = Detail::kAll) {
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
    first_ = session->pool().paths().front().answer;
    std::vector<Record> records = session->TakeRecords();
    if (stop_) {
      records.emplace_back(*stop_);
    }
    const std::vector<std::string> warnings;
    const RunReport report{setup, *session, records, warnings, 0.5, 1.0};
    winner_ = ShownTexts(report, "winner");
    losers_ = ShownTexts(report, "losers");
    third_ = ShownTexts(report, "3");
    EXPECT_EQ(ShownTexts(report, "6"), "");
    return ShownTexts(report, "") + RunToText(report, detail);
  }

  std::optional<StopRecord> stop_;  // added to the records
  std::string first_;               // answer of the path that was opened first
  std::string winner_;
  std::string losers_;
  std::string third_;
};

TEST_F(RunText, HasEveryPart) {
  const std::string text = Text(0);
  EXPECT_NE(text.find("6 of 6 paths voted; rule majority"), std::string::npos) << text;
  EXPECT_NE(text.find("* majority"), std::string::npos) << text;
  EXPECT_NE(text.find("paths    6: 6 finished"), std::string::npos) << text;
  EXPECT_NE(text.find("24 tokens generated, 24 effective (0 refined)"), std::string::npos) << text;
  EXPECT_NE(text.find("sc on fake, preset short, strict, seed 12 (random)"), std::string::npos);
  EXPECT_EQ(text.find("partial"), std::string::npos);
  EXPECT_EQ(text.find("actions"), std::string::npos) << "SC decides nothing";
}

TEST_F(RunText, IsTheAnswerAndThreeLines) {
  const std::string text = Text(0, Detail::kResult);
  const std::string answer = text.substr(2, 1);  // behind "x="
  EXPECT_TRUE(answer == "7" || answer == "8") << text;
  EXPECT_EQ(text, "x=" + answer + "\n\nanswer   " + answer +
                      "\nvotes    4 of 6 paths agree\n"
                      "cost     24 tokens in 6 paths; seed 12 (random); -v shows more\n");
  EXPECT_NE(winner_.find("x=" + answer + "\n"), std::string::npos) << winner_;
  const std::string other = answer == "7" ? "8" : "7";
  EXPECT_NE(losers_.find("answer " + other + ":\nx=" + other + "\n"), std::string::npos) << losers_;
  EXPECT_EQ(losers_.find("x=" + answer), std::string::npos) << losers_;
  EXPECT_EQ(third_.rfind("path 3 (finished), answer ", 0), 0U) << third_;
}

TEST_F(RunText, SaysThatItsVoteEndedTheRun) {
  const std::string line =
      "\nstop     decided at 0.968; 3 of 9 paths cancelled or not opened, about 1,200 tokens "
      "saved\n";
  EXPECT_EQ(Text(0, Detail::kResult).find("\nstop "), std::string::npos);
  stop_ = StopRecord{"7", 0.9684, "beta", 6, 9, 1, 2, 1200};
  EXPECT_NE(Text(0, Detail::kResult).find(line + "cost     24 tokens"), std::string::npos);
  EXPECT_NE(Text(0, Detail::kAll).find(line + "cost     24 tokens"), std::string::npos);
  EXPECT_EQ(Text(0, Detail::kAnswer).find("\nstop "), std::string::npos);
}

TEST_F(RunText, IsTheAnswerAloneWhereNothingElseIsWanted) {
  const std::string text = Text(0, Detail::kAnswer);
  EXPECT_EQ(text.substr(text.find("\n\n")), "\n\n" + text.substr(2, 1) + "\n");
}

SessionResult Voted(int agree, int voting) {
  SessionResult result;
  result.vote_rule = "majority";
  result.voting_paths = voting;
  if (agree > 0) {
    result.answer = "7";
    result.votes["majority"].scores = {{"7", 1.0, 1.0, agree}, {"8", 0.0, 0.0, voting - agree}};
  }
  return result;
}

TEST(AgreementText, SaysHowManyAgree) {
  EXPECT_EQ(AgreementText(Voted(17, 20)), "17 of 20 paths agree");
  EXPECT_EQ(AgreementText(Voted(11, 20)), "11 of 20 paths agree");
  EXPECT_EQ(AgreementText(Voted(10, 20)), "little agreement: 10 of 20 paths (50 %)");
  EXPECT_EQ(AgreementText(Voted(6, 20)), "little agreement: 6 of 20 paths (30 %)");
  EXPECT_EQ(AgreementText(Voted(5, 20)), "no agreement: 5 of 20 paths (25 %)");
  EXPECT_EQ(AgreementText(Voted(1, 1)), "one path answered");
  EXPECT_EQ(AgreementText(Voted(0, 0)), "no path gave an answer");
}

TEST_F(RunText, SaysWhatIsMissingFromAPartialRun) {
  const std::string text = Text(6);
  EXPECT_NE(text.find("partial  the budget of 6"), std::string::npos) << text;
  EXPECT_NE(text.find("6 cancelled"), std::string::npos) << text;
}

}  // namespace
}  // namespace hyper::app
