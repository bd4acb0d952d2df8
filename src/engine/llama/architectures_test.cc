// The architectures of the paper, small and with random weights, against Hugging Face transformers;
// see tests/goldens/arch_goldens.py for the models and for the format of the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr double kTolerance = 1e-3;

struct GoldenRun {
  int routes = 0;
  bool roe = false;                      // clean weights, no penalty, mean of the probabilities
  int first = 0;                         // tokens before the first row
  std::vector<std::vector<float>> rows;  // [tokens refined][vocabulary]
};

struct Golden {
  double tau = 0;
  double lambda = 0;
  uint64_t path_key = 0;
  std::vector<Token> tokens;
  std::vector<GoldenRun> runs;
};

class ByteReader {
 public:
  explicit ByteReader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  std::vector<T> Take(size_t count) {
    std::vector<T> values(count);
    if (at_ + count * sizeof(T) > bytes_.size()) {
      ADD_FAILURE() << "the golden file is cut";
      return values;
    }
    std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  template <class T>
  T One() {
    return Take<T>(1).front();
  }
  bool AtEnd() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

std::string GoldenPath(const std::string& file) {
  return std::string(HYPER_SOURCE_DIR) + "/tests/goldens/arch/" + file;
}

Golden ReadGolden(const std::string& name) {
  std::ifstream file(GoldenPath(name + ".bin"), std::ios::binary);
  ByteReader reader({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  Golden golden;
  EXPECT_EQ(reader.Take<char>(4), (std::vector<char>{'H', 'Y', 'A', 'G'}));
  EXPECT_EQ(reader.One<uint32_t>(), 2U);
  golden.tau = reader.One<double>();
  golden.lambda = reader.One<double>();
  golden.path_key = reader.One<uint64_t>();
  const auto vocabulary = reader.One<uint32_t>();
  const auto length = reader.One<uint32_t>();
  golden.tokens = reader.Take<Token>(length);
  golden.runs.resize(reader.One<uint32_t>());
  for (GoldenRun& run : golden.runs) {
    run.routes = static_cast<int>(reader.One<uint32_t>());
    run.roe = reader.One<uint32_t>() != 0;
    run.first = static_cast<int>(reader.One<uint32_t>());
    run.rows.resize(reader.One<uint32_t>());
    for (std::vector<float>& row : run.rows) {
      row = reader.Take<float>(vocabulary);
    }
  }
  EXPECT_TRUE(reader.AtEnd());
  return golden;
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return INFINITY;
  }
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

class Architecture : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golden_ = ReadGolden(GetParam());
    options_.model_path = GoldenPath(std::string(GetParam()) + ".gguf");
    options_.context_cells = 1024;
    options_.threads = 1;
    options_.kv_type = KvType::kF32;
    options_.flash_attention = Toggle::kOff;
    engine_ = MakeOrFail(options_);
    ASSERT_NE(engine_, nullptr);
    EngineProbe::OnLogits(*engine_, [this](const LogitRecord& record) {
      seen_[{record.lane, record.position, record.route}].assign(record.logits.begin(),
                                                                 record.logits.end());
    });
  }

  bool IsMixture() const { return engine_->capabilities().routing; }

  std::vector<Token> Prefix(int length) const {
    return {golden_.tokens.begin(), golden_.tokens.begin() + length};
  }

  RouteSpec Spec(int routes, bool roe = false) const {
    RouteSpec spec;
    spec.routes = routes;
    spec.tau = golden_.tau;
    spec.lambda = golden_.lambda;
    if (roe) {
      spec.two_pass = false;
      spec.weights = RouteWeights::kClean;
      spec.aggregate = RouteAggregate::kMeanProb;
    }
    return spec;
  }

  // A lane that runs on whatever it draws, drawing greedily.
  LaneSpec Endless() const {
    LaneSpec spec = Greedy();
    spec.stop_at_end = false;
    spec.path_key = golden_.path_key;
    return spec;
  }

  // Logits (aggregated ones for several routes) of the token behind `prefix`.
  std::vector<float> After(const std::vector<Token>& prefix, const RouteSpec& spec) {
    const Result<LaneId> lane = engine_->Open(prefix, Endless());
    EXPECT_TRUE(lane.has_value());
    if (!lane) {
      return {};
    }
    EXPECT_TRUE(spec.routes == 1 || engine_->Route(*lane, spec).ok());
    EXPECT_TRUE(engine_->Grant(*lane, 1).ok());
    const LaneLog log = RunAll(*engine_)[*lane];
    EXPECT_EQ(log.tokens.size(), 1U) << log.error;
    const int position = static_cast<int>(prefix.size());
    std::vector<float> row = seen_[{*lane, position, spec.routes > 1 ? -1 : 0}];
    engine_->Close(*lane);
    return row;
  }

  Golden golden_;
  LlamaOptions options_;
  std::unique_ptr<LlamaEngine> engine_;
  std::map<std::tuple<LaneId, int, int>, std::vector<float>> seen_;  // lane, position, route
};

TEST_P(Architecture, LogitsAndRefinedTokensEqualTheOracle) {
  int refined = 0;
  for (const GoldenRun& run : golden_.runs) {
    double largest = 0;
    for (size_t i = 0; i < run.rows.size(); ++i) {
      const std::vector<Token> prefix = Prefix(run.first + static_cast<int>(i));
      largest = std::max(largest, Distance(After(prefix, Spec(run.routes, run.roe)), run.rows[i]));
    }
    std::cout << GetParam() << ": K = " << run.routes << (run.roe ? " as RoE, " : ", ")
              << run.rows.size() << " tokens, largest difference " << largest << '\n';
    EXPECT_LT(largest, kTolerance) << "K = " << run.routes;
    refined += run.routes > 1 ? static_cast<int>(run.rows.size()) : 0;
  }
  EXPECT_EQ(refined, IsMixture() ? 12 : 0);
}

TEST_P(Architecture, AnotherNoiseDoesNotEqualTheOracle) {
  if (!IsMixture()) {
    GTEST_SKIP() << "a dense model has no router";
  }
  for (const GoldenRun& run : golden_.runs) {
    RouteSpec spec = Spec(run.routes, run.roe);
    spec.tau *= 2;
    double largest = 0;
    for (size_t i = 0; i < run.rows.size() && run.routes > 1; ++i) {
      const std::vector<Token> prefix = Prefix(run.first + static_cast<int>(i));
      largest = std::max(largest, Distance(After(prefix, spec), run.rows[i]));
    }
    EXPECT_EQ(largest > kTolerance, run.routes > 1) << "K = " << run.routes;
  }
}

// Without noise each route is the model itself, whatever mixes the experts and the routes.
TEST_P(Architecture, WithoutNoiseRefinedTokensArePlainOnes) {
  if (!IsMixture()) {
    GTEST_SKIP() << "a dense model has no router";
  }
  std::vector<RouteSpec> specs = {Spec(4), Spec(4), Spec(4, true), Spec(4, true)};
  specs[1].weights = RouteWeights::kClean;
  specs[2].weights = RouteWeights::kNoisy;
  for (RouteSpec& spec : specs) {
    spec.tau = 0;
    spec.lambda = 0;
    std::map<int, LaneLog> logs;
    for (const int routes : {1, 4}) {
      const Result<LaneId> lane = engine_->Open(Prefix(12), Endless());
      spec.routes = routes;
      ASSERT_TRUE(lane && engine_->Route(*lane, spec).ok() && engine_->Grant(*lane, 6).ok());
      logs[routes] = RunAll(*engine_)[*lane];
      engine_->Close(*lane);
    }
    ASSERT_EQ(logs[4].tokens.size(), 6U) << logs[4].error;
    EXPECT_EQ(logs[4].tokens, logs[1].tokens);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(logs[4].logprobs[i], logs[1].logprobs[i], 1e-4) << i;
    }
  }
}

TEST_P(Architecture, ForkedLanesEqualSeparatelyDecodedOnes) {
  const std::vector<Token> prompt = Prefix(10);
  const Result<LaneId> parent = engine_->Open(prompt, Endless());
  ASSERT_TRUE(parent && engine_->Grant(*parent, 4).ok());
  const std::vector<Token> drawn = RunAll(*engine_)[*parent].tokens;
  ASSERT_EQ(drawn.size(), 4U);
  std::vector<Token> whole = prompt;
  whole.insert(whole.end(), drawn.begin(), drawn.end());
  // At its end, inside what it has drawn, and inside the prompt; the forks run side by side.
  std::map<int, LaneId> forks;
  for (const int position : {14, 12, 7}) {
    const Result<LaneId> fork = engine_->Fork(*parent, position, Endless());
    ASSERT_TRUE(fork && engine_->Grant(*fork, 5).ok());
    forks[position] = *fork;
  }
  ASSERT_TRUE(engine_->Grant(*parent, 5).ok());
  std::map<LaneId, LaneLog> logs = RunAll(*engine_);
  forks[-1] = *parent;
  for (const auto& [position, lane] : forks) {
    ASSERT_EQ(logs[lane].tokens.size(), 5U) << position << ": " << logs[lane].error;
    const int length = position < 0 ? 14 : position;
    std::vector<Token> history(whole.begin(), whole.begin() + length);
    for (int i = 0; i < 5; ++i) {
      EXPECT_LT(Distance(After(history, Spec(1)), seen_[{lane, length + i, 0}]), kTolerance)
          << "fork at " << position << ", token " << i;
      history.push_back(logs[lane].tokens[i]);
    }
  }
}

// Scores need the state at the lane's end for each continuation.
TEST_P(Architecture, ScoresEqualTheLogitsOfTheirTokens) {
  const std::vector<Token> prompt = Prefix(12);
  const std::vector<float> logits = After(prompt, Spec(1));
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  const Result<LaneId> lane = engine_->Open(prompt, Endless());
  ASSERT_TRUE(lane.has_value());
  const std::vector<std::vector<Token>> continuations = {{65}, {66, 67, 68}, {69, 65}};
  ASSERT_TRUE(engine_->Score(*lane, continuations).has_value());
  std::vector<std::vector<float>> scores;
  while (scores.empty()) {
    const Result<std::span<const Event>> events = engine_->Poll(0);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      if (event.kind == EventKind::kScored) {
        scores = event.scores;
      }
    }
  }
  ASSERT_EQ(scores.size(), continuations.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(scores[i].size(), continuations[i].size());
    EXPECT_NEAR(scores[i][0], logits[continuations[i][0]] - std::log(sum), kTolerance);
  }
}

// A tight pool of rows: lanes that refine wait for each other, tokens with more routes than rows
// take several forwards, and nothing else changes.
TEST_P(Architecture, NarrowForwardsChangeNothing) {
  if (!IsMixture()) {
    GTEST_SKIP() << "a dense model has no router";
  }
  LlamaOptions narrow = options_;
  narrow.max_forward_rows = 5;
  const std::unique_ptr<LlamaEngine> other = MakeOrFail(narrow);
  std::vector<std::vector<Token>> drawn;
  for (LlamaEngine* const engine : {engine_.get(), other.get()}) {
    for (const auto& [length, routes] : {std::pair(10, 4), std::pair(11, 12), std::pair(13, 7)}) {
      const Result<LaneId> lane = engine->Open(Prefix(length), Endless());
      const RouteSpec spec = Spec(routes, routes == 7);  // one of them as RoE
      ASSERT_TRUE(lane && engine->Route(*lane, spec).ok() && engine->Grant(*lane, 4).ok());
    }
    for (auto& [lane, log] : RunAll(*engine)) {
      drawn.push_back(log.tokens);
      engine->Close(lane);
    }
    EXPECT_EQ(engine->cost().cells_used, 0);
  }
  ASSERT_EQ(drawn.size(), 6U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(drawn[i].size(), 4U);
    EXPECT_EQ(drawn[i], drawn[i + 3]);
  }
}

// A refinement that is called off between two forwards of one token leaves nothing behind.
TEST_P(Architecture, ARefinementDroppedBetweenItsWavesLeavesThePlainState) {
  if (!IsMixture()) {
    GTEST_SKIP() << "a dense model has no router";
  }
  LlamaOptions narrow = options_;
  narrow.max_forward_rows = 5;
  const std::unique_ptr<LlamaEngine> engine = MakeOrFail(narrow);
  std::vector<std::vector<Token>> drawn;
  for (const int routes : {1, 12}) {
    const Result<LaneId> lane = engine->Open(Prefix(12), Endless());
    ASSERT_TRUE(lane && engine->Route(*lane, Spec(routes)).ok() && engine->Grant(*lane, 6).ok());
    if (routes > 1) {
      const int64_t before = engine->cost().route_rows;
      while (engine->cost().route_rows == before) {
        ASSERT_TRUE(engine->Poll(0).has_value());
      }
      EXPECT_LT(engine->cost().route_rows - before, routes - 1) << "it is between two waves";
    }
    ASSERT_TRUE(engine->Route(*lane, std::nullopt).ok());
    drawn.push_back(RunAll(*engine)[*lane].tokens);
    EXPECT_EQ(drawn.back().size(), 6U);
    engine->Close(*lane);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(engine->cost().cells_used, 0);
}

// Clean Cache: what a refined token leaves behind is what a plain one leaves, bit for bit. Both
// lanes say the same token again and again, so that nothing but the refinement differs.
TEST_P(Architecture, RefinedTokensLeaveTheStateOfPlainOnes) {
  if (!IsMixture()) {
    GTEST_SKIP() << "a dense model has no router";
  }
  constexpr int kRefined = 3;
  constexpr int kTokens = 8;
  const std::vector<Token> prompt = Prefix(12);
  LaneSpec spec = Endless();
  spec.logit_bias = {{65, 1e4F}};
  std::vector<LaneId> lanes;
  for (const int routes : {1, 4}) {
    const Result<LaneId> lane = engine_->Open(prompt, spec);
    ASSERT_TRUE(lane && engine_->Route(*lane, Spec(routes)).ok());
    ASSERT_TRUE(engine_->Grant(*lane, kRefined).ok());
    EXPECT_EQ(RunAll(*engine_)[*lane].tokens, std::vector<Token>(kRefined, 65));
    ASSERT_TRUE(engine_->Route(*lane, std::nullopt).ok());
    ASSERT_TRUE(engine_->Grant(*lane, kTokens - kRefined).ok());
    RunAll(*engine_);
    engine_->Close(*lane);
    lanes.push_back(*lane);
  }
  EXPECT_NE((seen_[{lanes[1], 12, 1}]), (seen_[{lanes[1], 12, 0}]));
  for (int position = 12; position < 12 + kTokens; ++position) {
    ASSERT_FALSE((seen_[{lanes[0], position, 0}]).empty());
    EXPECT_EQ((seen_[{lanes[1], position, 0}]), (seen_[{lanes[0], position, 0}])) << position;
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, Architecture,
                         ::testing::Values("qwen3", "qwen3moe", "olmoe", "deepseek2", "qwen3next"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace hyper::llama
