// Sessions on the bundled model whose cells are taken away in the middle: in strict mode they say
// what they say alone, to the byte, whenever it happens and whatever runs beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr int64_t kCells = 640;

struct Ask {
  const char* method;
  OptionValues options;
};

class ParkedSession : public ::testing::TestWithParam<Ask> {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
    LlamaOptions options = BundledOptions();
    options.context_cells = kCells;
    engine_ = MakeOrFail(options);
    ASSERT_NE(engine_, nullptr);
    ASSERT_TRUE(engine_->capabilities().strict);
  }

  std::unique_ptr<Session> Open(const Ask& ask, uint64_t seed) {
    OptionValues values = ask.options;
    values.insert(values.end(), {{"interval", "4"}, {"window", "4"}});
    const Result<RunPlan> plan = ResolveRun({ask.method, "short", values, {}}, engine_->model());
    EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
    const std::vector<ChatMessage> messages = {{"user", kEquationQuestion}};
    SessionSpec spec;
    spec.prompt = *engine_->RenderChat(messages, {});
    spec.seed = {seed, 0};
    spec.most.cells = kCells;
    for (Token token = 0; token < engine_->model().vocab_size; ++token) {
      if (engine_->IsEndOfGeneration(token)) {
        spec.logit_bias.emplace_back(token, -100.0F);
      }
    }
    Result<std::unique_ptr<Session>> session = OpenSession(*engine_, *plan, std::move(spec));
    EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message);
    return std::move(*session);
  }

  std::unique_ptr<LlamaEngine> engine_;
};

void ExpectSamePaths(const Session& a, const Session& b, const std::string& what) {
  ASSERT_EQ(a.pool().paths().size(), b.pool().paths().size()) << what;
  for (size_t i = 0; i < a.pool().paths().size(); ++i) {
    const Path& one = a.pool().paths()[i];
    const Path& other = b.pool().paths()[i];
    EXPECT_EQ(one.tokens, other.tokens) << what;
    EXPECT_EQ(one.logprobs, other.logprobs) << what;
    EXPECT_EQ(one.confidences, other.confidences) << what;
    EXPECT_EQ(one.reason, other.reason) << what;
  }
  EXPECT_EQ(a.Result().answer, b.Result().answer) << what;
  EXPECT_EQ(a.Result().ledger.effective(), b.Result().ledger.effective()) << what;
}

TEST_P(ParkedSession, SaysWhatItSaysAloneWheneverItIsParkedAndWhateverRunsBesideIt) {
  const std::unique_ptr<Session> alone = Open(GetParam(), 1);
  int steps = 0;
  {
    Driver driver(*engine_);
    driver.Add(alone.get());
    for (; !driver.idle(); ++steps) {
      ASSERT_TRUE(driver.Step(0).ok());
    }
  }
  // Reserved for it: it takes so many cells that ours has to give its own up. It begins some steps
  // before ours, or after.
  const Ask greedy = {"sc", {{"width", "43"}, {"max-tokens", "14"}}};
  const std::vector<std::vector<Ask>> loads = {
      {}, {{"hyper", {{"width", "4"}, {"warmup", "2"}, {"max-tokens", "12"}}}}};
  std::set<int64_t> moments;  // tokens that ours had when it was parked
  for (size_t load = 0; load < loads.size(); ++load) {
    for (const int later : {-6, 0, steps / 3}) {
      const std::string what = "load " + std::to_string(load) + ", " + std::to_string(later);
      Driver driver(*engine_);
      std::vector<std::unique_ptr<Session>> others;
      for (const Ask& ask : loads[load]) {
        others.push_back(Open(ask, 2));
        driver.Add(others.back().get(), Admission::kByUse);
      }
      const std::unique_ptr<Session> ours = Open(GetParam(), 1);
      others.push_back(Open(greedy, 3));
      for (int step = std::min(later, 0); step < 1 || !driver.idle(); ++step) {
        if (step == 0) {
          driver.Add(ours.get(), Admission::kByUse);
        }
        if (step == later) {
          driver.Add(others.back().get());
        }
        const bool before = ours->parked();
        ASSERT_TRUE(driver.Step(0).ok());
        if (ours->parked() && !before) {
          moments.insert(ours->Result().ledger.generated);
        }
      }
      ExpectSamePaths(*alone, *ours, what);
      EXPECT_EQ(engine_->cost().cells_used, 0) << what;
    }
  }
  EXPECT_GE(moments.size(), 1U) << "it was never parked";
}

INSTANTIATE_TEST_SUITE_P(
    Methods, ParkedSession,
    ::testing::Values(Ask{"sc", {{"width", "6"}, {"max-tokens", "24"}}},
                      Ask{"hyper", {{"width", "12"}, {"warmup", "8"}, {"max-tokens", "24"}}}),
    [](const auto& ask) { return std::string(ask.param.method); });

}  // namespace
}  // namespace hyper::llama
