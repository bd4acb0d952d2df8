#include "src/store/sqlite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "src/store/schema.h"
#include "src/store/store.h"
#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

using test::TemporaryFolder;

class SqliteTest : public ::testing::Test {
 protected:
  Database Make() {
    Result<Database> database = Database::Open(folder_.File("a.db"), DatabaseMode::kCreate);
    EXPECT_TRUE(database.has_value());
    EXPECT_TRUE(database->Execute("CREATE TABLE IF NOT EXISTS t(i, d, s)").ok());
    return std::move(*database);
  }

  static int64_t Count(Database& database) {
    Result<Statement> count = database.Prepare("SELECT count(*) FROM t");
    EXPECT_TRUE(count->Step().value_or(false));
    return count->Int(0);
  }

  TemporaryFolder folder_;
};

TEST_F(SqliteTest, ValuesComeBack) {
  Database database = Make();
  Result<Statement> insert = database.Prepare("INSERT INTO t VALUES (?,?,?)");
  const std::string bytes("a\0\xFF", 3);
  ASSERT_TRUE(insert->BindAll(int64_t{-5}, 0.1, bytes).Run().ok());
  ASSERT_TRUE(insert->BindAll(true, std::numeric_limits<double>::quiet_NaN(), "").Run().ok());
  ASSERT_TRUE(
      insert->BindAll(7, std::numeric_limits<double>::infinity(), std::optional<std::string>())
          .Run()
          .ok());
  Result<Statement> select = database.Prepare("SELECT * FROM t ORDER BY rowid");
  ASSERT_TRUE(*select->Step());
  EXPECT_EQ(select->Int(0), -5);
  EXPECT_EQ(select->Double(1), 0.1);
  EXPECT_EQ(select->Text(2), bytes);
  ASSERT_TRUE(*select->Step());
  EXPECT_EQ(select->Int(0), 1);
  EXPECT_TRUE(std::isnan(select->Double(1)));
  EXPECT_EQ(select->OptionalText(2), std::optional<std::string>(""));
  ASSERT_TRUE(*select->Step());
  EXPECT_TRUE(select->IsNull(1));
  EXPECT_EQ(select->OptionalText(2), std::nullopt);
  EXPECT_FALSE(*select->Step());
}

TEST_F(SqliteTest, WhatIsNotCommittedIsUndone) {
  Database database = Make();
  {
    Result<Transaction> transaction = Transaction::Begin(database);
    ASSERT_TRUE(database.Execute("INSERT INTO t VALUES (1,1,1)").ok());
  }
  EXPECT_EQ(Count(database), 0);
  {
    Result<Transaction> transaction = Transaction::Begin(database);
    ASSERT_TRUE(database.Execute("INSERT INTO t VALUES (1,1,1)").ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }
  EXPECT_EQ(Count(database), 1);
}

TEST_F(SqliteTest, MistakesAreErrors) {
  Database database = Make();
  EXPECT_FALSE(database.Prepare("SELEKT 1").has_value());
  EXPECT_FALSE(database.Execute("INSERT INTO nowhere VALUES (1)").ok());
  EXPECT_EQ(Database::Open(folder_.File("none.db"), DatabaseMode::kExisting).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(Database::Open(folder_.File("no/folder.db"), DatabaseMode::kCreate).error().code,
            ErrorCode::kNotFound);
}

TEST_F(SqliteTest, ForeignFilesAreNotTakenForStudies) {
  { Make(); }
  const auto other = Store::Open(folder_.File("a.db"), DatabaseMode::kCreate);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  std::ofstream(folder_.File("text.db")) << std::string(5000, 'x');
  const auto text = Store::Open(folder_.File("text.db"), DatabaseMode::kCreate);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kDataLoss);
}

TEST_F(SqliteTest, ANewerStudyIsRefusedWithItsVersion) {
  const std::string path = folder_.File("study.db");
  { ASSERT_TRUE(Store::Open(path, DatabaseMode::kCreate).has_value()); }
  {
    Result<Database> database = Database::Open(path, DatabaseMode::kExisting);
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 99").ok());
  }
  const auto newer = Store::Open(path, DatabaseMode::kExisting);
  ASSERT_FALSE(newer.has_value());
  EXPECT_EQ(newer.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(newer.error().message.find("99"), std::string::npos);
}

TEST_F(SqliteTest, AReadOnlyStudyCannotBeWritten) {
  const std::string path = folder_.File("study.db");
  { ASSERT_TRUE(Store::Open(path, DatabaseMode::kCreate).has_value()); }
  Result<Store> store = Store::Open(path, DatabaseMode::kReadOnly);
  ASSERT_TRUE(store.has_value());
  EXPECT_TRUE(store->Runs().has_value());
  EXPECT_EQ(store->AddRun({}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace hyper
