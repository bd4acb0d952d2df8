#include "src/eval/run/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "hyper/ask.h"
#include "src/eval/run/pool_labels.h"
#include "src/eval/run/probed_pool.h"

namespace hyper::eval {
namespace {

// A path that ends with its answer, and the log-probabilities of its tokens.
struct MadePath {
  std::string answer;
  std::vector<float> logprobs;
};

PoolEntry EntryOf(int number, const std::string& gold, const std::vector<MadePath>& paths) {
  PoolEntry entry;
  entry.question.suite = "made";
  entry.question.name = std::to_string(number);
  entry.question.text = "question " + entry.question.name;
  entry.question.gold = gold;
  entry.question.kind = NameOf(AnswerKind::kInteger);
  entry.item.ledger.prefilled = 3;
  for (const MadePath& made : paths) {
    StoredPath path;
    path.path = static_cast<PathId>(entry.item.paths.size());
    path.status = PathStatus::kFinished;
    path.tokens = static_cast<int>(made.logprobs.size());
    path.text = "so \\boxed{" + made.answer + "}";
    path.answer = made.answer;
    const std::vector<float> flat(made.logprobs.size(), 1.0F);
    for (const auto& [name, values] :
         {std::pair("logprob", made.logprobs), {"confidence", flat}, {"entropy", flat}}) {
      entry.item.series.push_back({path.path, name, 0, values});
    }
    entry.item.paths.push_back(std::move(path));
  }
  return entry;
}

TracePool EmptyPool() {
  TracePool pool;
  pool.made_by.suite = "made";
  pool.made_by.settings = {
      {"confidence", "alternatives"}, {"confidence-count", "8"}, {"entropy-count", "8"}};
  return pool;
}

// 40 questions of 24 paths, a third of them wrong in different ways. A wrong path slips early on,
// which nothing but the log-probabilities of its chosen tokens shows.
TracePool Slips() {
  TracePool pool = EmptyPool();
  std::mt19937 random(5);
  for (int question = 0; question < 40; ++question) {
    std::vector<MadePath> paths;
    for (int i = 0; i < 24; ++i) {
      const bool wrong = random() % 3 == 0;
      MadePath path{wrong ? std::to_string(100 + random() % 50) : "7", {}};
      for (int token = 0; token < 48; ++token) {
        const bool slip = wrong && token >= 8 && token < 12;
        const float noise = static_cast<float>(random() % 1000) / 1000;
        path.logprobs.push_back(slip ? -4.0F - noise : -noise);
      }
      paths.push_back(std::move(path));
    }
    pool.entries.push_back(EntryOf(question, "7", paths));
  }
  return pool;
}

CalibrationPlan NarrowPlan() {
  CalibrationPlan plan;
  plan.warmup = 6;
  plan.width = 12;
  plan.resamples = 1;
  return plan;
}

const SignalScore& ScoreOf(const std::vector<SignalScore>& scores, ConfidenceSignal signal,
                           int window) {
  for (const SignalScore& score : scores) {
    if (score.signal == signal && score.window == window) {
      return score;
    }
  }
  ADD_FAILURE() << NameOf(signal) << ' ' << window;
  return scores.front();
}

std::string OptionOf(const OptionValues& options, const std::string& name) {
  for (const OptionValue& option : options) {
    if (option.name == name) {
      return option.text;
    }
  }
  return "";
}

TEST(ScoreSignals, AreasAndCutsAreThoseCountedByHand) {
  TracePool pool = EmptyPool();
  // Means -1 and -3 are right, -2 and -4 wrong: three of four pairs are in order.
  pool.entries = {
      EntryOf(0, "7", {{"7", {-1, -1}}, {"7", {-3, -3}}, {"8", {-2, -2}}, {"9", {-4, -4}}}),
      EntryOf(1, "7", {{"7", {-1, -1}}, {"7", {-2, -2}}})};  // none is wrong
  const std::vector<int> windows = {1};
  const Result<std::vector<SignalScore>> scores = ScoreSignals(pool, windows);
  ASSERT_TRUE(scores.has_value());
  const SignalScore& mean = ScoreOf(*scores, ConfidenceSignal::kLogprob, 0);
  EXPECT_EQ(mean.areas, std::vector<double>{0.75});
  EXPECT_EQ(mean.questions, std::vector<std::string>{"0"});
  EXPECT_DOUBLE_EQ(mean.area, 0.75);
  EXPECT_TRUE(std::isnan(mean.right_cut));
  EXPECT_EQ(ScoreOf(*scores, ConfidenceSignal::kAlternatives, 0).areas, std::vector<double>{0.5});
  for (const SignalScore& score : *scores) {
    EXPECT_NE(score.signal, ConfidenceSignal::kSelfCertainty) << "its series is not stored";
  }
  // The 40th percentile of e^-1, .. e^-4 lies between e^-3 and e^-2.
  const SignalScore& windowed = ScoreOf(*scores, ConfidenceSignal::kLogprob, 1);
  EXPECT_DOUBLE_EQ(windowed.right_cut, 0.5);
  EXPECT_DOUBLE_EQ(windowed.wrong_cut, 0.5);
  EXPECT_DOUBLE_EQ(windowed.cut_at, 0.5);  // at the first of two tokens
}

// The area over all pairs of the lowest means of w tokens in a row.
double AreaByPairs(const std::vector<MadePath>& paths, size_t w) {
  std::vector<std::pair<bool, double>> scores;
  for (const MadePath& path : paths) {
    double lowest = 1e9;
    for (size_t i = 0; i + w <= path.logprobs.size(); ++i) {
      double sum = 0;
      for (size_t j = i; j < i + w; ++j) {
        sum += path.logprobs[j];
      }
      lowest = std::min(lowest, sum / static_cast<double>(w));
    }
    scores.emplace_back(path.answer == "7", lowest);
  }
  double wins = 0;
  double pairs = 0;
  for (const auto& [right, score] : scores) {
    for (const auto& [other, other_score] : scores) {
      if (right && !other) {
        wins += score > other_score ? 1 : std::abs(score - other_score) < 1e-7 ? 0.5 : 0;
        ++pairs;
      }
    }
  }
  return wins / pairs;
}

TEST(ScoreSignals, AreaIsTheShareOfPairsInOrder) {
  std::mt19937 random(11);
  TracePool pool = EmptyPool();
  std::vector<double> expected[2];
  for (int question = 0; question < 12; ++question) {
    std::vector<MadePath> paths;
    for (int i = 0; i < 15; ++i) {
      MadePath path{i % 3 == 0 ? "8" : "7", {}};
      for (int token = 0; token < 9; ++token) {  // few values, so that there are ties
        path.logprobs.push_back(-static_cast<float>(random() % 3) / 4);
      }
      paths.push_back(std::move(path));
    }
    pool.entries.push_back(EntryOf(question, "7", paths));
    expected[0].push_back(AreaByPairs(paths, 2));
    expected[1].push_back(AreaByPairs(paths, 9));
  }
  const std::vector<int> windows = {2};
  const Result<std::vector<SignalScore>> scores = ScoreSignals(pool, windows);
  ASSERT_TRUE(scores.has_value());
  const SignalScore& lowest = ScoreOf(*scores, ConfidenceSignal::kLogprob, 2);
  const SignalScore& mean = ScoreOf(*scores, ConfidenceSignal::kLogprob, 0);
  ASSERT_EQ(lowest.areas.size(), 12U);
  double sum = 0;
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(lowest.areas[i], expected[0][i], 1e-12) << i;
    EXPECT_NEAR(mean.areas[i], expected[1][i], 1e-12) << i;
    sum += expected[0][i];
  }
  EXPECT_NEAR(lowest.area, sum / 12, 1e-12);
  EXPECT_LT(lowest.interval.low, lowest.area);
  EXPECT_GT(lowest.interval.high, lowest.area);
}

TEST(CandidateWindows, FollowTheLength) {
  EXPECT_EQ(CandidateWindows(104), (std::vector<int>{1, 4, 8, 16, 32}));
  EXPECT_EQ(CandidateWindows(16400), (std::vector<int>{1, 1024, 2048, 4096, 8192}));
  EXPECT_EQ(CandidateWindows(10), (std::vector<int>{1, 2, 4, 8, 16}));
}

TEST(LabelPool, TakesTheConsensusAndDropsWhatHasNone) {
  const std::vector<float> any = {-1, -1};
  const std::vector<PoolEntry> entries = {
      EntryOf(0, "", {{"8", any}, {"7", any}, {"7.0", any}, {"9", any}, {"6", any}}),
      EntryOf(1, "", {{"7", any}, {"8", any}, {"8.0", any}, {"7", any}, {"9", any}}),
      EntryOf(2, "5", {{"7", any}, {"7", any}})};
  TracePool pool = EmptyPool();
  pool.entries = entries;
  const Result<LabelCounts> counts = LabelPool(pool, PoolLabels::kGold);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->gold, 1);
  EXPECT_EQ(counts->consensus, 1);
  EXPECT_EQ(counts->dropped, 1);
  ASSERT_EQ(pool.entries.size(), 2U);
  EXPECT_EQ(pool.entries[0].question.gold, "7");
  EXPECT_EQ(pool.entries[1].question.gold, "5");
  pool.entries = entries;
  ASSERT_TRUE(LabelPool(pool, PoolLabels::kConsensus).has_value());
  ASSERT_EQ(pool.entries.size(), 2U);
  EXPECT_EQ(pool.entries[1].question.gold, "7") << "the known answer is not looked at";
  pool.entries = {EntryOf(0, "", {{"7", any}, {"8", any}, {"9", any}})};
  EXPECT_EQ(LabelPool(pool, PoolLabels::kGold)->dropped, 1) << "no answer came twice";
}

// Three repeats of each question, one of them under another name, in groups of unequal size.
TEST(SplitPool, KeepsAllOfAQuestionInOneHalf) {
  TracePool pool = EmptyPool();
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int question = 0; question < 21; ++question) {
      PoolEntry entry = EntryOf(question, "7", {{"7", {-1}}});
      entry.question.group = question < 4 ? "easy" : question < 9 ? "middle" : "hard";
      entry.item.key.repeat = repeat;
      if (repeat == 2) {
        entry.question.name = "again " + entry.question.name;
      }
      pool.entries.push_back(std::move(entry));
    }
  }
  const std::array<TracePool, 2> halves = SplitPool(pool);
  std::set<std::string> texts[2];
  std::map<std::string, int> groups[2];
  for (size_t half = 0; half < 2; ++half) {
    for (const PoolEntry& entry : halves[half].entries) {
      if (texts[half].insert(entry.question.text).second) {
        ++groups[half][entry.question.group];
      }
    }
  }
  for (const std::string& text : texts[0]) {
    EXPECT_FALSE(texts[1].contains(text)) << text;
  }
  EXPECT_EQ(texts[0].size() + texts[1].size(), 21U);
  EXPECT_EQ(halves[0].entries.size() + halves[1].entries.size(), pool.entries.size());
  for (const char* group : {"easy", "middle", "hard"}) {
    EXPECT_LE(std::abs(groups[0][group] - groups[1][group]), 1) << group;
  }
}

// A row with the same accuracy and the given tokens on each question.
CalibrationRow RowOf(const std::string& label, double accuracy, const std::vector<double>& tokens) {
  CalibrationRow row{label, "sc", {}, label == kAllPaths, {}, {}};
  row.summary.accuracy.mean = accuracy;
  row.summary.effective_tokens = Mean(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    QuestionShare share;
    share.question = std::to_string(i);
    share.effective = tokens[i];
    row.summary.per_question.push_back(share);
  }
  return row;
}

TEST(ChooseRow, TakesTheCheapestWithinTheTolerance) {
  const std::vector<double> usual = {100, 120, 90, 110};
  std::vector<CalibrationRow> rows = {
      RowOf(kAllPaths, 0.70, {200, 200, 200, 200}), RowOf(kUsual, 0.70, usual),
      RowOf("cheap", 0.60, {10, 10, 10, 10}),       RowOf("good", 0.695, {50, 60, 55, 40}),
      RowOf("dear", 0.72, {150, 150, 150, 150}),    RowOf("schedule", 0.72, {5, 5, 5, 5})};
  rows.back().compared_only = true;
  EXPECT_EQ(ChooseRow(rows, 0.01)->label, "good");
  EXPECT_EQ(ChooseRow(rows, 0.2)->label, "cheap");
  EXPECT_EQ(ChooseRow(rows, 0.001)->label, kUsual);
  std::vector<CalibrationRow> better = rows;
  better[0].summary.accuracy.mean = 0.73;
  EXPECT_EQ(ChooseRow(better, 0.015)->label, "dear") << "the usual row loses too much";
  EXPECT_EQ(ChooseRow(better, 0.001), nullptr);
}

TEST(ChooseRow, TakesNoneThatMayLoseMuch) {
  std::vector<CalibrationRow> rows = {
      RowOf(kAllPaths, 0.70, {200, 200, 200, 200}), RowOf(kUsual, 0.70, {100, 120, 90, 110}),
      RowOf("risky", 0.70, {10, 10, 10, 10}), RowOf("safe", 0.70, {50, 60, 55, 40})};
  rows[1].against_all.difference.interval.low = -0.2;  // what is decoded without a profile
  rows[2].against_all.difference.interval.low = -0.11;
  rows[3].against_all.difference.interval.low = -0.09;
  EXPECT_EQ(ChooseRow(rows, 0.01)->label, "safe");
  rows[3].against_all.difference.interval.low = -0.11;
  EXPECT_EQ(ChooseRow(rows, 0.01)->label, kUsual);
}

TEST(ChooseRow, KeepsTheUsualOneWhereNothingIsBetterBeyondNoise) {
  std::vector<CalibrationRow> rows = {RowOf(kAllPaths, 0.7, {200, 200, 200, 200}),
                                      RowOf(kUsual, 0.7, {100, 100, 100, 100}),
                                      RowOf("noisy", 0.7, {20, 180, 20, 170})};
  EXPECT_EQ(ChooseRow(rows, 0.01)->label, kUsual);
  rows[2] = RowOf("steady", 0.7, {97, 98, 98, 97});
  EXPECT_EQ(ChooseRow(rows, 0.01)->label, "steady");
}

TEST(Frontier, HoldsTheRowsThatNoOtherBeats) {
  std::mt19937 random(3);
  std::vector<CalibrationRow> rows;
  rows.reserve(60);
  for (int i = 0; i < 60; ++i) {  // few values, so that there are ties
    rows.push_back(RowOf(std::to_string(i), static_cast<double>(random() % 12) / 12,
                         {static_cast<double>(random() % 12)}));
  }
  std::set<std::pair<double, double>> expected;
  const auto place = [](const CalibrationRow& row) {
    return std::pair(row.summary.effective_tokens, row.summary.accuracy.mean);
  };
  for (const CalibrationRow& row : rows) {
    const auto [tokens, accuracy] = place(row);
    bool beaten = false;
    for (const CalibrationRow& other : rows) {
      const auto [other_tokens, other_accuracy] = place(other);
      beaten = beaten ||
               (other_tokens <= tokens && other_accuracy >= accuracy && place(other) != place(row));
    }
    if (!beaten) {
      expected.insert({tokens, accuracy});
    }
  }
  std::vector<std::pair<double, double>> found;
  for (const CalibrationRow* row : Frontier(rows)) {
    found.push_back(place(*row));
  }
  EXPECT_EQ(found, std::vector(expected.begin(), expected.end()));
}

TEST(Calibrate, FindsTheSignalThatShowsTheSlips) {
  const Result<Calibration> made = Calibrate(Slips(), NarrowPlan());
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->questions[0], 20);
  EXPECT_EQ(made->questions[1], 20);
  EXPECT_GT(ScoreOf(made->scores, ConfidenceSignal::kLogprob, 4).area, 0.99);
  EXPECT_NEAR(ScoreOf(made->scores, ConfidenceSignal::kAlternatives, 4).area, 0.5, 1e-9);
  EXPECT_FALSE(made->kept_usual);
  ASSERT_EQ(made->second.size(), 3U);
  EXPECT_EQ(made->second[2].label, made->chosen);
  EXPECT_LT(made->tokens_to_all.interval.high, 0);
  EXPECT_LT(made->second[2].summary.effective_tokens,
            0.5 * made->second[0].summary.effective_tokens);
  EXPECT_GE(made->second[2].summary.accuracy.mean, 0.9);
  const Result<RunPlan> plan = ResolveRun({"hyper", "paper", made->options, {}}, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_NE(OptionOf(made->options, "stop"), "never");
  // Where nothing stops a run, only pruning saves tokens: by the signal that shows the slips.
  const CalibrationRow* cheapest = nullptr;
  for (const CalibrationRow& row : made->first) {
    const bool counts = OptionOf(row.options, "stop") == "never" &&
                        OptionOf(row.options, "width") == "12" &&
                        row.summary.accuracy.mean >= made->first[0].summary.accuracy.mean;
    if (counts && (cheapest == nullptr ||
                   row.summary.effective_tokens < cheapest->summary.effective_tokens)) {
      cheapest = &row;
    }
  }
  ASSERT_NE(cheapest, nullptr);
  EXPECT_NE(OptionOf(cheapest->options, "confidence"), "alternatives");
  EXPECT_NE(OptionOf(cheapest->options, "threshold"), "off");
}

// The second half may not choose: with its answers spoiled, all that the first half says stays.
TEST(Calibrate, ChoosesWithoutTheSecondHalf) {
  const TracePool pool = Slips();
  const std::array<TracePool, 2> halves = SplitPool(pool);
  std::set<std::string> second;
  for (const PoolEntry& entry : halves[1].entries) {
    second.insert(entry.question.name);
  }
  TracePool spoiled = pool;
  for (PoolEntry& entry : spoiled.entries) {
    if (second.contains(entry.question.name)) {
      entry.question.gold = "1";
      for (StoredPath& path : entry.item.paths) {
        path.tokens /= 2;
      }
      for (StoredSeries& series : entry.item.series) {
        auto& values = std::get<std::vector<float>>(series.values);
        values.resize(values.size() / 2);
      }
    }
  }
  const Result<Calibration> one = Calibrate(pool, NarrowPlan());
  const Result<Calibration> other = Calibrate(spoiled, NarrowPlan());
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_EQ(one->chosen, other->chosen);
  EXPECT_EQ(one->options, other->options);
  ASSERT_EQ(one->first.size(), other->first.size());
  for (size_t i = 0; i < one->first.size(); ++i) {
    EXPECT_EQ(one->first[i].label, other->first[i].label);
    EXPECT_EQ(one->first[i].summary.accuracy.mean, other->first[i].summary.accuracy.mean);
    EXPECT_EQ(one->first[i].summary.effective_tokens, other->first[i].summary.effective_tokens);
  }
  EXPECT_EQ(other->second[0].summary.accuracy.mean, 0) << "the report is of the second half";
}

// Six of eight paths of any wave agree: 0.9 stops after the first, 0.99 goes on. (With the Beta
// form of two leaders, 6 to 2 is 0.91 and 12 to 4 is 0.975.)
TEST(Calibrate, ChoosesAStopOnAnswersAndLengths) {
  TracePool pool;
  pool.made_by = ProbedRun();
  for (int number = 0; number < 20; ++number) {
    std::vector<MadePath> paths;
    paths.reserve(24);
    for (int i = 0; i < 24; ++i) {
      paths.push_back({i % 4 == 3 ? "8" : "7", {-1, -1, -1}});
    }
    pool.entries.push_back(EntryOf(number, "7", paths));
    pool.entries.back().item.series.clear();
  }
  CalibrationPlan plan = NarrowPlan();
  const Result<Calibration> made = Calibrate(pool, plan);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(made->scores.empty());
  EXPECT_EQ(OptionOf(made->options, "stop"), "0.9");
  EXPECT_EQ(OptionOf(made->options, "threshold"), "off");
  EXPECT_EQ(OptionOf(made->options, "width"), "") << "no fewer paths than there were";
  EXPECT_EQ(OptionOf(made->options, "warmup"), "");
  EXPECT_EQ(made->second.back().summary.effective_tokens, 8 * 3);
  EXPECT_EQ(made->second.front().summary.effective_tokens, 18 * 3);
  // Nothing stays within the tolerance: the profile is empty.
  for (PoolEntry& entry : pool.entries) {
    entry.question.gold = "8";
  }
  plan.tolerance = -1;
  const Result<Calibration> none = Calibrate(pool, plan);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->kept_usual);
  EXPECT_FALSE(none->within_tolerance);
  EXPECT_TRUE(none->options.empty());
}

TEST(Calibrate, SaysWhatIsMissing) {
  const auto message = [](const TracePool& pool, const CalibrationPlan& plan) {
    const Result<Calibration> made = Calibrate(pool, plan);
    EXPECT_FALSE(made.has_value());
    return made.has_value() ? "" : made.error().message;
  };
  TracePool few = Slips();
  few.entries.resize(10);
  EXPECT_NE(message(few, NarrowPlan()).find("10 questions"), std::string::npos);
  CalibrationPlan wide = NarrowPlan();
  wide.width = 32;
  EXPECT_NE(message(Slips(), wide).find("24 paths, and 6 + 32"), std::string::npos);
  TracePool alike = Slips();
  for (PoolEntry& entry : alike.entries) {
    entry.question.gold = "1";
  }
  EXPECT_NE(message(alike, NarrowPlan()).find("both right and wrong"), std::string::npos);
}

}  // namespace
}  // namespace hyper::eval
