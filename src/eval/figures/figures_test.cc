// Every number of a figure, computed again from the paths by plain counting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "src/eval/figures/figure_json.h"
#include "tests/support/figure_study.h"

namespace hyper::eval {
namespace {

using FiguresTest = FigureStudy;

TEST_F(FiguresTest, PathsAreEstimatedOverAllSubsets) {
  AddSelfConsistency();
  const std::vector<FigureRow> rows = Rows("1");
  const int64_t sc = RunOf("sc");
  const std::vector<FigureRow> existence = Of(rows, "existence", "sc");
  const std::vector<FigureRow> accuracy = Of(rows, "majority", "sc");
  ASSERT_EQ(existence.size(), 4U) << "1, 2, 4 and 6 paths of one row; sc3 has the same paths";
  ASSERT_EQ(accuracy.size(), 4U);
  for (size_t i = 0; i < existence.size(); ++i) {
    const int k = std::array{1, 2, 4, 6}[i];
    EXPECT_EQ(existence[i].x, k);
    std::array<double, kRepeats> exists{};
    std::array<double, kRepeats> majority{};
    for (const StoredItem& item : items_) {
      if (item.key.run == sc) {
        const auto [there, voted] = OverSubsets(item, k);
        exists.at(static_cast<size_t>(item.key.repeat)) += there / kQuestions;
        majority.at(static_cast<size_t>(item.key.repeat)) += voted / kQuestions;
      }
    }
    ExpectOverRepeats(existence[i], exists[0], exists[1], 100);
    ExpectOverRepeats(accuracy[i], majority[0], majority[1], 100);
  }
}

TEST_F(FiguresTest, DivergenceIsTheMeanOfNormalisedCurves) {
  AddSelfConsistency();
  const std::vector<FigureRow> rows = Rows("2");
  for (const bool right : {true, false}) {
    const std::vector<FigureRow> curve = Of(rows, "sc", right ? "right" : "wrong");
    ASSERT_EQ(curve.size(), 20U);
    for (size_t place = 0; place < 20; ++place) {
      std::array<double, kRepeats> sums{};
      std::array<double, kRepeats> paths{};
      for (const StoredItem& item : items_) {
        if (item.key.run != RunOf("sc")) {
          continue;
        }
        for (size_t i = 0; i < item.paths.size(); ++i) {
          const StoredPath& path = item.paths[i];
          if ((path.answer == "1") != right) {
            continue;  // a path without an answer is a wrong one
          }
          const auto& values = std::get<std::vector<float>>(item.series[i].values);
          const size_t each = values.size() / 20;  // lengths are multiples of 20
          double sum = 0;
          for (size_t token = 0; token < each; ++token) {
            sum += static_cast<double>(values[place * each + token]);
          }
          sums.at(static_cast<size_t>(item.key.repeat)) += sum / static_cast<double>(each);
          paths.at(static_cast<size_t>(item.key.repeat)) += 1;
        }
      }
      EXPECT_NEAR(curve[place].x, (static_cast<double>(place) + 0.5) / 20, 1e-12);
      ExpectOverRepeats(curve[place], sums[0] / paths[0], sums[1] / paths[1]);
    }
  }
}

TEST_F(FiguresTest, LengthsAreCountedBeforeAndAfterPruning) {
  AddSelfConsistency();
  AddHyper();
  const std::vector<FigureRow> rows = Rows("lengths");
  int longest = 0;
  for (const StoredItem& item : items_) {
    for (const StoredPath& path : item.paths) {
      const bool shown =
          item.key.run == RunOf("sc") ||
          (item.key.run == RunOf("hyper") && !path.warmup && path.status == PathStatus::kFinished);
      longest = std::max(longest, shown ? path.tokens : 0);
    }
  }
  const double width = std::ceil((longest + 1) / 16.0);
  for (const std::string panel : {"before", "after"}) {
    const int64_t run = RunOf(panel == "before" ? "sc" : "hyper");
    for (const bool right : {true, false}) {
      const std::vector<FigureRow> bins = Of(rows, panel, right ? "right" : "wrong");
      ASSERT_EQ(bins.size(), 16U);
      for (const FigureRow& bin : bins) {
        std::array<double, kRepeats> inside{};
        std::array<double, kRepeats> all{};
        for (const StoredItem& item : items_) {
          for (const StoredPath& path : item.paths) {
            const bool counts = item.key.run == run && !path.warmup &&
                                path.status == PathStatus::kFinished &&
                                (path.answer == "1") == right;
            const auto repeat = static_cast<size_t>(item.key.repeat);
            all.at(repeat) += counts ? 1 : 0;
            inside.at(repeat) +=
                counts && path.tokens >= bin.x - width / 2 && path.tokens < bin.x + width / 2 ? 1
                                                                                              : 0;
          }
        }
        ExpectOverRepeats(bin, inside[0] / all[0], inside[1] / all[1], 100);
      }
    }
  }
}

TEST_F(FiguresTest, LongPathsAreThoseOverTheMedianBeforePruning) {
  AddSelfConsistency();
  AddHyper();
  const std::vector<FigureRow> rows = Rows("4");
  std::vector<int> before;
  for (const StoredItem& item : items_) {
    for (const StoredPath& path : item.paths) {
      if (item.key.run == RunOf("sc")) {
        before.push_back(path.tokens);
      }
    }
  }
  std::sort(before.begin(), before.end());
  const int median = before[before.size() / 2];
  for (const bool only_long : {true, false}) {
    const std::vector<FigureRow> bars = Of(rows, "", only_long ? "long" : "all");
    ASSERT_EQ(bars.size(), 2U);
    for (const FigureRow& bar : bars) {
      const bool pruned = bar.category.rfind("after", 0) == 0;
      std::array<double, kRepeats> wrong{};
      std::array<double, kRepeats> all{};
      for (const StoredItem& item : items_) {
        for (const StoredPath& path : item.paths) {
          if (item.key.run != RunOf(pruned ? "hyper" : "sc") || path.warmup ||
              path.status != PathStatus::kFinished || (only_long && path.tokens <= median)) {
            continue;
          }
          all.at(static_cast<size_t>(item.key.repeat)) += 1;
          wrong.at(static_cast<size_t>(item.key.repeat)) += path.answer == "1" ? 0 : 1;
        }
      }
      ExpectOverRepeats(bar, wrong[0] / all[0], wrong[1] / all[1], 100);
    }
  }
}

TEST_F(FiguresTest, BudgetIsAccuracyAgainstTokensWithTheFrontier) {
  AddSelfConsistency();
  AddHyper();
  const std::vector<FigureRow> rows = Rows("8");
  struct Row {
    double tokens = 0;
    std::array<double, kRepeats> right{};
  };
  std::map<int64_t, Row> expected;
  for (const StoredItem& item : items_) {
    Row& row = expected[item.key.run];
    row.tokens += static_cast<double>(item.ledger.generated + item.ledger.extra_routes) /
                  (kQuestions * kRepeats);
    row.right.at(static_cast<size_t>(item.key.repeat)) += item.answer == "1" ? 0.25 : 0;
  }
  const std::vector<FigureRow> sc = Of(rows, "made", "sc");
  ASSERT_EQ(sc.size(), 2U) << "both widths are one line";
  const std::vector<std::pair<FigureRow, const char*>> points = {
      {sc[0], "sc3"}, {sc[1], "sc"}, {Of(rows, "made", "hyper").at(0), "hyper"}};
  std::vector<std::pair<double, double>> unbeaten;
  for (const auto& labelled : points) {
    const FigureRow& point = labelled.first;
    const Row& row = expected[RunOf(labelled.second)];
    EXPECT_NEAR(point.x, row.tokens, 1e-9);
    ExpectOverRepeats(point, row.right[0], row.right[1], 100);
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const auto& other) {
      return (other.first.x < point.x && other.first.y >= point.y) ||
             (other.first.x <= point.x && other.first.y > point.y);
    });
    if (!beaten) {
      unbeaten.emplace_back(point.x, point.y);
    }
  }
  std::sort(unbeaten.begin(), unbeaten.end());
  std::vector<std::pair<double, double>> frontier;
  for (const FigureRow& row : rows) {
    if (row.series == "frontier") {
      frontier.emplace_back(row.x, row.y);
    }
  }
  if (unbeaten.size() > 1) {
    EXPECT_EQ(frontier, unbeaten);
  } else {
    EXPECT_TRUE(frontier.empty());
  }
}

TEST_F(FiguresTest, ActionsThatChangedNothingAreNotCounted) {
  AddHyper();
  const std::vector<FigureRow> rows = Rows("actions");
  for (const Action action : {Action::kSingleToken, Action::kMultiToken, Action::kBranch}) {
    const std::vector<FigureRow> bars = Of(rows, "hyper", NameOf(action));
    ASSERT_EQ(bars.size(), 2U);
    for (const FigureRow& bar : bars) {
      std::array<double, kRepeats> acted{};
      for (const StoredItem& item : items_) {
        const auto question = static_cast<size_t>(item.key.question) - 1;
        if ("made " + questions_[question].group != bar.category) {
          continue;
        }
        for (const DecisionRecord& decision : item.decisions) {
          acted.at(static_cast<size_t>(item.key.repeat)) +=
              decision.action == action && decision.lanes_after > decision.paths_before ? 1 : 0;
        }
      }
      // Two questions of each group, six decisions of each.
      ExpectOverRepeats(bar, acted[0] / 12, acted[1] / 12, 100);
    }
  }
}

TEST_F(FiguresTest, ARowThatHasHardlyBegunIsNotOnTheFrontier) {
  AddSelfConsistency();
  const int64_t run = AddRun("begun", "esc", {{"width", "3"}});
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    StoredItem item;
    item.key = {run, questions_[0].id, repeat};
    item.paths.push_back(MakePath(item, "1", kTokens));
    Save(std::move(item));
  }
  const Figure figure = Make("budget");
  EXPECT_EQ(figure.finding.find("begun"), std::string::npos) << figure.finding;
  EXPECT_EQ(figure.notes[0], fmt::format("Left out: begun, with 1 of {} questions.", kQuestions));
}

TEST_F(FiguresTest, PruningWithoutAnythingBeforeItIsNotDrawn) {
  const int64_t run = AddRun("probed", "parallel-probe", {{"width", "3"}});
  for (const StoredQuestion& question : questions_) {
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      StoredItem item;
      item.key = {run, question.id, repeat};
      for (const char* answer : {"1", "2", "1"}) {
        item.paths.push_back(MakePath(item, answer, kTokens));
      }
      item.paths[0].status = PathStatus::kPruned;
      Save(std::move(item));
    }
  }
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  const Result<StudyMaterial> material = LoadMaterial(store_);
  ASSERT_TRUE(material.has_value());
  for (const char* name : {"lengths", "long-wrong"}) {
    EXPECT_EQ(MakeFigure(*FindFigure(name), *material).error().code, ErrorCode::kNotFound) << name;
  }
}

TEST_F(FiguresTest, TheJsonHasTheNumbersOfTheCsv) {
  AddSelfConsistency();
  AddHyper();
  for (const char* name : {"paths", "lengths", "budget", "actions", "roc"}) {
    const Result<Figure> figure = Make(name);
    const Json json = FigureJson(*FindFigure(name), figure);
    const std::vector<FigureRow> rows = ReadFigureCsv(json["csv"]);
    size_t at = 0;
    const auto same = [](const Json& value, double number) {
      return std::isfinite(number)
                 ? value.is_number() && std::abs(value.get<double>() - number) < 1e-9
                 : value.is_null();
    };
    for (const Json& panel : json["panels"]) {
      for (const Json& series : panel["series"]) {
        EXPECT_NE(series["style"], "");
        for (const Json& point : series["points"]) {
          ASSERT_LT(at, rows.size());
          const FigureRow& row = rows[at++];
          EXPECT_EQ(panel["title"], row.panel);
          EXPECT_EQ(panel["y"]["label"], row.y_axis);
          EXPECT_EQ(series["name"], row.series);
          EXPECT_TRUE(same(point["x"], row.x) && same(point["y"], row.y)) << name << point;
          EXPECT_TRUE(same(point["low"], row.low) && same(point["high"], row.high))
              << name << point;
        }
      }
    }
    EXPECT_EQ(at, rows.size());
    EXPECT_GT(at, 0U);
  }
}

TEST_F(FiguresTest, WhatAStudyLacksIsNamed) {
  const int64_t run = AddRun("cot", "cot", {{"width", "1"}});
  StoredItem item;
  item.key = {run, questions_[0].id, 0};
  item.paths.push_back(MakePath(item, "1", kTokens));
  item.series.clear();
  Save(std::move(item));
  const Result<StudyMaterial> material = LoadMaterial(store_);
  ASSERT_TRUE(material.has_value());
  for (const FigureSpec& spec : FigureSpecs()) {
    const Result<Figure> figure = MakeFigure(spec, *material);
    if (std::string(spec.name) == "tokens") {
      EXPECT_TRUE(figure.has_value()) << "one row is enough for it";
      continue;
    }
    ASSERT_FALSE(figure.has_value()) << spec.name;
    EXPECT_EQ(figure.error().code, ErrorCode::kNotFound);
    EXPECT_GT(figure.error().message.size(), 20U);
  }
}

TEST_F(FiguresTest, QuestionsThatLackARepeatAreLeftOut) {
  AddSelfConsistency();
  StoredQuestion more = questions_[0];
  more.name = "late";
  StoredItem item = items_[0];
  item.key.question = *store_.AddQuestion(more);
  ASSERT_TRUE(*store_.SaveItem(item));
  const Result<StudyMaterial> material = LoadMaterial(store_);
  ASSERT_TRUE(material.has_value());
  EXPECT_EQ(material->runs[0].items.size(), static_cast<size_t>(kQuestions * kRepeats));
  EXPECT_EQ(material->runs[0].samples.size(), material->runs[0].items.size());
}

TEST(EstimateTest, OneRepeatHasTheErrorOfARatio) {
  // m = 4/5; residuals -0.6 and 0.6; 1.96 sqrt(2 * 0.72) / 5.
  const Estimate ratio = EstimateMean({{{1, 2}, {3, 3}}});
  EXPECT_DOUBLE_EQ(ratio.mean, 0.8);
  EXPECT_NEAR(ratio.high, 0.8 + 0.4704, 1e-12);
  EXPECT_NEAR(ratio.low, 0.8 - 0.4704, 1e-12);
  // One value a question: the standard error of a mean, 1.96 * 2 / sqrt(3).
  EXPECT_NEAR(EstimateMean({{{1, 1}, {3, 1}, {5, 1}}}).high, 3 + 1.96 * 2 / std::sqrt(3.0), 1e-12);
  EXPECT_TRUE(std::isnan(EstimateMean({{{1, 2}}}).low)) << "one question says nothing of others";
  EXPECT_TRUE(std::isnan(EstimateMean({{{0, 0}}, {{0, 0}}}).mean));
  const Interval wilson = WilsonInterval(0.5, 2);
  const Estimate share = EstimateShare({{0, 1}});
  EXPECT_DOUBLE_EQ(share.low, wilson.low);
  EXPECT_DOUBLE_EQ(share.high, wilson.high);
}

TEST(EstimateTest, CurvesHaveOnePlaceForEachStretch) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(NormalisedCurve(values, 3), (std::vector<double>{1.5, 3.5, 5.5}));
  // A stretch shorter than a token takes the token it begins in.
  EXPECT_EQ(NormalisedCurve(std::span(values).first(2), 4), (std::vector<double>{1, 1, 2, 2}));
  const std::vector<float> unknown = {NAN, 3};
  EXPECT_EQ(NormalisedCurve(unknown, 1), std::vector<double>{3});
}

TEST(EstimateTest, RocAreaCountsPairs) {
  const std::vector<double> right = {3, 1, 2};
  const std::vector<double> wrong = {0, 2};
  double pairs = 0;
  for (const double a : right) {
    for (const double b : wrong) {
      pairs += a > b ? 1 : (a == b ? 0.5 : 0);
    }
  }
  EXPECT_DOUBLE_EQ(RocArea(right, wrong), pairs / 6);
  EXPECT_TRUE(std::isnan(RocArea(right, {})));
}

TEST(FigureScriptTest, TextsOfAStudyCannotLeaveTheirStrings) {
  Figure figure;
  figure.name = "x";
  figure.title = "it's\nfine";
  figure.panels = {{"a'; !rm x", {"x"}, {"y"}, {"`c`"}, {{"s", SeriesStyle::kBars, {{0, 1}}}}}};
  const std::string script = GnuplotScript(figure);
  EXPECT_NE(script.find("'a''; !rm x'"), std::string::npos) << script;
  EXPECT_NE(script.find("title 'it''s\\nfine'"), std::string::npos) << script;
  EXPECT_NE(script.find("'`c`' 0"), std::string::npos) << script;
}

TEST(FigureScriptTest, BarsBeginAtZeroUnlessSomethingIsBelow) {
  Figure figure;
  figure.panels = {{"p", {"x"}, {"y"}, {"c"}, {{"s", SeriesStyle::kBars, {{0, 2, 1, 3}}}}}};
  EXPECT_NE(GnuplotScript(figure).find("set yrange [0:"), std::string::npos);
  for (const auto& [y, low] : {std::pair(2.0, -1.0), std::pair(-2.0, kNaN)}) {
    figure.panels[0].series[0].points[0] = {0, y, low, 3};
    const std::string script = GnuplotScript(figure);
    EXPECT_NE(script.find("set yrange [*:"), std::string::npos) << script;
    EXPECT_NE(script.find("\nset xzeroaxis"), std::string::npos) << script;
  }
}

TEST(FigureScriptTest, CsvQuotesAndLeavesUnknownNumbersEmpty) {
  Figure figure;
  figure.panels = {
      {"a, b", {"x (s)"}, {"y"}, {"one"}, {{"s\"", SeriesStyle::kBars, {{0, 2.5, kNaN, 3}}}}}};
  EXPECT_EQ(FigureCsv(figure),
            "panel,series,x axis,x,category,y axis,y,low,high\n"
            "\"a, b\",\"s\"\"\",x (s),0,one,y,2.5,,3\n");
}

}  // namespace
}  // namespace hyper::eval
