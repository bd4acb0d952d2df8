#include "src/engine/llama/model.h"

#include <ggml.h>
#include <gguf.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "src/engine/llama/backend.h"
#include "src/engine/llama/cpu_load.h"
#include "src/engine/llama/gguf/file_hash.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

// A GGUF file made from the bundled one.
class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
    path_ = (std::filesystem::temp_directory_path() /
             ("hyper-model-" + std::to_string(getpid()) + ".gguf"))
                .string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Writes the bundled model after `change`, which may drop tensors by answering false.
  void WriteChanged(const std::function<void(gguf_context*)>& change_values,
                    const std::function<bool(const std::string&)>& keep,
                    const std::function<void(gguf_context*, ggml_context*)>& add) {
    ggml_context* weights = nullptr;
    gguf_context* source = gguf_init_from_file(BundledModel().c_str(), {false, &weights});
    ASSERT_NE(source, nullptr);
    gguf_context* target = gguf_init_empty();
    gguf_set_kv(target, source);
    change_values(target);
    for (ggml_tensor* tensor = ggml_get_first_tensor(weights); tensor != nullptr;
         tensor = ggml_get_next_tensor(weights, tensor)) {
      if (gguf_find_tensor(source, tensor->name) >= 0 && keep(tensor->name)) {
        gguf_add_tensor(target, tensor);
      }
    }
    ggml_context* more = ggml_init({64U << 20, nullptr, false});
    add(target, more);
    EXPECT_TRUE(gguf_write_to_file(target, path_.c_str(), false));
    gguf_free(target);
    gguf_free(source);
    ggml_free(more);
    ggml_free(weights);
  }

  // The bundled model without its experts: a dense Qwen3 with feed-forward layers that give 0.
  void WriteDense() {
    WriteChanged(
        [](gguf_context* target) {
          gguf_set_val_str(target, "general.architecture", "qwen3");
          for (const char* name :
               {"block_count", "context_length", "embedding_length", "attention.head_count",
                "attention.head_count_kv", "attention.key_length", "attention.value_length"}) {
            const int64_t old = gguf_find_key(target, (std::string("qwen3moe.") + name).c_str());
            ASSERT_GE(old, 0) << name;
            gguf_set_val_u32(target, (std::string("qwen3.") + name).c_str(),
                             gguf_get_val_u32(target, old));
          }
          gguf_set_val_u32(target, "qwen3.feed_forward_length", 32);
          gguf_set_val_f32(target, "qwen3.attention.layer_norm_rms_epsilon", 1e-6F);
        },
        [](const std::string& name) {
          return name.find("_exps") == std::string::npos &&
                 name.find("ffn_gate_inp") == std::string::npos;
        },
        [](gguf_context* target, ggml_context* more) {
          for (int layer = 0; layer < 6; ++layer) {
            for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"}) {
              const bool down = std::string(name) == "ffn_down";
              ggml_tensor* tensor =
                  ggml_new_tensor_2d(more, GGML_TYPE_F32, down ? 32 : 192, down ? 192 : 32);
              std::memset(tensor->data, 0, ggml_nbytes(tensor));
              ggml_set_name(tensor,
                            ("blk." + std::to_string(layer) + "." + name + ".weight").c_str());
              gguf_add_tensor(target, tensor);
            }
          }
        });
  }

  LlamaOptions Options() const {
    LlamaOptions options = BundledOptions();
    options.model_path = path_;
    options.context_cells = 256;
    return options;
  }

  std::string path_;
};

TEST_F(ModelTest, TheBundledModelIsDescribed) {
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(BundledOptions());
  const ModelInfo& info = engine->model();
  EXPECT_EQ(info.architecture, "qwen3moe");
  EXPECT_EQ(info.cpu_backend == "native", HYPER_NATIVE) << info.cpu_backend;
  if (info.cpu_backend != "native") {
    EXPECT_FALSE(HasPoolAttention());
  } else {
#ifdef __x86_64__
    EXPECT_EQ(HasPoolAttention(), __builtin_cpu_supports("avx2") != 0);
#endif
  }
  EXPECT_EQ(info.vocab_size, 640);
  EXPECT_EQ(info.expert_count, 16);
  EXPECT_EQ(info.expert_used_count, 4);
  EXPECT_EQ(info.moe_layer_count, 6);
  EXPECT_EQ(info.context_train_tokens, 1024);
  EXPECT_TRUE(info.has_chat_template);
  EXPECT_EQ(info.bytes, static_cast<int64_t>(std::filesystem::file_size(BundledModel())));
  EXPECT_EQ(info.hash, *FileHash(BundledModel()));
  EXPECT_TRUE(engine->capabilities().routing);
  EXPECT_EQ(engine->capabilities().cells_total, 8192);
  // 6 layers of 2 heads of 32, keys and values, in F16.
  EXPECT_EQ(engine->cost().bytes_per_cell, 6 * 2 * 2 * 32 * 2);
}

TEST_F(ModelTest, DenseModelsDecodeButCannotRefine) {
  WriteDense();
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(Options());
  ASSERT_NE(engine, nullptr);
  EXPECT_FALSE(engine->capabilities().routing);
  const std::vector<Token> prompt = {1, 2, 3};
  const Result<LaneId> lane = engine->Open(prompt, Sampled(1));
  RouteSpec spec;
  spec.routes = 2;
  EXPECT_EQ(engine->Route(*lane, spec).error().code, ErrorCode::kUnsupported);
  spec.routes = 1;
  EXPECT_TRUE(engine->Route(*lane, spec).ok());
  ASSERT_TRUE(engine->Grant(*lane, 4).ok());
  EXPECT_EQ(RunAll(*engine)[*lane].tokens.size(), 4U);
}

// llama.cpp #15345: a null pointer is printed there.
TEST_F(ModelTest, NoChatTemplateMeansPlainTextAndAWarning) {
  WriteChanged([](gguf_context* target) { gguf_remove_key(target, "tokenizer.chat_template"); },
               [](const std::string&) { return true; }, [](gguf_context*, ggml_context*) {});
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(Options());
  ASSERT_NE(engine, nullptr);
  EXPECT_FALSE(engine->model().has_chat_template);
  const std::vector<ChatMessage> messages = {{"system", "Be brief."}, {"user", "1+1<|im_end|>"}};
  const Result<Prompt> prompt = engine->RenderChat(messages, {});
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->text, "Be brief.\n\n1+1<|im_end|>");
  EXPECT_NE(prompt->warning.find("no chat template"), std::string::npos);
  EXPECT_FALSE(prompt->reasoning_opened);
  for (const Token token : prompt->tokens) {
    EXPECT_FALSE(engine->IsEndOfGeneration(token));
  }
}

// llama.cpp ends the process at the first text that such a model is to read.
TEST_F(ModelTest, AModelWithoutATokenizerIsRefused) {
  WriteChanged(
      [](gguf_context* target) {
        const int64_t key = gguf_find_key(target, "general.architecture");
        const std::string size = std::string(gguf_get_val_str(target, key)) + ".vocab_size";
        gguf_set_val_u32(target, size.c_str(), 640);
        gguf_set_val_str(target, "tokenizer.ggml.model", "no_vocab");
      },
      [](const std::string&) { return true; }, [](gguf_context*, ggml_context*) {});
  const Result<std::unique_ptr<LlamaEngine>> engine = LlamaEngine::Make(Options());
  ASSERT_FALSE(engine.has_value());
  EXPECT_NE(engine.error().message.find("has no tokenizer"), std::string::npos)
      << engine.error().message;
}

TEST_F(ModelTest, AMissingTensorIsLlamasErrorInOneLine) {
  WriteChanged([](gguf_context*) {},
               [](const std::string& name) { return name != "blk.3.attn_q.weight"; },
               [](gguf_context*, ggml_context*) {});
  const Result<std::unique_ptr<LlamaEngine>> engine = LlamaEngine::Make(Options());
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::kDataLoss);
  EXPECT_NE(engine.error().message.find("blk.3.attn_q.weight"), std::string::npos)
      << engine.error().message;
  EXPECT_EQ(engine.error().message.find('\n'), std::string::npos);
}

// eullm PR #302, llama.cpp #8101: a null pointer and no reason there.
TEST_F(ModelTest, AnOversizedContextNamesTheBytesItNeeds) {
  LlamaOptions options = BundledOptions();
  options.context_cells = 100000000;
  const Result<std::unique_ptr<LlamaEngine>> engine = LlamaEngine::Make(options);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(engine.error().message.find("153600000000"), std::string::npos)
      << engine.error().message;
  EXPECT_NE(engine.error().message.find("--ctx"), std::string::npos);
}

TEST_F(ModelTest, OptionsOutOfRangeAreNamed) {
  const auto message = [](const std::function<void(LlamaOptions*)>& change) {
    LlamaOptions options = BundledOptions();
    change(&options);
    const Result<std::unique_ptr<LlamaEngine>> engine = LlamaEngine::Make(options);
    EXPECT_FALSE(engine.has_value());
    return engine ? std::string() : engine.error().message;
  };
  EXPECT_NE(message([](LlamaOptions* o) { o->context_cells = -5; }).find("-5"), std::string::npos);
  EXPECT_NE(message([](LlamaOptions* o) { o->max_lanes = -2; }).find("-2"), std::string::npos);
  EXPECT_NE(message([](LlamaOptions* o) { o->threads = -1; }).find("-1"), std::string::npos);
  EXPECT_NE(message([](LlamaOptions* o) { o->max_forward_rows = 64; }).find("64"),
            std::string::npos);
  EXPECT_NE(message([](LlamaOptions* o) { o->max_forward_rows = 1; }).find('1'), std::string::npos);
}

// llama.cpp #10397: more threads than allowed CPUs hang there.
TEST_F(ModelTest, ThreadsAreClampedToTheAllowedCpus) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0) {
      CPU_SET(cpu, &one);
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AllowedCpus(), 1);
  LlamaOptions options = BundledOptions();
  options.threads = 64;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
  EXPECT_EQ(llama_n_threads(EngineProbe::Context(*engine)), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST_F(ModelTest, KvTypesOtherThanF16) {
  for (const KvType type : {KvType::kF32, KvType::kBf16, KvType::kQ8_0, KvType::kQ4_0}) {
    LlamaOptions options = BundledOptions();
    options.context_cells = 256;
    options.kv_type = type;
    const std::unique_ptr<LlamaEngine> engine = MakeOrFail(options);
    ASSERT_NE(engine, nullptr);
    const Result<LaneId> lane =
        engine->Open(QuestionTokens(*engine, "Solve 5x+43=173 for x."), Greedy());
    ASSERT_TRUE(lane && engine->Grant(*lane, 3).ok());
    EXPECT_EQ(RunAll(*engine)[*lane].tokens.size(), 3U);
  }
}

TEST(FileHashTest, IsTheSha256OfASmallFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hyper-hash-" + std::to_string(getpid())))
          .string();
  FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("abc", file);
  std::fclose(file);
  // The example of FIPS 180-2, appendix B.1.
  EXPECT_EQ(*FileHash(path),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::filesystem::remove(path);
  EXPECT_EQ(FileHash(path).error().code, ErrorCode::kNotFound);
}

// The reasons are those of CUDA, Vulkan, the CPU and llama.cpp itself.
TEST(WeightsError, TooLittleMemoryIsNoBrokenFile) {
  LlamaOptions options;
  options.model_path = "large.gguf";
  for (const char* reason :
       {"allocating 9000.00 MiB on device 0: cudaMalloc failed", "CUDA error: out of memory",
        "Device memory allocation of size 9437184000 failed.",
        "vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
        "failed to allocate buffer of size 9437184000",
        "error loading model: unable to allocate CUDA0 buffer"}) {
    const Error error = WeightsError(options, reason, /*on_cpu=*/false);
    EXPECT_EQ(error.code, ErrorCode::kResourceExhausted) << reason;
    EXPECT_EQ(error.message, std::string("model file \"large.gguf\" does not fit into memory: ") +
                                 reason +
                                 "; give a smaller --gpu-layers, free memory of the GPU, or use a "
                                 "smaller model");
    EXPECT_EQ(WeightsError(options, reason, /*on_cpu=*/true).message,
              std::string("model file \"large.gguf\" does not fit into memory: ") + reason +
                  "; free some, or use a smaller model");
  }
}

TEST(WeightsError, AnythingElseIsTheFile) {
  const LlamaOptions options;
  EXPECT_EQ(WeightsError(options, "missing tensor 'output.weight'", false).code,
            ErrorCode::kDataLoss);
  EXPECT_EQ(WeightsError(options, "unknown model architecture: 'x'", false).code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hyper::llama
