// Whole sessions on the real engine while its forwards fail: nothing is lost but what the fault
// took, the answer still comes, and every lane and cell is returned.
//
// This program's llama_decode stands before llama.cpp's: the library calls it, and it fails on
// order.
#include <dlfcn.h>
#include <ggml.h>
#include <gguf.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/llama_engine.h"
#include "hyper/session.h"
#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

enum class Fault { kNone, kCode, kBadAlloc, kNan, kMinusInfinity };

// What llama_decode does; reset before each run.
struct Order {
  Fault fault = Fault::kNone;
  int code = 0;
  int at = 0;        // forward that fails, counted from 0
  int forwards = 0;  // so far
  int struck = 0;
};

Order& TheOrder() {
  static Order order;
  return order;
}

}  // namespace
}  // namespace hyper

extern "C" int32_t llama_decode(llama_context* context, llama_batch batch) {
  using Decode = int32_t (*)(llama_context*, llama_batch);
  static const auto kReal = reinterpret_cast<Decode>(dlsym(RTLD_NEXT, "llama_decode"));
  hyper::Order& order = hyper::TheOrder();
  const bool strike = order.fault != hyper::Fault::kNone && order.forwards++ == order.at;
  order.struck += strike ? 1 : 0;
  if (strike && order.fault == hyper::Fault::kBadAlloc) {
    throw std::bad_alloc();
  }
  if (strike && order.fault == hyper::Fault::kCode) {
    return order.code;
  }
  const int32_t code = kReal(context, batch);
  if (!strike || code != 0) {
    return code;
  }
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
  const float value = order.fault == hyper::Fault::kNan ? std::numeric_limits<float>::quiet_NaN()
                                                        : -std::numeric_limits<float>::infinity();
  for (int row = 0; row < batch.n_tokens; ++row) {
    if (batch.logits[row] == 0) {
      continue;
    }
    float* const logits = llama_get_logits_ith(context, row);
    std::fill(logits, logits + vocabulary, value);
  }
  return code;
}

namespace hyper {
namespace {

constexpr int kForwards = 14;  // of which each is made to fail in turn

std::string ModelPath(const std::string& name) {
  return std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/" + name + ".gguf";
}

ExtractedAnswer FirstByte(std::string_view text, bool finished, bool) {
  if (text.empty()) {
    return {};
  }
  const std::string answer(text.substr(0, 1));
  return {answer, answer, !finished};
}

RunPlan SmallPlan() {
  RunPlan plan = *ResolveRun({"hyper", "short", {}, {}}, {});
  plan.options.width = 5;
  plan.options.warmup = 3;
  plan.options.interval = 4;
  plan.options.window = 4;
  plan.options.max_tokens = 20;
  return plan;
}

class Faults : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    TheOrder() = {};
    Make(ModelPath(GetParam()));
  }
  void TearDown() override { TheOrder() = {}; }

  void Make(const std::string& path, int cells = 2048) {
    LlamaOptions options;
    options.model_path = path;
    options.context_cells = cells;
    options.max_lanes = 16;
    options.threads = 1;
    Result<std::unique_ptr<Engine>> engine = MakeLlamaEngine(options);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
  }

  std::unique_ptr<Session> NewSession(const RunPlan& plan = SmallPlan()) {
    SessionSpec spec;
    spec.prompt.tokens = {72, 101, 108, 108, 111, 63, 10};
    spec.seed = {11, 0};
    spec.most.cells = 1 << 20;
    spec.extractor = FirstByte;
    Result<std::unique_ptr<Session>> session = OpenSession(*engine_, plan, std::move(spec));
    EXPECT_TRUE(session.has_value());
    return std::move(*session);
  }

  // Steps a session to its end; `before` is called before each step.
  Status Run(Session& session, const std::function<void(int)>& before = {}) {
    Driver driver(*engine_);
    driver.Add(&session);
    for (int step = 0; !driver.idle(); ++step) {
      EXPECT_LT(step, 2000) << "the session does not end";
      if (step >= 2000) {
        break;
      }
      if (before) {
        before(step);
      }
      if (Status status = driver.Step(0); !status) {
        return status;
      }
    }
    EXPECT_TRUE(session.finished());
    return {};
  }

  void ExpectNothingLeft() {
    EXPECT_EQ(engine_->cost().lanes_open, 0);
    EXPECT_EQ(engine_->cost().cells_used, 0);
  }

  // The engine still decodes, and as a fresh one does.
  std::vector<Token> FreshRun() {
    TheOrder() = {};
    auto session = NewSession();
    EXPECT_TRUE(Run(*session).ok());
    std::vector<Token> tokens;
    for (const Path& path : session->pool().paths()) {
      tokens.insert(tokens.end(), path.tokens.begin(), path.tokens.end());
    }
    return tokens;
  }

  std::unique_ptr<Engine> engine_;
};

TEST_P(Faults, WithoutAFaultNothingIsLeft) {
  auto session = NewSession();
  ASSERT_TRUE(Run(*session).ok());
  EXPECT_TRUE(session->Result().answer.has_value());
  session.reset();
  ExpectNothingLeft();
}

TEST_P(Faults, NoCellsOnceIsOnlyAStall) {
  const std::vector<Token> expected = FreshRun();
  for (int at = 0; at < kForwards; ++at) {
    SCOPED_TRACE(at);
    TheOrder() = {Fault::kCode, 1, at};
    auto session = NewSession();
    ASSERT_TRUE(Run(*session).ok());
    EXPECT_EQ(TheOrder().struck, 1);
    EXPECT_TRUE(session->Result().answer.has_value());
    session.reset();
    ExpectNothingLeft();
  }
  EXPECT_EQ(FreshRun(), expected);
}

TEST_P(Faults, ErrorCodesEndTheRunWithTheVoteSoFar) {
  for (const int code : {2, -1, -2, -3}) {
    for (int at = 0; at < kForwards; at += 3) {
      SCOPED_TRACE("code " + std::to_string(code) + " at " + std::to_string(at));
      TheOrder() = {Fault::kCode, code, at};
      auto session = NewSession();
      const Status status = Run(*session);
      ASSERT_FALSE(status.ok());
      EXPECT_NE(status.error().message.find("code " + std::to_string(code)), std::string::npos);
      EXPECT_TRUE(session->finished());
      EXPECT_EQ(session->status().error().message, status.error().message);
      EXPECT_TRUE(session->Result().partial);
      session.reset();
      ExpectNothingLeft();
    }
  }
}

TEST_P(Faults, FailedAllocationsAreErrorsToo) {
  for (int at = 0; at < kForwards; at += 3) {
    SCOPED_TRACE(at);
    TheOrder() = {Fault::kBadAlloc, 0, at};
    auto session = NewSession();
    const Status status = Run(*session);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
    session.reset();
    ExpectNothingLeft();
  }
}

TEST_P(Faults, RowsWithoutSenseCostNoMoreThanTheirPaths) {
  for (const Fault fault : {Fault::kNan, Fault::kMinusInfinity}) {
    for (int at = 1; at < kForwards; at += 2) {
      SCOPED_TRACE(at);
      TheOrder() = {fault, 0, at};
      auto session = NewSession();
      ASSERT_TRUE(Run(*session).ok());
      EXPECT_EQ(TheOrder().struck, 1);
      for (const Path& path : session->pool().paths()) {
        for (const double confidence : path.confidences) {
          EXPECT_FALSE(std::isnan(confidence));
        }
      }
      session.reset();
      ExpectNothingLeft();
    }
  }
}

TEST_P(Faults, StoppedAtAnyStepTheVoteSoFarStands) {
  for (int at = 0; at < 30; at += 2) {
    SCOPED_TRACE(at);
    auto session = NewSession();
    ASSERT_TRUE(Run(*session, [&](int step) {
                  if (step == at && !session->finished()) {
                    session->Stop("interrupted");
                  }
                }).ok());
    session.reset();
    ExpectNothingLeft();
  }
}

TEST_P(Faults, AContextFullInTheMiddleOfACharacterEndsThePath) {
  // Random weights write random bytes, so texts end within characters all the time.
  Make(ModelPath(GetParam()), 64);
  RunPlan plan = SmallPlan();
  plan.options.max_tokens = 200;
  auto session = NewSession(plan);
  ASSERT_TRUE(Run(*session).ok());
  int cut = 0;
  for (const Path& path : session->pool().paths()) {
    cut += path.text.empty() || static_cast<unsigned char>(path.text.back()) < 0x80 ? 0 : 1;
  }
  EXPECT_GT(cut, 0);
  session.reset();
  ExpectNothingLeft();
}

TEST_P(Faults, AVocabularyWithoutAnEndRunsToItsLimit) {
  const test::TemporaryFolder folder;
  const std::string path = folder.File("endless.gguf");
  ggml_context* weights = nullptr;
  gguf_context* source = gguf_init_from_file(ModelPath(GetParam()).c_str(), {false, &weights});
  ASSERT_NE(source, nullptr);
  gguf_context* file = gguf_init_empty();
  gguf_set_kv(file, source);
  for (ggml_tensor* tensor = ggml_get_first_tensor(weights); tensor != nullptr;
       tensor = ggml_get_next_tensor(weights, tensor)) {
    if (gguf_find_tensor(source, tensor->name) >= 0) {
      gguf_add_tensor(file, tensor);
    }
  }
  gguf_remove_key(file, "tokenizer.ggml.eos_token_id");
  // llama.cpp knows "<|im_end|>" by its text: it becomes ordinary text here.
  const int64_t key = gguf_find_key(file, "tokenizer.ggml.tokens");
  std::vector<std::string> tokens;
  for (size_t i = 0; i < gguf_get_arr_n(file, key); ++i) {
    const std::string token = gguf_get_arr_str(file, key, i);
    tokens.push_back(token.rfind("<|", 0) == 0 ? "word" + std::to_string(i) : token);
  }
  std::vector<const char*> pointers;
  pointers.reserve(tokens.size());
  for (const std::string& token : tokens) {
    pointers.push_back(token.c_str());
  }
  gguf_set_arr_str(file, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  ASSERT_TRUE(gguf_write_to_file(file, path.c_str(), false));
  gguf_free(file);
  gguf_free(source);
  ggml_free(weights);

  Make(path);
  for (Token token = 0; token < engine_->model().vocab_size; ++token) {
    EXPECT_FALSE(engine_->IsEndOfGeneration(token)) << token;
  }
  auto session = NewSession();
  ASSERT_TRUE(Run(*session).ok());
  EXPECT_TRUE(session->Result().answer.has_value());
  session.reset();
  ExpectNothingLeft();
}

TEST_P(Faults, CellsShortMidRunStopExpansionThenPruneAndTheAnswerComes) {
  RunPlan plan = SmallPlan();
  EXPECT_TRUE(SetOption(plan.options, "actions", "single_token,branch").ok());
  EXPECT_TRUE(SetOption(plan.options, "threshold", "off").ok());
  plan.options.max_tokens = 30;
  for (const int cells : {24, 40, 64}) {
    SCOPED_TRACE(cells);
    Make(ModelPath(GetParam()), cells);
    auto session = NewSession(plan);
    ASSERT_TRUE(Run(*session).ok());
    EXPECT_LE(engine_->cost().cells_peak, cells);
    EXPECT_TRUE(session->Result().answer.has_value());
    EXPECT_FALSE(session->Result().partial);
    std::vector<ShortageRecord> shortages;
    for (const Record& record : session->TakeRecords()) {
      if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
        shortages.push_back(*shortage);
      }
    }
    ASSERT_GE(shortages.size(), 2U);
    EXPECT_EQ(shortages.front().step, ShortageStep::kExpansionStopped);
    for (const ShortageRecord& shortage : shortages) {
      if (shortage.path != kNoPath) {
        EXPECT_FALSE(session->pool().path(shortage.path).running());
      }
    }
    session.reset();
    ExpectNothingLeft();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Faults, ::testing::Values("qwen3moe", "qwen3next"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace hyper
