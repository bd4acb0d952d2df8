#include "apps/hyper/models/model_sources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/temporary_folder.h"

namespace hyper::app {
namespace {

TEST(ModelSources, EachRowIsWhole) {
  std::set<std::string> names;
  std::set<std::string> files;
  int64_t last = 0;
  for (const ModelSource& source : ModelSources()) {
    EXPECT_TRUE(names.insert(source.name).second) << source.name;
    EXPECT_TRUE(files.insert(source.file).second) << source.file;
    EXPECT_TRUE(std::string_view(source.file).ends_with(".gguf")) << source.file;
    const std::string_view hash = source.sha256;
    EXPECT_EQ(hash.size(), 64U) << source.name;
    EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string_view::npos) << source.name;
    EXPECT_EQ(std::count(source.repository, source.repository + strlen(source.repository), '/'), 1);
    EXPECT_GT(source.bytes, last) << source.name;
    last = source.bytes;
    EXPECT_EQ(FindModelSource(source.name), &source);
  }
  EXPECT_EQ(FindModelSource("none"), nullptr);
}

std::string SourceText(const std::string& path) {
  std::ifstream file(HYPER_SOURCE_DIR + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The script checks what it fetches from elsewhere against its own table.
TEST(ModelSources, AgreeWithTheScriptThatFetchesSomeOfThem) {
  const std::string script = SourceText("/scripts/fetch-models.sh");
  for (const char* name : {"smollm2-135m", "gemma-3-270m"}) {
    const ModelSource* source = FindModelSource(name);
    ASSERT_NE(source, nullptr) << name;
    const size_t at = script.find(source->file);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_LT(script.find(source->sha256, at) - at, 100U) << name;
  }
}

TEST(ModelSources, AreThoseOfThePage) {
  const std::string page = SourceText("/docs/models.md");
  for (const ModelSource& source : ModelSources()) {
    const size_t at = page.find(std::string("\n| `") + source.name + "` | ");
    ASSERT_NE(at, std::string::npos) << source.name;
    const std::string row = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    const std::string sizes =
        "| " + ByteText(source.bytes) + " | " + ByteText(MemoryOf(source)) + " |";
    EXPECT_TRUE(row.ends_with(sizes)) << row << " lacks " << sizes;
  }
}

// Worked by hand: 2,497,280,256 + 16,384 * 36 layers * 8 heads * 128 elements * 2 * 2 bytes.
TEST(ModelSources, MemoryIsThatOfWeightsAndCells) {
  EXPECT_EQ(MemoryOf(*FindModelSource("qwen3-4b")), 4913199360);
}

TEST(ByteText, CountsInMegabytesBelowAGigabyte) {
  EXPECT_EQ(ByteText(98362432), "98 MB");
  EXPECT_EQ(ByteText(2497280256), "2.5 GB");
  EXPECT_EQ(ByteText(0), "0 MB");
}

class FindModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_DATA_HOME", folder_.File("data").c_str(), 1);
    std::filesystem::create_directories(ModelsFolder());
  }
  void TearDown() override { unsetenv("XDG_DATA_HOME"); }

  test::TemporaryFolder folder_;
};

TEST_F(FindModelTest, AFetchedModelIsFoundByItsName) {
  const Error missing = FindModel("qwen3-4b").error();
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
  EXPECT_NE(missing.message.find("'hyper models get qwen3-4b' fetches it (2.5 GB)"),
            std::string::npos)
      << missing.message;
  const std::string file = folder_.File("data/hyper/models/Qwen3-4B-Q4_K_M.gguf");
  std::ofstream(file) << "GGUF";
  EXPECT_EQ(*FindModel("qwen3-4b"), file);
}

TEST_F(FindModelTest, FilesGoFirstAndPathsStayPaths) {
  const std::string file = folder_.File("model");
  std::ofstream(file.c_str()) << "GGUF";
  EXPECT_EQ(*FindModel(file), file);
  EXPECT_EQ(*FindModel("none.gguf"), "none.gguf");
  EXPECT_EQ(*FindModel("folder/none"), "folder/none");
}

TEST_F(FindModelTest, AnUnknownNameGetsTheNearestOne) {
  const std::string near = FindModel("qwen3-4").error().message;
  EXPECT_NE(near.find("did you mean qwen3-4b? 'hyper models get qwen3-4b' fetches it"),
            std::string::npos)
      << near;
  const std::string far = FindModel("something-else").error().message;
  EXPECT_NE(far.find("'hyper models list'"), std::string::npos) << far;
}

}  // namespace
}  // namespace hyper::app
