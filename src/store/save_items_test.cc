// Items saved together with their runs and questions, and whether the disk is waited for.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "src/store/store.h"
#include "tests/support/temporary_folder.h"

namespace {

int synchronized = 0;  // files, since the program began

}  // namespace

// SQLite calls this one in place of the system's.
extern "C" int fdatasync(int file) {
  ++synchronized;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

namespace hyper {
namespace {

using test::TemporaryFolder;

NewItem Item(const std::string& name, ItemStatus status = ItemStatus::kDone) {
  NewItem item;
  item.run.label = "SC";
  item.run.method = "sc";
  item.run.suite = "serve";
  item.question.suite = "serve";
  item.question.name = name;
  item.question.kind = "integer";
  item.item.status = status;
  item.item.reason = status == ItemStatus::kFailed ? kInterrupted : "";
  item.item.answer = "42";
  item.item.ledger.generated = 10;
  return item;
}

TEST(SaveItems, StoresThemWithTheirRunsAndQuestions) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  ASSERT_TRUE(store.SaveItems(std::vector{Item("one"), Item("two", ItemStatus::kFailed)}).ok());
  ASSERT_EQ(store.Newest(9)->size(), 2U);
  EXPECT_EQ((*store.FindItem("serve", "one"))->answer, "42");
  EXPECT_EQ((*store.FindItem("serve", "two"))->reason, kInterrupted);
  EXPECT_EQ(store.Runs()->size(), 1U);
  // One that has failed makes room.
  ASSERT_TRUE(store.SaveItems(std::vector{Item("two")}).ok());
  EXPECT_EQ((*store.FindItem("serve", "two"))->status, ItemStatus::kDone);
  EXPECT_EQ(store.Newest(9)->size(), 2U);
}

TEST(SaveItems, StoresAllOrNothing) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  NewItem bad = Item("bad");
  bad.item.paths.resize(2);  // of one number
  EXPECT_FALSE(store.SaveItems(std::vector{Item("one"), bad, Item("two")}).ok());
  EXPECT_EQ(store.Newest(9)->size(), 0U);
  EXPECT_EQ(store.Questions()->size(), 0U);
  EXPECT_EQ(store.Runs()->size(), 0U);
}

TEST(SaveItems, AwaitsTheDiskOnceForAllUnlessToldNotTo) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  const std::vector<NewItem> items = {Item("one"), Item("two"), Item("three")};
  int before = synchronized;
  ASSERT_TRUE(store.SaveItems(items).ok());
  EXPECT_EQ(synchronized, before + 1);
  ASSERT_TRUE(store.DoNotAwaitDisk().ok());
  before = synchronized;
  ASSERT_TRUE(store.SaveItems(std::vector{Item("four")}).ok());
  ASSERT_TRUE(store.SaveItems(std::vector{Item("five")}).ok());
  EXPECT_EQ(synchronized, before);
  // Others read them at once, as after the death of this program.
  EXPECT_EQ(Store::Open(folder.File("a.db"), DatabaseMode::kReadOnly)->Newest(9)->size(), 5U);
}

}  // namespace
}  // namespace hyper
