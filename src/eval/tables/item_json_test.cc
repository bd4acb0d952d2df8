#include "src/eval/tables/item_json.h"

#include <gtest/gtest.h>

#include <limits>

namespace hyper::eval {
namespace {

StoredItem MadeItem() {
  StoredItem item;
  item.key = {1, 2, 3};
  item.answer = "7";
  item.vote_rule = "majority";
  item.voting_paths = 1;
  item.ledger.generated = 5;
  item.ledger.extra_routes = 2;
  item.votes = {{"majority", "7", true, 0, {{"7", 1.0, 0.5, 1, true}}}};
  StoredPath path;
  path.path = 0;
  path.text = "so \\boxed{7}";
  path.answer = "7";
  item.paths = {path};
  const float unknown = std::numeric_limits<float>::quiet_NaN();
  item.series = {{0, "confidence", 0, std::vector<float>{1.5F, unknown}},
                 {0, "token", 0, std::vector<int32_t>{11, 12}}};
  return item;
}

ItemSummary SummaryOf(const StoredItem& item) {
  ItemSummary summary;
  summary.key = item.key;
  summary.answer = item.answer;
  summary.vote_rule = item.vote_rule;
  summary.voting_paths = item.voting_paths;
  summary.ledger = item.ledger;
  summary.grade = StoredGrade{item.key, StoredVerdict::kRight, "7", "rules", ""};
  return summary;
}

TEST(ItemJsonTest, HoldsAnswerVotesAndPaths) {
  const StoredItem item = MadeItem();
  const ItemSummary summary = SummaryOf(item);
  const Json json = ItemJson({StoredRun{}, StoredQuestion{}, summary}, item, false);
  EXPECT_EQ(json["answer"], "7");
  EXPECT_EQ(json["repeat"], 3);
  EXPECT_EQ(json["grade"]["verdict"], "right");
  EXPECT_EQ(json["votes"]["majority"]["tie"], true);
  EXPECT_EQ(json["ledger"]["effective"], 7);
  EXPECT_EQ(json["paths"][0]["text"], "so \\boxed{7}");
  EXPECT_TRUE(json["paths"][0]["parent"].is_null());
  EXPECT_TRUE(json["paths"][0]["mean_confidence"].is_null());
  EXPECT_FALSE(json["paths"][0].contains("series"));
}

TEST(ItemJsonTest, SeriesOnRequestUnknownValuesNull) {
  const StoredItem item = MadeItem();
  const ItemSummary summary = SummaryOf(item);
  const Json json = ItemJson({StoredRun{}, StoredQuestion{}, summary}, item, true);
  EXPECT_EQ(json["paths"][0]["series"]["token"], Json::parse("[11,12]"));
  EXPECT_EQ(json["paths"][0]["series"]["confidence"], Json::parse("[1.5,null]"));
}

TEST(ItemJsonTest, NoAnswerIsNullNeverAWord) {
  StoredItem item = MadeItem();
  item.answer.reset();
  ItemSummary summary = SummaryOf(item);
  summary.grade.reset();
  const Json json = ItemJson({StoredRun{}, StoredQuestion{}, summary}, item, false);
  EXPECT_TRUE(json["answer"].is_null());
  EXPECT_TRUE(json["grade"].is_null());
}

TEST(ItemJsonTest, SettingsAreNumbersWhereTheyAre) {
  const StoredItem item = MadeItem();
  StoredRun run;
  run.settings = {{"width", "8"}, {"temperature", "0.8"}, {"live", "true"}, {"threshold", "top:3"}};
  const Json settings =
      ItemJson({run, StoredQuestion{}, SummaryOf(item)}, item, false)["run"]["settings"];
  EXPECT_EQ(settings["width"], 8);
  EXPECT_EQ(settings["temperature"], 0.8);
  EXPECT_EQ(settings["live"], true);
  EXPECT_EQ(settings["threshold"], "top:3");
}

}  // namespace
}  // namespace hyper::eval
