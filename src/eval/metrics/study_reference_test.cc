#include "src/eval/metrics/study_reference.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

class StudyReferenceTest : public ::testing::Test {
 protected:
  StudyReferenceTest()
      : store_(std::move(*Store::Open(folder_.File("s.db"), DatabaseMode::kCreate))) {
    for (const uint64_t seed : {1, 2}) {
      AddRun("sc", seed);
    }
    AddRun("hyper", 1);
    for (const std::string name : {"made-1", "made-12", "made-13"}) {
      StoredQuestion question;
      question.suite = "made";
      question.name = name;
      EXPECT_TRUE(store_.AddQuestion(question).has_value());
    }
  }

  void AddRun(const std::string& label, uint64_t seed) {
    StoredRun run;
    run.label = label;
    run.method = label;
    run.seed = seed;
    EXPECT_TRUE(store_.AddRun(run).has_value());
  }

  test::TemporaryFolder folder_;
  Store store_;
};

TEST_F(StudyReferenceTest, RunsByLabelAndByNumber) {
  EXPECT_EQ(FindRun(store_, "hyper")->id, 3);
  EXPECT_EQ(FindRun(store_, "#2")->seed, 2U);
  const Error missing = FindRun(store_, "tot").error();
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
  EXPECT_NE(missing.message.find("#3 hyper"), std::string::npos) << missing.message;
  const Error several = FindRun(store_, "sc").error();
  EXPECT_EQ(several.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(several.message.find("#1 sc, #2 sc"), std::string::npos) << several.message;
}

TEST_F(StudyReferenceTest, QuestionsByNameNumberAndPart) {
  EXPECT_EQ(FindQuestion(store_, "made-1")->id, 1);  // whole names come before parts
  EXPECT_EQ(FindQuestion(store_, "13")->id, 3);
  EXPECT_EQ(FindQuestion(store_, "#2")->name, "made-12");
  EXPECT_EQ(FindQuestion(store_, "made").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(FindQuestion(store_, "7").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(FindQuestion(store_, "").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper::eval
