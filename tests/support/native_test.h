// Tests of single operations on the CPU backend HYPER_NATIVE_LIBRARY, which the test's target
// names.
#pragma once

#include <ggml.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/native_products.h"

namespace hyper::test {

inline std::string Bits(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

class NativeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    backend_ = new NativeBackend(HYPER_NATIVE_LIBRARY);
  }
  static void TearDownTestSuite() { delete backend_; }

  void SetUp() override {
    ASSERT_TRUE(backend_->Loaded()) << HYPER_NATIVE_LIBRARY;
    if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) {
      GTEST_SKIP() << "neither AVX-512 nor AVX2";
    }
  }

  static inline NativeBackend* backend_ = nullptr;
};

}  // namespace hyper::test
