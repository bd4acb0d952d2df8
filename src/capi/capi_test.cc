// The C interface over a scripted engine, and over the bundled model where it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hyper/hyper.h"
#include "src/capi/engine_handle.h"
#include "src/capi/engine_options.h"
#include "src/report/json.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr const char* kModel = HYPER_SOURCE_DIR "/models/tinymath/tinymath-moe-6m-f16.gguf";
constexpr const char* kSmall =
    R"({"preset": "short", "width": 4, "warmup": 2, "temperature": 0, "seed": 7})";

// Every path writes "#### 42" and ends.
std::unique_ptr<hyper_engine> ScriptedHandle() {
  auto handle = std::make_unique<hyper_engine>();
  handle->engine =
      std::make_unique<FakeEngine>(ScriptedOptions([](uint64_t, std::string_view written, int) {
        constexpr std::string_view kText = "#### 42";
        return ScriptedNext{written.size() < kText.size() ? kText[written.size()] : '$', 5.0F};
      }));
  return handle;
}

// Out-parameters of a call, freed at the end.
struct Outcome {
  ~Outcome() {
    hyper_free(result);
    hyper_free(error);
  }
  Json Parsed() const { return result == nullptr ? Json() : Json::parse(result); }
  std::string Error() const { return error == nullptr ? "" : error; }

  char* result = nullptr;
  char* error = nullptr;
};

TEST(CApi, AsksAndReportsAsJson) {
  const auto handle = ScriptedHandle();
  Outcome out;
  ASSERT_EQ(hyper_ask(handle.get(), "6 x 7?", kSmall, nullptr, nullptr, &out.result, &out.error),
            HYPER_OK)
      << out.Error();
  EXPECT_EQ(out.error, nullptr);
  EXPECT_EQ(out.Parsed()["answer"], "42");
  EXPECT_EQ(out.Parsed()["seed"], 7);
  EXPECT_EQ(out.Parsed()["paths"].size(), 6U);
  EXPECT_FALSE(out.Parsed()["decisions"].empty());
}

TEST(CApi, ReportsWhatStoppedTheRun) {
  const auto handle = ScriptedHandle();
  Outcome out;
  ASSERT_EQ(hyper_ask(handle.get(), "6 x 7?",
                      R"({"method": "sc", "width": 9, "launch": "one", "stop": "sure"})", nullptr,
                      nullptr, &out.result, &out.error),
            HYPER_OK)
      << out.Error();
  EXPECT_FALSE(out.Parsed()["stop"].is_null()) << out.Parsed();
}

TEST(CApi, HandsEveryRecordToTheCallback) {
  const auto handle = ScriptedHandle();
  std::vector<std::string> kinds;
  const auto collect = [](const char* record, void* context) {
    static_cast<std::vector<std::string>*>(context)->push_back(
        Json::parse(record)["record"].get<std::string>());
    return 0;
  };
  Outcome out;
  ASSERT_EQ(hyper_ask(handle.get(), "q", kSmall, collect, &kinds, &out.result, &out.error),
            HYPER_OK);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "path"), 6);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "finish"), 6);
  EXPECT_EQ(static_cast<size_t>(std::count(kinds.begin(), kinds.end(), "decision")),
            out.Parsed()["decisions"].size());
}

TEST(CApi, TheCallbackStopsTheRun) {
  const auto handle = ScriptedHandle();
  int calls = 0;
  const auto stop_at_first = [](const char*, void* context) {
    ++*static_cast<int*>(context);
    return 1;
  };
  Outcome out;
  ASSERT_EQ(hyper_ask(handle.get(), "q", kSmall, stop_at_first, &calls, &out.result, &out.error),
            HYPER_OK);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(out.Parsed()["partial"], true);
  // The engine is as good as new.
  Outcome again;
  EXPECT_EQ(hyper_ask(handle.get(), "q", kSmall, nullptr, nullptr, &again.result, &again.error),
            HYPER_OK);
  EXPECT_EQ(again.Parsed()["partial"], false);
}

TEST(CApi, ErrorsAreCodesWithOneLine) {
  const auto handle = ScriptedHandle();
  const auto ask = [&](const char* question, const char* options, Outcome& out) {
    return hyper_ask(handle.get(), question, options, nullptr, nullptr, &out.result, &out.error);
  };
  Outcome bad_option;
  EXPECT_EQ(ask("q", R"({"width": 0})", bad_option), HYPER_INVALID_ARGUMENT);
  EXPECT_EQ(bad_option.result, nullptr);
  EXPECT_NE(bad_option.Error().find("width"), std::string::npos);
  Outcome bad_method;
  EXPECT_EQ(ask("q", R"({"method": "magic"})", bad_method), HYPER_NOT_FOUND);
  Outcome empty;
  EXPECT_EQ(ask("", kSmall, empty), HYPER_INVALID_ARGUMENT);
  Outcome null_question;
  EXPECT_EQ(ask(nullptr, kSmall, null_question), HYPER_INVALID_ARGUMENT);
  EXPECT_EQ(hyper_ask(handle.get(), "q", nullptr, nullptr, nullptr, nullptr, nullptr),
            HYPER_INVALID_ARGUMENT);
}

TEST(CApi, NothingIsThrownAcross) {
  const auto handle = ScriptedHandle();
  const auto throws = [](const char*, void*) -> int { throw 3; };
  Outcome out;
  EXPECT_EQ(hyper_ask(handle.get(), "q", kSmall, throws, nullptr, &out.result, &out.error),
            HYPER_INTERNAL);
  EXPECT_EQ(out.result, nullptr);
  EXPECT_FALSE(out.Error().empty());
}

TEST(CApi, OpenTellsWhatIsWrong) {
  hyper_engine* engine = nullptr;
  Outcome missing;
  EXPECT_EQ(hyper_engine_open("/no/such/model.gguf", nullptr, &engine, &missing.error),
            HYPER_NOT_FOUND);
  EXPECT_EQ(engine, nullptr);
  EXPECT_NE(missing.Error().find("/no/such/model.gguf"), std::string::npos);
  Outcome unknown;
  EXPECT_EQ(hyper_engine_open(kModel, R"({"thread": 2})", &engine, &unknown.error),
            HYPER_INVALID_ARGUMENT);
  EXPECT_EQ(hyper_engine_open(nullptr, nullptr, &engine, nullptr), HYPER_INVALID_ARGUMENT);
  hyper_engine_close(nullptr);
  hyper_free(nullptr);
  EXPECT_STREQ(hyper_version(), HYPER_VERSION);
}

TEST(CApi, AnswersWithTheBundledModel) {
  hyper_engine* engine = nullptr;
  Outcome open;
  ASSERT_EQ(hyper_engine_open(kModel, R"({"threads": 1})", &engine, &open.error), HYPER_OK)
      << open.Error();
  Outcome out;
  ASSERT_EQ(hyper_ask(engine, "Start with 25, add 13, add 40. What is the result?",
                      R"({"preset": "short", "width": 4, "warmup": 2, "answer-kind": "integer"})",
                      nullptr, nullptr, &out.result, &out.error),
            HYPER_OK)
      << out.Error();
  EXPECT_EQ(out.Parsed()["answer"], "78");
  hyper_engine_close(engine);
}

TEST(ParseEngineOptions, ReadsAllMembersAndRefusesOthers) {
  const Result<LlamaOptions> options = ParseEngineOptions(
      R"({"ctx": 4096, "max-lanes": 8, "threads": 2, "determinism": "fast", "kv-type": "q8_0",
          "flash-attention": "off", "gpu-layers": -1, "main-gpu": 1, "backend-dir": "b",
          "rpc": "a:1,b:2", "chat-template": "t"})",
      "model.gguf");
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->model_path, "model.gguf");
  EXPECT_EQ(options->context_cells, 4096);
  EXPECT_EQ(options->max_lanes, 8);
  EXPECT_EQ(options->threads, 2);
  EXPECT_FALSE(options->strict);
  EXPECT_EQ(options->kv_type, KvType::kQ8_0);
  EXPECT_EQ(options->flash_attention, Toggle::kOff);
  EXPECT_EQ(options->gpu_layers, -1);
  EXPECT_EQ(options->main_gpu, 1);
  EXPECT_EQ(options->rpc_servers, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(options->backend_dir, "b");
  EXPECT_EQ(options->chat_template, "t");
  EXPECT_EQ(ParseEngineOptions(R"({"gpu-layers": "auto"})", "m")->gpu_layers, kFitGpuLayers);
  EXPECT_FALSE(ParseEngineOptions(R"({"gpu-layers": "all"})", "m").has_value());
  EXPECT_FALSE(ParseEngineOptions(R"({"threads": "auto"})", "m").has_value());
  EXPECT_FALSE(ParseEngineOptions(R"({"context": 1})", "m").has_value());
  EXPECT_FALSE(ParseEngineOptions(R"({"kv-type": "f8"})", "m").has_value());
}

}  // namespace
}  // namespace hyper
