#include "hyper/model_defaults.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "src/engine/llama/model.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

using Sampling = OptionValues;

enum GgufType : uint32_t { kUint32 = 4, kInt32 = 5, kFloat32 = 6 };

// The sampling of a file without tensors that holds these entries.
Result<Sampling> SamplingOf(const std::vector<std::string>& entries) {
  const test::TemporaryFolder folder;
  const std::string path = folder.File("model.gguf");
  std::string bytes = test::GgufHead(0, entries.size());
  for (const std::string& entry : entries) {
    bytes += entry;
  }
  std::ofstream(path, std::ios::binary) << bytes;
  const Result<ModelInfo> info = ReadModelInfo(path);
  return info ? Result<Sampling>(info->sampling) : Result<Sampling>(info.error());
}

TEST(ReadModelInfo, ComesOutOfTheMetadata) {
  const auto sampling = SamplingOf({test::GgufEntry("general.sampling.temp", kFloat32, 0.6F),
                                    test::GgufEntry("general.sampling.top_k", kInt32, int32_t{20}),
                                    test::GgufEntry("general.sampling.top_p", kFloat32, 0.95F),
                                    test::GgufEntry("general.sampling.min_p", kFloat32, 0.0F)});
  ASSERT_TRUE(sampling.has_value()) << sampling.error().message;
  EXPECT_EQ(*sampling,
            (Sampling{{"temperature", "0.6"}, {"top-k", "20"}, {"top-p", "0.95"}, {"min-p", "0"}}));
}

TEST(ReadModelInfo, IsEmptyWhereTheFileSaysNothing) {
  EXPECT_TRUE(SamplingOf({test::GgufEntry("general.alignment", kUint32, uint32_t{32})})->empty());
}

TEST(ReadModelInfo, LeavesOutWhatNoOptionTakes) {
  EXPECT_TRUE(SamplingOf({test::GgufEntry("general.sampling.temp", kFloat32, std::nanf("")),
                          test::GgufEntry("general.sampling.top_k", kInt32, int32_t{-1}),
                          test::GgufEntry("general.sampling.top_p", kFloat32, 0.0F),
                          test::GgufEntry("general.sampling.min_p", kFloat32, 1.0F)})
                  ->empty());
}

TEST(ReadModelInfo, TellsTemplatesThatReason) {
  EXPECT_TRUE(llama::TemplateReasons("<|im_start|>assistant\n<think>\n"));
  EXPECT_TRUE(llama::TemplateReasons("{% if enable_thinking is defined %}"));
  EXPECT_TRUE(llama::TemplateReasons("<|start|>assistant<|channel|>final"));
  EXPECT_FALSE(llama::TemplateReasons("{{ '<|im_start|>assistant\n' }}"));
  EXPECT_FALSE(llama::TemplateReasons(""));
}

TEST(ReadModelInfo, RefusesWhatIsNoModel) {
  EXPECT_EQ(ReadModelInfo("no-such-file.gguf").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hyper
