#include "src/store/merge.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/store/store.h"
#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

class MergeTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name + ".db"); }

  Store Open(const std::string& name) {
    return std::move(*Store::Open(Path(name), DatabaseMode::kCreate));
  }

  static StoredRun Run(const std::string& label, const std::string& width) {
    StoredRun run;
    run.label = label;
    run.method = "sc";
    run.suite = "made";
    run.model = "tiny";
    run.settings = {{"width", width}};
    return run;
  }

  static StoredQuestion Question(const std::string& name) {
    StoredQuestion question;
    question.suite = "made";
    question.name = name;
    question.gold = "1";
    question.kind = "integer";
    return question;
  }

  // Stores an item of one path with a series, a vote and a grade.
  static void Save(Store& store, const std::string& label, const std::string& question, int repeat,
                   const std::string& answer, bool failed = false) {
    StoredItem item;
    item.key = {*store.AddRun(Run(label, label)), *store.AddQuestion(Question(question)), repeat};
    item.status = failed ? ItemStatus::kFailed : ItemStatus::kDone;
    item.answer = answer;
    item.vote_rule = "majority";
    item.ledger.generated = 30;
    item.ledger.extra_routes = 5;
    StoredPath path;
    path.path = 0;
    path.key = 18'000'000'000'000'000'000U;
    path.tokens = 3;
    path.text = std::string("a\0\xFF", 3);
    path.answer = answer;
    item.paths = {path};
    item.series = {{0, "confidence", 0, std::vector<float>{1, 2, 3}}};
    item.votes = {{"majority", answer, false, 0, {{answer, 1, 1, 1, true}}}};
    item.notices = {"one", "two"};
    EXPECT_TRUE(*store.SaveItem(item));
    if (!failed) {
      EXPECT_TRUE(store.SaveGrade({item.key, StoredVerdict::kRight, "1", "rules", ""}).ok());
    }
  }

  // Everything of a study as text, numbers of rows left out.
  static std::vector<std::string> Everything(const std::string& path) {
    Store store = std::move(*Store::Open(path, DatabaseMode::kReadOnly));
    const std::vector<StoredQuestion> questions = *store.Questions();
    std::vector<std::string> lines;
    for (const StoredRun& run : *store.Runs()) {
      for (const ItemSummary& summary : *store.Items(run.id)) {
        const StoredItem item = *store.LoadItem(summary.key);
        std::string line = run.label + " " + RunIdentity(run) + " ";
        line += questions.at(static_cast<size_t>(summary.key.question) - 1).name + " " +
                std::to_string(summary.key.repeat) + " " + NameOf(item.status) + " " +
                item.answer.value_or("-") + " " + std::to_string(summary.lost.attempts) + "/" +
                std::to_string(summary.lost.effective_tokens) + "/" +
                std::to_string(summary.lost.generated_tokens) + " " +
                std::to_string(item.ledger.effective()) + " " +
                (summary.grade ? NameOf(summary.grade->verdict) : "ungraded");
        for (const StoredPath& one : item.paths) {
          line += " " + std::to_string(one.key) + one.text + one.answer.value_or("-");
        }
        for (const StoredSeries& series : item.series) {
          line += " " + series.name;
          for (const float value : std::get<std::vector<float>>(series.values)) {
            line += " " + std::to_string(value);
          }
        }
        line += " " + std::to_string(item.votes.at(0).tallies.size());
        line += item.notices.at(0) + item.notices.at(1);
        lines.push_back(line);
      }
    }
    return lines;
  }

  Error Refused(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    paths.reserve(names.size());
    for (const std::string& name : names) {
      paths.push_back(Path(name));
    }
    const Result<MergeReport> report = MergeStudies(paths, Path("refused"));
    EXPECT_FALSE(report.has_value());
    EXPECT_FALSE(std::filesystem::exists(Path("refused")));
    return report ? Error{} : report.error();
  }

  test::TemporaryFolder folder_;
};

TEST_F(MergeTest, PartsAreTheStudyThatRanWhole) {
  Store whole = Open("whole");
  Store first = Open("first");
  Store second = Open("second");
  for (Store* store : {&whole, &first, &second}) {
    for (const char* label : {"4", "8"}) {
      ASSERT_TRUE(store->AddRun(Run(label, label)).has_value());
    }
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_TRUE(store->AddQuestion(Question(name)).has_value());
    }
  }
  for (const char* label : {"4", "8"}) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const std::string name : {"a", "b", "c"}) {
        Save(whole, label, name, repeat, "1");
        Save(name == "b" ? second : first, label, name, repeat, "1");
      }
    }
  }
  const Result<MergeReport> report = MergeStudies({Path("first"), Path("second")}, Path("merged"));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->items, 12);
  EXPECT_EQ(report->runs, 2);
  EXPECT_EQ(report->questions, 3);
  EXPECT_EQ(report->repeated, 0);
  EXPECT_EQ(Everything(Path("merged")), Everything(Path("whole")));
}

TEST_F(MergeTest, EqualItemsAreOneAndFailedAttemptsAreLostWork) {
  Store first = Open("first");
  Store second = Open("second");
  Save(first, "4", "a", 0, "1");
  Save(second, "4", "a", 0, "1");
  Save(first, "4", "b", 0, "", /*failed=*/true);
  Save(second, "4", "b", 0, "1");
  Save(first, "4", "c", 0, "1");
  Save(second, "4", "c", 0, "", /*failed=*/true);
  const Result<MergeReport> report = MergeStudies({Path("first"), Path("second")}, Path("merged"));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->items, 3);
  EXPECT_EQ(report->repeated, 3);
  // The same as a program that tried again in one study.
  Store again = Open("again");
  Save(again, "4", "a", 0, "1");
  Save(again, "4", "b", 0, "", /*failed=*/true);
  Save(again, "4", "b", 0, "1");
  Save(again, "4", "c", 0, "", /*failed=*/true);
  Save(again, "4", "c", 0, "1");
  EXPECT_EQ(Everything(Path("merged")), Everything(Path("again")));
}

TEST_F(MergeTest, ContradictionsNameBothStudies) {
  Store first = Open("first");
  Save(first, "4", "a", 0, "1");
  Store answer = Open("answer");
  Save(answer, "4", "a", 0, "2");
  Store gold = Open("gold");
  StoredQuestion question = Question("a");
  question.gold = "7";
  ASSERT_TRUE(gold.AddQuestion(question).has_value());
  Store settings = Open("settings");
  ASSERT_TRUE(settings.AddRun(Run("4", "5")).has_value());
  for (const char* other : {"answer", "gold", "settings"}) {
    const Error error = Refused({"first", other});
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << error.message;
    EXPECT_NE(error.message.find(Path("first")), std::string::npos) << error.message;
    EXPECT_NE(error.message.find(Path(other)), std::string::npos) << error.message;
  }
  EXPECT_NE(Refused({"first", "settings"}).message.find("one with width=5"), std::string::npos);
}

TEST_F(MergeTest, MissingAndExistingFilesAreRefused) {
  Store first = Open("first");
  EXPECT_EQ(Refused({"first", "missing"}).code, ErrorCode::kNotFound);
  EXPECT_EQ(MergeStudies({Path("first")}, Path("first")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(Path("first")));
}

}  // namespace
}  // namespace hyper
