#include "src/eval/grade/judge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/eval/grade/study_grades.h"
#include "tests/support/recording_server.h"
#include "tests/support/scripted_clock.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

using nlohmann::json;
using test::RecordingServer;
using test::ServerReply;
using test::ServerRequest;

TEST(ReadJudgementTest, TakesTheLastVerdictAndNothingElse) {
  const auto verdict = [](const char* reply) { return ReadJudgement(reply).verdict; };
  EXPECT_EQ(verdict("They mean the same.\ncorrect: yes"), StoredVerdict::kRight);
  EXPECT_EQ(verdict("**Correct:** No."), StoredVerdict::kWrong);
  EXPECT_EQ(verdict("{\n\"reasoning\": \"x\",\n\"correct\": \"yes\"\n}"), StoredVerdict::kRight);
  EXPECT_EQ(verdict("correct: yes\nOn reflection:\ncorrect: no"), StoredVerdict::kWrong);
  EXPECT_EQ(verdict("I cannot tell"), StoredVerdict::kNotGraded);
  EXPECT_EQ(verdict("correct: perhaps"), StoredVerdict::kNotGraded);
  EXPECT_EQ(verdict("The answer is correct: it is 4. Yes."), StoredVerdict::kNotGraded);
  EXPECT_EQ(verdict(""), StoredVerdict::kNotGraded);
}

ServerReply Completion(const std::string& text) {
  return {200, json({{"choices", {{{"message", {{"content", text}}}}}}}).dump()};
}

// A study with one free-text question per answer.
class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() : store_(std::move(*Store::Open(":memory:", DatabaseMode::kCreate))) {}

  void Add(const std::string& gold, const std::optional<std::string>& answer) {
    StoredQuestion question;
    question.suite = "made";
    question.name = std::to_string(count_++);
    question.text = "What is it?";
    question.gold = gold;
    question.kind = "text";
    StoredItem item;
    item.key = {*store_.AddRun({}), *store_.AddQuestion(question), 0};
    item.answer = answer;
    EXPECT_TRUE(*store_.SaveItem(item));
  }

  StoredGrade Grade(size_t item) { return *(*store_.Items(1))[item].grade; }

  Store store_;
  int count_ = 0;
};

TEST_F(JudgeTest, JudgesWhatTheRulesLeaveOpen) {
  const RecordingServer server([](const ServerRequest& request) {
    const std::string prompt = json::parse(request.body)["messages"][0]["content"];
    if (prompt.find("[answer]\na dog") != std::string::npos) {
      return Completion("correct: no");
    }
    if (prompt.find("[answer]\nunclear") != std::string::npos) {
      return Completion("I cannot tell");
    }
    return Completion("Both are the animal.\ncorrect: yes");
  });
  Add("the cat", "The cat.");  // equal by the rules: no judge is asked
  Add("the cat", "a feline");
  Add("the cat", "a dog");
  Add("the cat", "unclear");
  Add("the cat", std::nullopt);  // wrong without a judge
  JudgeOptions judge{server.address() + "/v1/", "big", "secret"};
  const Result<GradingReport> report = GradeStudy(store_, false, &judge);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->graded, 5);
  const std::vector<ServerRequest> requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].target, "/v1/chat/completions");
  EXPECT_NE(requests[0].head.find("Authorization: Bearer secret"), std::string::npos);
  EXPECT_EQ(json::parse(requests[0].body)["model"], "big");
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kRight);
  EXPECT_EQ(Grade(1).verdict, StoredVerdict::kRight);
  EXPECT_EQ(Grade(1).grader, "judge big");
  EXPECT_EQ(Grade(2).verdict, StoredVerdict::kWrong);
  EXPECT_EQ(Grade(3).verdict, StoredVerdict::kNotGraded);
  EXPECT_EQ(Grade(4).verdict, StoredVerdict::kWrong);
  // Grading by the rules keeps what the judge said; it is not asked again either.
  EXPECT_TRUE(GradeStudy(store_, true)->changes.empty());
  EXPECT_EQ(Grade(1).verdict, StoredVerdict::kRight);
}

// The rules have graded first, as at the end of a study.
TEST_F(JudgeTest, WhatTheRulesHaveLeftOpenIsStillDue) {
  const RecordingServer server([](const ServerRequest&) { return Completion("correct: yes"); });
  Add("the cat", "a feline");
  Add("the cat", "the cat");
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  JudgeOptions judge{server.address(), "big", ""};
  const Result<GradingReport> report = GradeStudy(store_, false, &judge);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kRight);
  EXPECT_EQ(report->judged(), 1);
  EXPECT_EQ(report->judged_right, 1);
  // Nothing is due any more.
  EXPECT_EQ(GradeStudy(store_, false, &judge)->judged(), 0);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(JudgeTest, EqualAnswersAreAskedAboutOnce) {
  const RecordingServer server([](const ServerRequest&) { return Completion("correct: no"); });
  Add("the cat", "a dog");
  StoredItem again;
  again.key = {1, 1, 1};
  again.answer = "a dog";
  ASSERT_TRUE(*store_.SaveItem(again));
  JudgeOptions judge{server.address(), "big", ""};
  ASSERT_TRUE(GradeStudy(store_, false, &judge).has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kWrong);
  EXPECT_EQ(Grade(1).verdict, StoredVerdict::kWrong);
}

TEST_F(JudgeTest, AQuestionWithoutAGoldIsNotPutToAJudge) {
  const RecordingServer server([](const ServerRequest&) { return Completion("correct: yes"); });
  Add("", "a feline");
  JudgeOptions judge{server.address(), "big", ""};
  ASSERT_TRUE(GradeStudy(store_, false, &judge).has_value());
  EXPECT_TRUE(server.requests().empty());
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kNotGraded);
}

TEST_F(JudgeTest, WhatWasJudgedBeforeAFailureStays) {
  const RecordingServer server([](const ServerRequest& request) {
    const std::string prompt = json::parse(request.body)["messages"][0]["content"];
    return prompt.find("a dog") == std::string::npos ? Completion("correct: yes")
                                                     : ServerReply{401, "who are you?"};
  });
  Add("the cat", "a feline");
  Add("the cat", "a dog");
  JudgeOptions judge{server.address(), "big", ""};
  const Result<GradingReport> report = GradeStudy(store_, false, &judge);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("who are you?"), std::string::npos);
  EXPECT_NE(report.error().message.find("1 answers judged before"), std::string::npos);
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kRight);
}

TEST_F(JudgeTest, WithoutAJudgeFreeTextIsNotGraded) {
  Add("the cat", "a feline");
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kNotGraded);
}

TEST_F(JudgeTest, AJudgeThatFailsIsNoVerdict) {
  Add("the cat", "a feline");
  const std::pair<ServerReply, ErrorCode> replies[] = {
      {{500, "no"}, ErrorCode::kUnavailable},
      {{401, "no"}, ErrorCode::kUnavailable},
      {{200, "<html>"}, ErrorCode::kDataLoss},
      {{200, R"({"choices": []})"}, ErrorCode::kDataLoss},
  };
  test::ScriptedClock clock;
  for (const auto& [reply, code] : replies) {
    const RecordingServer server([&reply = reply](const ServerRequest&) { return reply; });
    JudgeOptions judge{server.address(), "", ""};
    judge.clock = &clock;
    EXPECT_EQ(GradeStudy(store_, false, &judge).error().code, code) << reply.body;
  }
  EXPECT_FALSE((*store_.Items(1))[0].grade.has_value());
  // A thinking model that ran out has null content: not graded, not wrong.
  const RecordingServer server([](const ServerRequest&) {
    return ServerReply{200, R"({"choices": [{"message": {"content": null}}]})"};
  });
  JudgeOptions judge{server.address(), "", ""};
  ASSERT_TRUE(GradeStudy(store_, false, &judge).has_value());
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kNotGraded);
}

TEST_F(JudgeTest, ABusyJudgeIsAskedAgainAsItWishes) {
  Add("the cat", "a feline");
  int calls = 0;
  const RecordingServer server([&](const ServerRequest&) -> ServerReply {
    return ++calls == 1 ? ServerReply{429, "slow down", {"Retry-After: 20"}}
                        : Completion("correct: yes");
  });
  test::ScriptedClock clock;
  JudgeOptions judge{server.address(), "", ""};
  judge.clock = &clock;
  ASSERT_TRUE(GradeStudy(store_, false, &judge).has_value());
  EXPECT_EQ(Grade(0).verdict, StoredVerdict::kRight);
  EXPECT_EQ(calls, 2);
  EXPECT_GE(clock.Now(), 20);
}

}  // namespace
}  // namespace hyper::eval
