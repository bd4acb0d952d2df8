#include "src/engine/llama/gguf/counts.h"

#include <gguf.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyper/llama_engine.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/temporary_folder.h"

namespace hyper::llama {
namespace {

using Entries = std::vector<std::pair<std::string, GgufValue>>;

// The header of a sound model with experts, but for `changes`.
GgufHeader HeaderWith(const Entries& changes) {
  GgufHeader header;
  header.values["general.architecture"] = std::string("moe");
  const std::vector<std::pair<const char*, uint64_t>> sound = {
      {"block_count", 4},          {"context_length", 64},         {"embedding_length", 32},
      {"attention.head_count", 4}, {"attention.head_count_kv", 2}, {"expert_count", 12},
      {"expert_used_count", 4}};
  for (const auto& [key, value] : sound) {
    header.values[std::string("moe.") + key] = value;
  }
  for (const auto& [key, value] : changes) {
    header.values["moe." + key] = value;
  }
  header.tensors.push_back({"blk.0.attn_q.weight", {32, 32}});
  return header;
}

std::string Reason(const GgufHeader& header) {
  const Status status = CheckCounts(header, "m.gguf");
  if (status.ok()) {
    return "";
  }
  EXPECT_EQ(status.error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  return status.error().message;
}

TEST(CheckCounts, SoundModelsPass) {
  EXPECT_EQ(Reason(HeaderWith({})), "");
  EXPECT_EQ(Reason(HeaderWith({{"expert_group_count", uint64_t{1}}})), "");
  EXPECT_EQ(Reason(HeaderWith(
                {{"expert_group_count", uint64_t{4}}, {"expert_group_used_count", uint64_t{2}}})),
            "");
  // One number for each layer: those without experts have none.
  EXPECT_EQ(Reason(HeaderWith({{"expert_used_count", std::vector<int64_t>{0, 4, 4, 2}}})), "");
  // Neither experts nor heads.
  GgufHeader mamba = HeaderWith({{"expert_count", uint64_t{0}},
                                 {"expert_used_count", uint64_t{0}},
                                 {"attention.head_count", uint64_t{0}}});
  mamba.tensors.clear();
  EXPECT_EQ(Reason(mamba), "");
}

TEST(CheckCounts, NameTheCountAndWhatItTakes) {
  EXPECT_EQ(Reason(HeaderWith({{"expert_used_count", uint64_t{99}}})),
            "model file \"m.gguf\" is broken: moe.expert_used_count is 99 and takes 1 to 12 of 12 "
            "experts; download or convert it again");
  const std::vector<Entries> broken = {
      {{"block_count", uint64_t{0}}},
      {{"block_count", uint64_t{513}}},
      {{"nextn_predict_layers", uint64_t{5}}},
      {{"context_length", uint64_t{0}}},
      {{"embedding_length", uint64_t{0}}},
      {{"attention.head_count", uint64_t{0}}},
      {{"attention.head_count_kv", std::vector<int64_t>{0, 0, 0, 0}}},
      {{"attention.key_length", int64_t{-1}}},
      {{"attention.value_length", uint64_t{1} << 40}},
      {{"full_attention_interval", uint64_t{0}}},
      {{"attention.layer_norm_rms_epsilon", -1.0}},
      {{"attention.layer_norm_rms_epsilon", std::nan("")}},
      {{"rope.freq_base", 0.0}},
      {{"rope.freq_base", -10000.0}},
      {{"rope.freq_base", std::nan("")}},
      {{"rope.freq_base_swa", 0.0}},
      {{"rope.dimension_count", uint64_t{10}}},  // heads of 8
      {{"rope.dimension_count", uint64_t{7}}},
      {{"expert_count", uint64_t{1025}}},
      {{"expert_used_count", uint64_t{0}}},
      {{"expert_used_count", std::vector<int64_t>{4, 13, 4, 4}}},
      {{"expert_count", uint64_t{0}}},  // some are used
      {{"expert_group_count", uint64_t{12}}},
      {{"expert_group_count", uint64_t{5}}, {"expert_group_used_count", uint64_t{2}}},
      {{"expert_group_count", uint64_t{4}}},
      {{"expert_group_count", uint64_t{4}}, {"expert_group_used_count", uint64_t{4}}},
  };
  for (const Entries& entries : broken) {
    const std::string reason = Reason(HeaderWith(entries));
    EXPECT_NE(reason, "") << entries.front().first;
  }
  GgufHeader unused = HeaderWith({});
  unused.values.erase("moe.expert_used_count");
  EXPECT_NE(Reason(unused).find("expert_used_count is missing"), std::string::npos);
}

// Whatever number a header holds, opening the model ends in an engine or in one line.
TEST(CheckCounts, NoNumberEndsTheProcess) {
  const test::TemporaryFolder folder;
  const std::string path = folder.File("changed.gguf");
  int refused = 0;
  for (const char* name : {"deepseek2", "qwen3next"}) {
    const std::string sound =
        std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/" + name + ".gguf";
    std::ifstream file(sound, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const Result<GgufHeader> header = ReadGgufHeader(sound);
    ASSERT_TRUE(header.has_value());
    for (const auto& [key, value] : header->values) {
      const size_t place = bytes.find(test::GgufText(key)) + 8 + key.size();
      if (bytes.substr(place, 4) != test::Bytes<uint32_t>(GGUF_TYPE_UINT32)) {
        continue;
      }
      for (const uint32_t number : {0U, 99U, 0xFFFFFFFFU}) {
        std::string changed = bytes;
        changed.replace(place + 4, 4, test::Bytes(number));
        std::ofstream(path, std::ios::binary) << changed;
        LlamaOptions options;
        options.model_path = path;
        options.max_lanes = 2;
        options.context_cells = 256;
        options.threads = 1;
        const Result<MemoryPlan> plan = PlanLlamaMemory(options);
        const Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
        const std::string message = engine ? "" : engine.error().message;
        refused += engine ? 0 : 1;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_TRUE(engine || engine.error().code != ErrorCode::kInternal) << message;
        EXPECT_TRUE(plan || plan.error().code != ErrorCode::kInternal) << plan.error().message;
      }
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace hyper::llama
