#include "src/engine/llama/native_backend.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace hyper::llama {
namespace {

constexpr char kCpuinfo[] =
    "processor\t: 0\nvendor_id\t: SomeVendor\nflags\t\t: fpu sse2 avx2 avx512f\nvmx flags\t: x\n\n"
    "processor\t: 1\nflags\t\t: fpu sse2\n";

TEST(NativeBackendTest, FeaturesAreThoseOfTheFirstProcessor) {
  EXPECT_EQ(ProcessorFeatures(kCpuinfo), "fpu sse2 avx2 avx512f");
  EXPECT_EQ(ProcessorFeatures("flags : fpu sse2 \t"), "fpu sse2");
}

TEST(NativeBackendTest, WithoutThatLineThereAreNone) {
  EXPECT_EQ(ProcessorFeatures(""), "");
  EXPECT_EQ(ProcessorFeatures("Features\t: fp asimd\n"), "");
  EXPECT_EQ(ProcessorFeatures("flags\t\t:\n"), "");
  EXPECT_EQ(ProcessorFeatures("flags_of_more : a\nflags\n"), "");
}

class NativeFolderTest : public ::testing::Test {
 protected:
  NativeFolderTest() {
    std::filesystem::create_directories(native_);
    std::ofstream(library_) << "a library";
  }

  void CompiledOn(const std::string& features) {
    std::ofstream(native_ / "processor") << features << '\n';
  }

  std::string Found(const char* cpuinfo = kCpuinfo) const {
    return NativeBackend(folder_.File(""), cpuinfo);
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path native_ = folder_.File("native");
  const std::filesystem::path library_ = native_ / "libggml-cpu.so";
};

TEST_F(NativeFolderTest, IsFoundOnItsProcessor) {
  CompiledOn("fpu sse2 avx2 avx512f");
  EXPECT_EQ(Found(), library_.string());
}

TEST_F(NativeFolderTest, IsLeftAloneOnAnyOther) {
  CompiledOn("fpu sse2 avx2 avx512f amx_tile");
  EXPECT_EQ(Found(), "");
  CompiledOn("fpu sse2");
  EXPECT_EQ(Found(), "");
  CompiledOn("");
  EXPECT_EQ(Found("no such line"), "") << "nothing is known of the processor";
}

TEST_F(NativeFolderTest, IsLeftAloneWhereItDoesNotSayWhatItWasCompiledOn) {
  EXPECT_EQ(Found(), "");
}

TEST_F(NativeFolderTest, HasToBeThere) {
  CompiledOn("fpu sse2 avx2 avx512f");
  std::filesystem::remove(library_);
  EXPECT_EQ(Found(), "");
}

}  // namespace
}  // namespace hyper::llama
