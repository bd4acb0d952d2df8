#include "apps/hyper/printers/inspect_text.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

StoredPath MadePath(PathId id, PathStatus status, std::optional<std::string> answer,
                    double lowest) {
  StoredPath path;
  path.path = id;
  path.status = status;
  path.answer = std::move(answer);
  path.lowest_window = lowest;
  return path;
}

StoredItem MadeItem(int voting_paths) {
  StoredItem item;
  item.answer = "4";
  item.vote_rule = "majority";
  item.voting_paths = voting_paths;
  item.paths = {
      MadePath(0, PathStatus::kFinished, "4", 9), MadePath(1, PathStatus::kPruned, "4", 5),
      MadePath(2, PathStatus::kFinished, "5", 6), MadePath(3, PathStatus::kMerged, "6", 9),
      MadePath(4, PathStatus::kFinished, std::nullopt, 9)};
  item.votes = {{"length", "5", false, 0, {{"5", 0.6, 0.6, 1, true}}},
                {"majority", "4", true, 0, {{"4", 1, 0.5, 1, true}, {"5", 1, 0.5, 1, false}}}};
  return item;
}

TEST(WhoVotedTest, EveryAnswerOfAPathThatWasNotMerged) {
  const std::vector<Voted> voted = WhoVoted(MadeItem(3));
  const std::vector<Voted> expected = {Voted::kYes, Voted::kYes, Voted::kYes, Voted::kNo,
                                       Voted::kNo};
  EXPECT_EQ(voted, expected);
}

TEST(WhoVotedTest, DeepConfLeavesOutWhatFellBelowItsThreshold) {
  StoredItem item = MadeItem(1);
  item.warmup = WarmupRecord{};
  item.warmup->has_threshold = true;
  item.warmup->threshold = 8;
  const std::vector<Voted> voted = WhoVoted(item);
  EXPECT_EQ(voted[0], Voted::kYes);
  EXPECT_EQ(voted[1], Voted::kNo);
  EXPECT_EQ(voted[2], Voted::kNo);
}

TEST(WhoVotedTest, WhatCannotBeToldIsSaidToBeUnknown) {
  const std::vector<Voted> voted = WhoVoted(MadeItem(0));
  EXPECT_EQ(voted[0], Voted::kUnknown);
  EXPECT_EQ(voted[3], Voted::kNo);
}

TEST(InspectTextTest, SaysWhyAndWhatOtherRulesChoose) {
  const StoredItem item = MadeItem(3);
  StoredQuestion question;
  question.gold = "4";
  const std::string text = InspectText(question, {StoredRun{}, ItemSummary{}}, item, false);
  EXPECT_NE(
      text.find("4 has the largest score of majority: 1.0000, 50 % of all scores, from 1 of 3 "
                "votes; next is 5"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("the scores are equal"), std::string::npos);
  EXPECT_NE(text.find("1 of 2 rules choose otherwise (length: 5)"), std::string::npos);
  EXPECT_NE(text.find("(no candidate)"), std::string::npos);
}

TEST(InspectTextTest, ARunHasNoFieldsOfAStudy) {
  StoredQuestion question;
  question.id = 1;
  question.suite = "serve";
  question.name = "run_7";
  question.text = "1 + 1 = ?";
  StoredRun run;
  run.id = 3;
  run.label = run.method = "sc";
  run.model = "qwen";
  const std::string text = InspectText(question, {run, ItemSummary{}}, MadeItem(3), false);
  EXPECT_EQ(text.rfind("run      run_7\nquestion 1 + 1 = ?\nmethod   sc, model qwen\n"
                       "answer   4\nwhy      ",
                       0),
            0U)
      << text;
}

TEST(InspectTextTest, AQuestionWithoutGoldHasNoSuchLine) {
  StoredQuestion question;
  question.id = 2;
  question.suite = "maths";
  question.name = "q2";
  question.text = "1 + 1 = ?";
  StoredRun run;
  run.id = 3;
  run.label = "wide";
  run.method = "sc";
  run.model = "qwen";
  const AnswerOverview overview{run, ItemSummary{}};
  EXPECT_EQ(InspectText(question, overview, MadeItem(3), false)
                .rfind("question #2 q2 (maths)\n         1 + 1 = ?\n"
                       "row      #3 wide (sc, model qwen), repeat 0\nanswer   4\n",
                       0),
            0U);
  question.gold = "2";
  const std::string text = InspectText(question, overview, MadeItem(3), false);
  EXPECT_NE(text.find("?\ngold     2\nrow"), std::string::npos) << text;
  EXPECT_NE(text.find("\nanswer   4 (not graded)\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace hyper::app
