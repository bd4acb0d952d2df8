// Graders, suites and tables of plugins, over a small study.
#include "src/eval/tables/own_tables.h"

#include <gtest/gtest.h>

#include <map>

#include "src/eval/data/own_parts.h"
#include "src/eval/data/questions.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/tables/table.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

constexpr const char* kSuite = R"({"name": "made", "title": "t", "answer": "integer",
    "prompt": "{question}", "preset": "short"})";

// Right where gold and answer have equal lengths; "?" fails, and "~" is undecided.
GraderSpec ByLength(std::string name, int version = 1) {
  GraderSpec spec;
  spec.name = std::move(name);
  spec.version = version;
  spec.suites = {"made"};
  spec.grade = [](const GradeRequest& request) -> Result<EqualResult> {
    if (request.answer == "?") {
      return InvalidArgument("no such answer");
    }
    if (request.answer == "~") {
      return EqualResult{Verdict::kUndecided, "a wave"};
    }
    const bool same = request.answer.size() == request.gold.size();
    return EqualResult{same ? Verdict::kEqual : Verdict::kNotEqual, ""};
  };
  return spec;
}

// The answers 11, 12 and 3 to questions with the gold 11, of the groups 1, 1 and 2.
class OwnPartsTest : public ::testing::Test {
 protected:
  OwnPartsTest() : store_(std::move(*Store::Open(folder_.File("s.db"), DatabaseMode::kCreate))) {
    StoredRun run;
    run.label = "row";
    run.method = "sc";
    run.suite = "made";
    run.seed = 7;
    run.settings = {{"width", "8"}};
    run_ = *store_.AddRun(run);
    Add("11", "1");
    Add("12", "1");
    Add("3", "2");
  }
  ~OwnPartsTest() override { ForgetOwnParts(); }

  void Add(const std::string& answer, const std::string& group) {
    StoredQuestion question;
    question.suite = "made";
    question.name = "q" + std::to_string(questions_++);
    question.gold = "11";
    question.kind = "integer";
    question.group = group;
    StoredItem item;
    item.key = {run_, *store_.AddQuestion(question), 0};
    item.answer = answer;
    item.ledger.generated = 100;
    ASSERT_TRUE(*store_.SaveItem(item));
  }

  std::vector<std::string> Verdicts() {
    std::vector<std::string> verdicts;
    const std::vector<ItemSummary> items = *store_.Items(run_);
    verdicts.reserve(items.size());
    for (const ItemSummary& item : items) {
      verdicts.push_back(std::string(NameOf(item.grade->verdict)) + " by " + item.grade->grader);
    }
    return verdicts;
  }

  test::TemporaryFolder folder_;
  Store store_;
  int64_t run_ = 0;
  int questions_ = 0;
};

using Strings = std::vector<std::string>;

TEST_F(OwnPartsTest, AGraderTakesThePlaceOfTheRules) {
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  EXPECT_EQ(Verdicts(), (Strings{"right by rules 1", "wrong by rules 1", "wrong by rules 1"}));
  ASSERT_TRUE(AddGrader(ByLength("length")));
  const Result<GradingReport> report = GradeStudy(store_, false);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->graded, 3);
  EXPECT_EQ(Verdicts(), (Strings{"right by length 1", "right by length 1", "wrong by length 1"}));
  EXPECT_EQ(GradeStudy(store_, false)->graded, 0);
  ASSERT_TRUE(AddGrader(ByLength("length", 2)));  // replaces it; its verdicts may be others
  EXPECT_EQ(GradeStudy(store_, false)->graded, 3);
  EXPECT_EQ(Verdicts()[2], "wrong by length 2");
  // Any answer to such a question, as the tables of votes need it.
  const Result<AnswerVerdicts> verdicts = AnswerVerdicts::Load(store_);
  EXPECT_EQ(*verdicts->Of((*store_.Questions())[0], "99"), StoredVerdict::kRight);
}

TEST_F(OwnPartsTest, AGraderOfAnotherSuiteChangesNothing) {
  GraderSpec other = ByLength("length");
  other.suites = {"others"};
  ASSERT_TRUE(AddGrader(other));
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  EXPECT_EQ(Verdicts()[1], "wrong by rules 1");
}

TEST_F(OwnPartsTest, OfSeveralGradersTheLastCounts) {
  ASSERT_TRUE(AddGrader(ByLength("first")));
  ASSERT_TRUE(AddGrader(ByLength("second")));
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  EXPECT_EQ(Verdicts()[0], "right by second 1");
}

TEST_F(OwnPartsTest, GradesOfAGraderThatIsNotThereAreNotReplacedUnasked) {
  ASSERT_TRUE(AddGrader(ByLength("length")));
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  ForgetOwnParts();
  const Result<GradingReport> report = GradeStudy(store_, false);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_NE(report.error().message.find("'length 1', which is not known here; give its --plugin"),
            std::string::npos);
  EXPECT_FALSE(AnswerVerdicts::Load(store_).has_value());
  EXPECT_EQ(Verdicts()[1], "right by length 1");
  ASSERT_TRUE(GradeStudy(store_, /*all=*/true).has_value());  // hyper grade
  EXPECT_EQ(Verdicts()[1], "wrong by rules 1");
}

TEST_F(OwnPartsTest, UndecidedAndFailedVerdictsAreTold) {
  ASSERT_TRUE(AddGrader(ByLength("length")));
  Add("~", "2");
  ASSERT_TRUE(GradeStudy(store_, false).has_value());
  const ItemSummary open = (*store_.Items(run_))[3];
  EXPECT_EQ(open.grade->verdict, StoredVerdict::kUndecided);
  EXPECT_EQ(open.grade->note, "a wave");
  Add("?", "2");
  const Result<GradingReport> report = GradeStudy(store_, false);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().message,
            "grader 'length' failed on question q4 of suite made: no such answer");
}

TEST_F(OwnPartsTest, ATableGetsTheRows) {
  ASSERT_TRUE(AddGrader(ByLength("length")));
  TableSpec spec;
  spec.name = "lengths";
  spec.make = [](const std::vector<EvaluatedRow>& rows) -> Result<Table> {
    Table table;
    table.columns = {{"Row"}, {"Answers"}};
    for (const EvaluatedRow& row : rows) {
      for (const StudyAnswer& answer : row.answers) {
        table.rows.push_back(
            {Cell::Text(row.label + " " + row.settings.at("width") + " " + answer.question + " " +
                        *answer.answer + " " + NameOf(answer.outcome)),
             Cell::Number(static_cast<double>(answer.ledger.effective()), 0)});
      }
    }
    return table;
  };
  const Result<Table> table = MakeOwnTable(spec, *StudyRows(store_, {}, {"1"}));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->name, "lengths");
  EXPECT_EQ(RenderTable(*table, TableForm::kCsv),
            "Row,Answers\nrow 8 q0 11 right,100\nrow 8 q1 12 right,100\n");
  EXPECT_TRUE(StudyRows(store_, {run_ + 1}, {})->empty());
  EXPECT_EQ(StudyRows(store_, {run_}, {})->front().answers.back().outcome, Outcome::kWrong);
}

TEST_F(OwnPartsTest, ATableThatFailsOrFitsNotSaysSo) {
  TableSpec spec;
  spec.name = "odd";
  spec.make = [](const std::vector<EvaluatedRow>&) -> Result<Table> {
    Table table;
    table.columns = {{"One"}, {"Two"}};
    table.rows = {{Cell::Text("alone")}};
    return table;
  };
  EXPECT_EQ(MakeOwnTable(spec, {}).error().message,
            "table 'odd' has a row of 1 cells under 2 columns");
  spec.make = [](const std::vector<EvaluatedRow>&) -> Result<Table> {
    return InvalidArgument("no numbers");
  };
  EXPECT_EQ(MakeOwnTable(spec, {}).error().message, "table 'odd' failed: no numbers");
}

TEST_F(OwnPartsTest, ASuiteBringsItsQuestions) {
  ASSERT_TRUE(AddSuite({kSuite, [] {
                          return Result<std::string>(
                              R"({"question": "6 x 7?", "answer": 42})"
                              "\n"
                              R"({"question": "6 x 8?", "answer": 48, "level": "2"})");
                        }}));
  EXPECT_EQ(SuiteNames().back(), "made");
  const Result<Suite> suite = LoadSuite("made");
  ASSERT_TRUE(suite.has_value());
  EXPECT_EQ(suite->title, "t");
  const Result<QuestionSet> all = LoadQuestions(*suite, {}, "");
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->questions.size(), 2U);
  EXPECT_EQ(all->questions[0].gold, "42");
  EXPECT_EQ(all->questions[0].suite, "made");
  EXPECT_EQ(LoadQuestions(*suite, {"evaluation", {"2"}}, "")->questions.size(), 1U);
  ASSERT_TRUE(AddSuite({kSuite, [] { return Result<std::string>(InvalidArgument("no data")); }}));
  EXPECT_EQ(LoadQuestions(*LoadSuite("made"), {}, "").error().message, "no data");
}

TEST_F(OwnPartsTest, RefusesWhatCannotWork) {
  const auto no_questions = [] { return Result<std::string>(""); };
  std::string other = kSuite;
  other.replace(other.find("made"), 4, "gsm8k");
  const std::map<std::string, Status> refused = {
      {"'Not a name' is no name of a grader; it takes small letters, digits and dashes, a letter "
       "first",
       AddGrader(ByLength("Not a name"))},
      {"grader 'rules' is built in; give yours another name", AddGrader(ByLength("rules"))},
      {"grader 'judge' is built in; give yours another name", AddGrader(ByLength("judge"))},
      {"grader 'none' has no function to call", AddGrader({"none", 1, {"made"}, {}})},
      {"grader 'idle' names no suites", AddGrader({"idle", 1, {}, ByLength("x").grade})},
      {"suite 'gsm8k' is built in; give yours another name", AddSuite({other, no_questions})},
      {"suite 'made' has no function to call", AddSuite({kSuite, {}})},
      {"the suite of a plugin is not valid JSON", AddSuite({"{", no_questions})},
      {"table 'none' has no function to call", AddTable({"none", {}})}};
  for (const auto& [message, status] : refused) {
    ASSERT_FALSE(status) << message;
    EXPECT_EQ(status.error().message, message);
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(OwnGraderOf("made"), nullptr);
  EXPECT_EQ(FindOwnSuite("made"), nullptr);
  EXPECT_TRUE(OwnTables().empty());
}

}  // namespace
}  // namespace hyper::eval
