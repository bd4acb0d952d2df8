// Records out of a stored answer, against values by hand.
#include "src/server/archive/stored_records.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace hyper::server {
namespace {

StoredPath PathFrom(PathId id, PathId parent, int fork_position) {
  StoredPath path;
  path.path = id;
  path.parent = parent;
  path.fork_position = fork_position;
  path.text = "abcdef";
  return path;
}

// A path with confidences 1, 2, 3, and a child that goes on behind its second token with 9, 5.
StoredItem ForkedItem() {
  StoredItem item;
  item.paths = {PathFrom(0, kNoPath, 0), PathFrom(1, 0, 2)};
  item.series = {{0, "confidence", 0, std::vector<float>{1, 2, 3}},
                 {0, kTokenBytes, 0, std::vector<uint8_t>{1, 1, 1}},
                 {1, "confidence", 2, std::vector<float>{9, 5}},
                 {1, kTokenBytes, 2, std::vector<uint8_t>{1, 1}}};
  return item;
}

// The window means of its token records, by path and position; --window is 2.
std::map<std::pair<int, int>, Json> WindowMeans(const StoredItem& item) {
  StoredRun run;
  run.settings["window"] = "2";
  std::map<std::pair<int, int>, Json> means;
  for (const Json& record : StoredRecords("run_1", {run, StoredQuestion(), ItemSummary()}, item)) {
    if (record["record"] == "token") {
      means[{record["path"], record["position"]}] = record["window_mean"];
    }
  }
  return means;
}

TEST(StoredRecords, WindowMeansGoOnBehindAFork) {
  const std::map<std::pair<int, int>, Json> expected = {
      {{0, 0}, 1}, {{0, 1}, 1.5}, {{0, 2}, 2.5}, {{1, 2}, 5.5}, {{1, 3}, 7}};
  EXPECT_EQ(WindowMeans(ForkedItem()), expected);
}

TEST(StoredRecords, WindowMeansThatAreNotKnownAreNull) {
  StoredItem item = ForkedItem();
  item.series.erase(item.series.begin());  // the parent's, so that the child's are not known either
  const std::map<std::pair<int, int>, Json> expected = {
      {{0, 0}, {}}, {{0, 1}, {}}, {{0, 2}, {}}, {{1, 2}, {}}, {{1, 3}, {}}};
  EXPECT_EQ(WindowMeans(item), expected);
}

}  // namespace
}  // namespace hyper::server
