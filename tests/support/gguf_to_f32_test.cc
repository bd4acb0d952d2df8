#include "tests/support/gguf_to_f32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "ggml.h"
#include "gguf.h"

namespace hyper::test {
namespace {

struct GgufFile {
  explicit GgufFile(const std::string& path)
      : gguf(gguf_init_from_file(path.c_str(), {/*no_alloc=*/false, /*ctx=*/&tensors})) {}
  ~GgufFile() {
    gguf_free(gguf);
    ggml_free(tensors);
  }
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  ggml_context* tensors = nullptr;
  gguf_context* gguf = nullptr;
};

const char* const kModel = HYPER_SOURCE_DIR "/models/tinymath/tinymath-moe-6m-f16.gguf";

class GgufToF32Test : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("hyper_gguf_to_f32_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
       "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

// Half-precision bits to a value, by the definition of the format (an oracle apart from ggml's).
double HalfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_F(GgufToF32Test, EveryWeightKeepsItsValueNameShapeAndPlace) {
  const std::string target = folder_ / "f32.gguf";
  ASSERT_TRUE(GgufToF32(kModel, target).ok());
  const GgufFile source(kModel);
  const GgufFile result(target);
  ASSERT_NE(result.gguf, nullptr);
  ASSERT_EQ(gguf_get_n_tensors(source.gguf), gguf_get_n_tensors(result.gguf));
  int64_t halves = 0;
  for (int64_t i = 0; i < gguf_get_n_tensors(source.gguf); ++i) {
    const char* name = gguf_get_tensor_name(source.gguf, i);
    EXPECT_STREQ(name, gguf_get_tensor_name(result.gguf, i));
    const ggml_tensor* from = ggml_get_tensor(source.tensors, name);
    const ggml_tensor* to = ggml_get_tensor(result.tensors, name);
    ASSERT_EQ(to->type, GGML_TYPE_F32);
    ASSERT_TRUE(ggml_are_same_shape(from, to)) << name;
    const float* values = static_cast<const float*>(to->data);
    for (int64_t k = 0; k < ggml_nelements(from); ++k) {
      const double expected = from->type == GGML_TYPE_F16
                                  ? HalfValue(static_cast<const uint16_t*>(from->data)[k])
                                  : static_cast<const float*>(from->data)[k];
      ASSERT_EQ(values[k], expected) << name << " element " << k;
    }
    halves += from->type == GGML_TYPE_F16 ? ggml_nelements(from) : 0;
  }
  EXPECT_GT(halves, 6'000'000);  // the model has 6.2 M weights, nearly all of them halves
}

TEST_F(GgufToF32Test, MetadataIsKept) {
  const std::string target = folder_ / "f32.gguf";
  ASSERT_TRUE(GgufToF32(kModel, target).ok());
  const GgufFile source(kModel);
  const GgufFile result(target);
  ASSERT_EQ(gguf_get_n_kv(source.gguf), gguf_get_n_kv(result.gguf));
  const int64_t key = gguf_find_key(result.gguf, "tokenizer.ggml.tokens");
  ASSERT_GE(key, 0);
  EXPECT_EQ(gguf_get_arr_n(result.gguf, key), 640U);
  EXPECT_EQ(gguf_get_val_u32(result.gguf, gguf_find_key(result.gguf, "general.file_type")), 0U);
}

TEST_F(GgufToF32Test, AFileThatIsNoGgufIsRefused) {
  const std::string text = folder_ / "text.gguf";
  std::ofstream(text) << "not a model";
  EXPECT_EQ(GgufToF32(text, folder_ / "out.gguf").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(GgufToF32(folder_ / "missing.gguf", folder_ / "out.gguf").error().code,
            ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.gguf"));
}

TEST_F(GgufToF32Test, AnUnwritableTargetIsAnErrorAndLeavesNothing) {
  const std::string target = folder_ / "no_such_folder" / "out.gguf";
  EXPECT_EQ(GgufToF32(kModel, target).error().code, ErrorCode::kResourceExhausted);
  EXPECT_FALSE(std::filesystem::exists(target));
}

}  // namespace
}  // namespace hyper::test
