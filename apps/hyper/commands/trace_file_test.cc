#include "apps/hyper/commands/trace_file.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace hyper::app {
namespace {

using test::NamesIn;
using test::ReadWholeFile;
using test::TemporaryFolder;
using test::WriteFile;

TEST(TraceFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.File("trace.jsonl");
  auto trace = TraceFile::Open(path);
  ASSERT_TRUE(trace.has_value());
  (*trace)->Add("one");
  EXPECT_TRUE((*trace)->Flush().ok());
  EXPECT_EQ(NamesIn(folder.File(".")), std::vector<std::string>{"trace.jsonl.part"});
  EXPECT_EQ(ReadWholeFile(path + ".part"), "one\n");
  (*trace)->Add("two");
  EXPECT_TRUE((*trace)->Commit().ok());
  EXPECT_EQ(NamesIn(folder.File(".")), std::vector<std::string>{"trace.jsonl"});
  EXPECT_EQ(ReadWholeFile(path), "one\ntwo\n");
}

TEST(TraceFile, LeavesTheOldFileWhenNotCommitted) {
  const TemporaryFolder folder;
  const std::string path = WriteFile(folder.File("trace.jsonl"), "old\n");
  {
    auto trace = TraceFile::Open(path);
    ASSERT_TRUE(trace.has_value());
    (*trace)->Add("new");
    EXPECT_TRUE((*trace)->Flush().ok());
  }
  EXPECT_EQ(NamesIn(folder.File(".")), std::vector<std::string>{"trace.jsonl"});
  EXPECT_EQ(ReadWholeFile(path), "old\n");
}

TEST(TraceFile, CheckLeavesNothingBehind) {
  const TemporaryFolder folder;
  EXPECT_TRUE(TraceFile::Check(folder.File("trace.jsonl")).ok());
  EXPECT_FALSE(TraceFile::Check(folder.File("none/trace.jsonl")).ok());
  EXPECT_TRUE(NamesIn(folder.File(".")).empty());
  EXPECT_TRUE(TraceFile::Check("/dev/null").ok());
}

TEST(TraceFile, FullDiskIsReportedOnce) {
  auto trace = TraceFile::Open("/dev/full");
  ASSERT_TRUE(trace.has_value());
  (*trace)->Add("one");
  const Status status = (*trace)->Flush();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
  (*trace)->Add("two");
  EXPECT_TRUE((*trace)->Flush().ok());
  EXPECT_TRUE((*trace)->Commit().ok());
}

TEST(TraceFile, RefusesFoldersAndMissingFolders) {
  const TemporaryFolder folder;
  EXPECT_FALSE(TraceFile::Open(folder.File(".")).has_value());
  EXPECT_FALSE(TraceFile::Open(folder.File("none/trace.jsonl")).has_value());
  EXPECT_TRUE(NamesIn(folder.File(".")).empty());
}

}  // namespace
}  // namespace hyper::app
