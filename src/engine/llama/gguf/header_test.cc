#include "src/engine/llama/gguf/header.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "hyper/llama_engine.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

using test::Bytes;
using test::GgufEntry;
using test::GgufHead;
using test::GgufText;

template <class T>
std::string Alignment(uint32_t type, T value) {
  return GgufEntry("general.alignment", type, value);
}

// A folder of its own for each test.
class GgufHeaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("hyper-gguf-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) {
    std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // The one-line error that opening an engine on `path` gives.
  Error OpenError(const std::string& path) {
    LlamaOptions options;
    options.model_path = path;
    const Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
    EXPECT_FALSE(engine.has_value()) << path;
    if (engine) {
      return {};
    }
    EXPECT_EQ(engine.error().message.find('\n'), std::string::npos) << engine.error().message;
    EXPECT_NE(engine.error().message.find(Quoted(path)), std::string::npos)
        << engine.error().message;
    EXPECT_NE(engine.error().message.find(';'), std::string::npos) << "no remedy";
    return engine.error();
  }

  std::filesystem::path folder_;
};

TEST_F(GgufHeaderTest, WhatIsNoModelFile) {
  EXPECT_EQ(OpenError((folder_ / "missing.gguf").string()).code, ErrorCode::kNotFound);
  EXPECT_EQ(OpenError(folder_.string()).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(OpenError(Write("empty.gguf", "")).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("text.gguf", "Once upon a time")).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("short.gguf", "GG")).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("page.gguf", "<!DOCTYPE html><html></html>")).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("picture.gguf", "\x89PNG\r\n\x1a\n")).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError((folder_ / "new\nline.gguf").string()).code, ErrorCode::kNotFound);
  EXPECT_EQ(OpenError((folder_ / "\xc3\xa9t\xc3\xa9.gguf").string()).code, ErrorCode::kNotFound);
}

TEST_F(GgufHeaderTest, NoPermission) {
  const std::string path = Write("secret.gguf", GgufHead(0, 0));
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  if (std::ifstream(path).good()) {
    GTEST_SKIP() << "this user may read everything";
  }
  EXPECT_EQ(OpenError(path).code, ErrorCode::kInvalidArgument);
}

// llama.cpp #24884: aborts the process there.
TEST_F(GgufHeaderTest, EmptyKey) {
  const std::string bytes =
      GgufHead(0, 1) + Bytes<uint64_t>(0) + Bytes<uint32_t>(0) + Bytes<uint8_t>(1);
  ASSERT_EQ(bytes.size(), 37U);
  EXPECT_EQ(OpenError(Write("empty-key.gguf", bytes)).code, ErrorCode::kDataLoss);
}

// llama.cpp PR #26318: asserts there.
TEST_F(GgufHeaderTest, AlignmentOfWrongTypeOrValue) {
  EXPECT_EQ(OpenError(Write("a.gguf", GgufHead(0, 1) + Alignment<int32_t>(5, 32))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("b.gguf", GgufHead(0, 1) + Alignment<uint32_t>(4, 0))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("c.gguf", GgufHead(0, 1) + Alignment<uint32_t>(4, 3))).code,
            ErrorCode::kDataLoss);
}

TEST_F(GgufHeaderTest, CountsAndLengthsBeyondTheFile) {
  EXPECT_EQ(OpenError(Write("keys.gguf", GgufHead(0, 1ULL << 60))).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("tensors.gguf", GgufHead(1ULL << 60, 0))).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("key.gguf", GgufHead(0, 1) + Bytes(~uint64_t{0}))).code,
            ErrorCode::kDataLoss);
  const std::string array =
      GgufText("a") + Bytes<uint32_t>(9) + Bytes<uint32_t>(0) + Bytes(~uint64_t{0});
  EXPECT_EQ(OpenError(Write("array.gguf", GgufHead(0, 1) + array)).code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("version.gguf", GgufHead(0, 0, 77))).code, ErrorCode::kDataLoss);
  EXPECT_EQ(
      OpenError(Write("type.gguf", GgufHead(0, 1) + GgufText("a") + Bytes<uint32_t>(99))).code,
      ErrorCode::kDataLoss);
}

std::string Tensor(const std::string& name, uint32_t dimensions, int64_t length, int32_t type) {
  std::string out = GgufText(name) + Bytes(dimensions);
  for (uint32_t d = 0; d < dimensions; ++d) {
    out += Bytes(length);
  }
  return out + Bytes(type) + Bytes<uint64_t>(0);
}

TEST_F(GgufHeaderTest, ImpossibleTensors) {
  EXPECT_EQ(OpenError(Write("name.gguf", GgufHead(1, 0) + Tensor("", 1, 4, 0))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("dimensions.gguf", GgufHead(1, 0) + Tensor("t", 9, 1, 0))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("shape.gguf", GgufHead(1, 0) + Tensor("t", 4, 1LL << 40, 0))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("negative.gguf", GgufHead(1, 0) + Tensor("t", 1, -4, 0))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("type.gguf", GgufHead(1, 0) + Tensor("t", 1, 4, 999))).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(OpenError(Write("row.gguf", GgufHead(1, 0) + Tensor("t", 1, 33, 2))).code,
            ErrorCode::kDataLoss);  // a Q4_0 row of 33
}

TEST_F(GgufHeaderTest, ReadsWhatItChecks) {
  const std::string bytes = GgufHead(1, 3) + Alignment<uint32_t>(4, 32) + GgufText("n") +
                            Bytes<uint32_t>(8) + GgufText("tiny") + GgufText("list") +
                            Bytes<uint32_t>(9) + Bytes<uint32_t>(5) + Bytes<uint64_t>(2) +
                            Bytes<int32_t>(-3) + Bytes<int32_t>(8) + Tensor("t", 2, 4, 0);
  const size_t padded = (bytes.size() + 31) / 32 * 32;
  const std::string data(64, 'd');
  const std::string whole = bytes + std::string(padded - bytes.size(), '\0') + data;
  const Result<GgufHeader> header = ReadGgufHeader(Write("good.gguf", whole));
  ASSERT_TRUE(header.has_value()) << header.error().message;
  EXPECT_EQ(header->Integer("general.alignment", 0), 32);
  EXPECT_EQ(header->Text("n", ""), "tiny");
  EXPECT_EQ(header->Integer("list", 0), 8);
  EXPECT_EQ(header->Integer("absent", -7), -7);
  ASSERT_EQ(header->tensors.size(), 1U);
  EXPECT_EQ(header->tensors[0].bytes, 64U);
  // One byte short, and at every other length: an error, never more.
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ReadGgufHeader(Write("cut.gguf", whole.substr(0, length)))) << length;
  }
}

// llama.cpp #6774: SIGBUS with memory mapping.
TEST_F(GgufHeaderTest, CutModel) {
  if (BundledModel().empty()) {
    GTEST_SKIP() << "the bundled model is not here";
  }
  std::ifstream file(BundledModel(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const size_t length : {whole.size() / 2, whole.size() - 1, size_t{3000}, size_t{24}}) {
    EXPECT_EQ(OpenError(Write("cut.gguf", whole.substr(0, length))).code, ErrorCode::kDataLoss);
  }
}

TEST_F(GgufHeaderTest, MissingSecondPart) {
  const std::string split = GgufText("split.count") + Bytes<uint32_t>(2) + Bytes<uint16_t>(2);
  const std::string path = Write("m-00001-of-00002.gguf", GgufHead(0, 1) + split);
  LlamaOptions options;
  options.model_path = path;
  const Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::kNotFound);
  EXPECT_NE(engine.error().message.find("m-00002-of-00002.gguf"), std::string::npos);
}

// Sound as GGUF, but no model: llama.cpp's own reason comes through.
TEST_F(GgufHeaderTest, NoModelInside) {
  const std::string architecture =
      GgufText("general.architecture") + Bytes<uint32_t>(8) + GgufText("unheard-of");
  const Error error = OpenError(Write("strange.gguf", GgufHead(0, 1) + architecture));
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_NE(error.message.find("unheard-of"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace hyper::llama
