#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "src/store/store.h"
#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

using test::TemporaryFolder;

// Stores an item of its own run and question.
ItemKey Add(Store& store, const std::string& suite, const std::string& name) {
  StoredRun run;
  run.method = "sc";
  run.suite = suite;
  run.settings = {{"of", name}};
  run.seed = 7;
  StoredQuestion question;
  question.suite = suite;
  question.name = name;
  question.text = "text of " + name;
  StoredItem item;
  item.key = {*store.AddRun(run), *store.AddQuestion(question), 0};
  item.answer = "42";
  item.ledger.generated = 12;
  item.ledger.lanes_opened = 3;
  item.ledger.wall_s = 1.5;
  EXPECT_TRUE(*store.SaveItem(item));
  return item.key;
}

std::vector<std::string> Names(Store& store) {
  std::vector<std::string> names;
  const Result<std::vector<ListedItem>> items = store.Newest(100);
  if (!items) {
    return {items.error().message};
  }
  for (const ListedItem& item : *items) {
    names.push_back(item.name);
  }
  return names;
}

using Texts = std::vector<std::string>;

TEST(StoreListing, ListsTheNewestFirst) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  Add(store, "serve", "one");
  const ItemKey key = Add(store, "other", "two");
  EXPECT_EQ(Names(store), (Texts{"two", "one"}));
  const std::vector<ListedItem> newest = *store.Newest(1);
  ASSERT_EQ(newest.size(), 1U);
  EXPECT_EQ(newest[0].key, key);
  EXPECT_EQ(newest[0].suite, "other");
  EXPECT_EQ(newest[0].text, "text of two");
  EXPECT_EQ(newest[0].method, "sc");
  EXPECT_EQ(newest[0].status, ItemStatus::kDone);
  EXPECT_EQ(newest[0].answer, "42");
  EXPECT_EQ(newest[0].generated, 12);
  EXPECT_EQ(newest[0].paths, 3);
  EXPECT_GT(newest[0].stored_at, 1'600'000'000);
  EXPECT_EQ(newest[0].settings.at("of"), "two");
  EXPECT_EQ(newest[0].seed, 7U);
  EXPECT_EQ(newest[0].wall_s, 1.5);
}

TEST(StoreListing, ListsTheRunsOfASetting) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  for (const char* name : {"one", "two", "three"}) {
    Add(store, "serve", name);
  }
  EXPECT_EQ(store.Newest(9, "of", "two")->size(), 1U);
  EXPECT_EQ(store.Newest(9, "of", "two")->front().name, "two");
  EXPECT_EQ(store.Newest(9, "of", "four")->size(), 0U);
  EXPECT_EQ(store.Newest(9, "other", "two")->size(), 0U);
}

TEST(StoreListing, DropsAnItemAndWhatOnlyItHad) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  Add(store, "serve", "one");
  Add(store, "serve", "two");
  Add(store, "other", "one");
  EXPECT_TRUE(*store.DropItem("serve", "one"));
  EXPECT_EQ(Names(store), (Texts{"one", "two"}));
  EXPECT_EQ(store.Runs()->size(), 2U);
  EXPECT_EQ(store.Questions()->size(), 2U);
  EXPECT_FALSE(*store.DropItem("serve", "one"));
  EXPECT_EQ(Names(store), (Texts{"one", "two"}));
}

TEST(StoreListing, AFingerprintTellsThatSomethingHasChanged) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  const auto print = [&store] { return *store.Fingerprint("serve"); };
  const uint64_t empty = print();
  Add(store, "serve", "one");
  EXPECT_EQ(print(), empty);
  const ItemKey key = Add(store, "other", "one");
  const uint64_t one = print();
  EXPECT_NE(one, empty);
  EXPECT_EQ(print(), one);
  StoredGrade grade;
  grade.key = key;
  grade.verdict = StoredVerdict::kRight;
  ASSERT_TRUE(store.SaveGrade(grade).ok());
  const uint64_t graded = print();
  EXPECT_NE(graded, one);
  grade.verdict = StoredVerdict::kWrong;
  ASSERT_TRUE(store.SaveGrade(grade).ok());
  EXPECT_NE(print(), graded);
  const uint64_t before = print();
  StoredQuestion question;
  question.suite = "other";
  question.name = "one";
  question.text = "text of one";
  question.gold = "43";
  ASSERT_TRUE(store.AddQuestion(question).has_value());
  EXPECT_NE(print(), before);
}

TEST(StoreListing, FindsItemsByNumberAndName) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  Add(store, "serve", "one");
  Add(store, "other", "one");
  const std::optional<ListedItem> named = *store.FindItem("other", "one");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->suite, "other");
  EXPECT_EQ((*store.FindItem(named->item))->name, "one");
  EXPECT_FALSE(*store.FindItem("serve", "two"));
  EXPECT_FALSE(*store.FindItem(int64_t{99}));
}

TEST(StoreListing, PrunesOneSuiteToItsNewest) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  const ItemKey first = Add(store, "serve", "one");
  Add(store, "study", "kept");
  Add(store, "serve", "two");
  Add(store, "serve", "three");
  EXPECT_EQ(*store.Prune("serve", 2, 0), 1);
  EXPECT_EQ(Names(store), (Texts{"three", "two", "kept"}));
  EXPECT_EQ(store.LoadItem(first).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.Questions()->size(), 3U);  // the dropped item's went with it
  EXPECT_EQ(store.Runs()->size(), 3U);
  EXPECT_EQ(*store.Prune("serve", 2, 0), 0);
  EXPECT_EQ(*store.Prune("serve", 0, 0), 2);
  EXPECT_EQ(Names(store), Texts{"kept"});
}

TEST(StoreListing, PrunesByAge) {
  const TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("a.db"), DatabaseMode::kCreate));
  Add(store, "serve", "one");
  EXPECT_EQ(*store.Prune("serve", 10, 3600), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(*store.Prune("serve", 10, 0.005), 1);
}

}  // namespace
}  // namespace hyper
