// Quantised weights: the kernels that ggml has for them, of the backend that this machine takes,
// for one row and for many, against the same weights as floats. The bundled model's own are f16,
// which other kernels read.
#include <gtest/gtest.h>
#include <llama.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/llama_fixture.h"
#include "tests/support/temporary_folder.h"

namespace hyper::llama {
namespace {

struct Type {
  llama_ftype type;
  const char* name;
};

// Writes `from` with weights of another type. Returns whether that went well.
bool Convert(const std::string& from, const std::string& to, llama_ftype type) {
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = type;
  params.nthread = 1;
  params.allow_requantize = true;
  const LogCapture quiet;
  return llama_model_quantize(from.c_str(), to.c_str(), &params) == 0;
}

class QuantizedTest : public ::testing::TestWithParam<Type> {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
    ASSERT_TRUE(Convert(BundledModel(), file_, GetParam().type));
    ASSERT_LT(std::filesystem::file_size(file_), std::filesystem::file_size(BundledModel()));
    ASSERT_TRUE(Convert(file_, floats_, LLAMA_FTYPE_ALL_F32));
  }

  // What `lanes` greedy lanes of one question say.
  static std::map<LaneId, LaneLog> Say(const std::string& model, int lanes) {
    LlamaOptions options = BundledOptions();
    options.model_path = model;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    const std::vector<Token> prompt = QuestionTokens(*engine, kJoinQuestion);
    for (int i = 0; i < lanes; ++i) {
      const Result<LaneId> lane = engine->Open(prompt, Greedy());
      EXPECT_TRUE(lane && engine->Grant(*lane, kTokens).ok());
    }
    return RunAll(*engine);
  }

  static constexpr int kTokens = 12;
  // Of a token. The kernels round each activation to 8 bits; the weights are the same.
  static constexpr double kMostDifference = 0.15;
  const test::TemporaryFolder folder_;
  const std::string file_ = folder_.File("quantized.gguf");
  const std::string floats_ = folder_.File("floats.gguf");
};

// The first token follows the whole prompt, whose rows are many; the others are one row for each
// lane.
TEST_P(QuantizedTest, SaysWhatTheSameWeightsSayAsFloats) {
  const LaneLog whole = Say(floats_, 1).begin()->second;
  for (const int lanes : {1, 20}) {
    const std::map<LaneId, LaneLog> logs = Say(file_, lanes);
    ASSERT_EQ(logs.size(), static_cast<size_t>(lanes));
    for (const auto& [lane, log] : logs) {
      ASSERT_FALSE(log.tokens.empty());
      for (size_t i = 0;
           i < std::min(log.tokens.size(), whole.tokens.size()) && log.tokens[i] == whole.tokens[i];
           ++i) {
        EXPECT_NEAR(log.logprobs[i], whole.logprobs[i], kMostDifference) << i;
      }
      EXPECT_EQ(log.tokens[0], whole.tokens[0]);
      EXPECT_EQ(log.tokens, logs.begin()->second.tokens) << "of " << lanes << " equal lanes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedTest,
                         ::testing::Values(Type{LLAMA_FTYPE_MOSTLY_Q8_0, "q8_0"},
                                           Type{LLAMA_FTYPE_MOSTLY_Q4_0, "q4_0"},
                                           Type{LLAMA_FTYPE_MOSTLY_Q4_K_M, "q4_k_m"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hyper::llama
