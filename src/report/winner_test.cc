#include "src/report/winner.h"

#include <gtest/gtest.h>

#include <vector>

namespace hyper {
namespace {

Path PathWith(PathId id, const char* answer, double confidence) {
  Path path;
  path.id = id;
  path.answer = answer;
  path.mean_confidence = confidence;
  path.status = PathStatus::kFinished;
  path.tokens = {1};
  return path;
}

PathId Winner(const std::vector<Path>& paths, const std::optional<std::string>& answer) {
  const Path* path = WinningPath(paths, answer);
  return path == nullptr ? kNoPath : path->id;
}

TEST(WinningPath, IsTheSurestThatGaveTheAnswer) {
  const std::vector<Path> paths = {PathWith(0, "7", 1), PathWith(1, "8", 9), PathWith(2, "7", 2)};
  EXPECT_EQ(Winner(paths, "7"), 2);
  EXPECT_EQ(Winner(paths, "8"), 1);
  EXPECT_EQ(Winner(paths, std::nullopt), 1);
  EXPECT_EQ(Winner({}, "7"), kNoPath);
}

TEST(WinningPath, PrefersAnswersGivenOutsideReasoningAndEndsByItself) {
  std::vector<Path> paths = {PathWith(0, "7", 9), PathWith(1, "7", 5), PathWith(2, "7", 1)};
  paths[0].tentative = true;
  EXPECT_EQ(Winner(paths, "7"), 1);
  paths[1].status = PathStatus::kPruned;
  EXPECT_EQ(Winner(paths, "7"), 2);
}

TEST(WinningPath, LeavesOutWhatIsNoReply) {
  std::vector<Path> paths = {PathWith(0, "7", 9), PathWith(1, "7", 8), PathWith(2, "7", 7),
                             PathWith(3, "", 1)};
  paths[0].status = PathStatus::kMerged;
  paths[1].kind = PathKind::kJudge;
  paths[2].tokens.clear();
  EXPECT_EQ(Winner(paths, "7"), 3);
}

}  // namespace
}  // namespace hyper
