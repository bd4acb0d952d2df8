#include "apps/hyper/models/profile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "src/engine/llama/gguf/file_hash.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace hyper::app {
namespace {

// A folder of the configuration that is this test's own, and a file that stands for weights.
class ProfileTest : public ::testing::Test {
 protected:
  ProfileTest() : model_(test::WriteFile(folder_.File("tiny.gguf"), "weights")) {
    if (const char* home = std::getenv("XDG_CONFIG_HOME")) {
      before_ = home;
    }
    setenv("XDG_CONFIG_HOME", folder_.File("config").c_str(), 1);
    hash_ = *llama::FileHash(model_);
  }
  ~ProfileTest() override { setenv("XDG_CONFIG_HOME", before_.c_str(), 1); }

  static std::string TextFor(const std::string& hash, const std::string& options) {
    return R"({"format": "hyper profile 1", "model": {"name": "m", "hash": ")" + hash +
           R"("}, "options": {)" + options + R"(}, "evidence": {}})";
  }

  // Keeps a profile where it is found by itself.
  std::string Keep(const std::string& text) const {
    const std::string path = ProfilePath(hash_);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return test::WriteFile(path, text);
  }

  test::TemporaryFolder folder_;
  std::string model_;
  std::string hash_;
  std::string before_;
};

TEST_F(ProfileTest, IsFoundByTheHashOfTheWeights) {
  EXPECT_TRUE(FindProfile("auto", model_)->options.empty());
  // Of sha256sum over "weights".
  EXPECT_EQ(std::filesystem::path(ProfilePath(hash_)).filename(), "9a129038d9a00aed.json");
  const std::string path =
      Keep(TextFor(hash_, R"("window": 8, "stop": "0.9", "confidence": "logprob")"));
  const Result<Profile> found = FindProfile("auto", model_);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->path, path);
  EXPECT_EQ(found->options,
            (OptionValues{{"confidence", "logprob"}, {"stop", "0.9"}, {"window", "8"}}));
  EXPECT_TRUE(FindProfile("none", model_)->options.empty());
  const std::string other = test::WriteFile(folder_.File("other.gguf"), "other weights");
  EXPECT_TRUE(FindProfile("auto", other)->options.empty());
}

TEST_F(ProfileTest, OfAnotherModelIsRefused) {
  const std::string path =
      test::WriteFile(folder_.File("p.json"), TextFor("sha256:12", R"("stop": "0.9")"));
  const Result<Profile> other = FindProfile(path, model_);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  for (const std::string& part : {path, std::string("sha256:12"), hash_, std::string("none")}) {
    EXPECT_NE(other.error().message.find(part), std::string::npos) << other.error().message;
  }
  // A pool that did not know its model: the user vouches for it.
  test::WriteFile(path, TextFor("", R"("stop": "0.9")"));
  EXPECT_EQ(FindProfile(path, model_)->options, (OptionValues{{"stop", "0.9"}}));
}

TEST_F(ProfileTest, WhatIsNoneIsRefusedWithItsFile) {
  for (const std::string& text :
       {std::string(), std::string("[1]"), std::string(R"({"format": 1, "model": {}})"),
        std::string(R"({"format": "hyper profile 2", "model": {}, "options": {}})"),
        TextFor(hash_, R"("windows": 8)"), TextFor(hash_, R"("window": 0)")}) {
    const std::string path = test::WriteFile(folder_.File("p.json"), text);
    const Result<Profile> profile = FindProfile(path, model_);
    ASSERT_FALSE(profile.has_value()) << text;
    EXPECT_EQ(profile.error().code, ErrorCode::kDataLoss) << text;
    EXPECT_NE(profile.error().message.find(path), std::string::npos);
  }
  EXPECT_EQ(FindProfile(folder_.File("absent.json"), model_).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper::app
