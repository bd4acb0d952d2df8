// SingleToken against an independent recomputation in PyTorch; see
// tests/goldens/single_token_goldens.py for what it computes and for the format of its file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr double kStep = 1.0 / 1600.0;  // of the stored log-probabilities
constexpr double kTolerance = 1e-3;

struct GoldenToken {
  std::vector<uint16_t> steps;    // [vocabulary]
  std::vector<uint32_t> choices;  // [layers x routes]
};

struct GoldenRun {
  uint32_t variant = 0;
  int routes = 0;
  std::vector<Token> prompt;
  std::vector<Token> tokens;
  std::vector<GoldenToken> rows;
};

struct Golden {
  double tau = 0;
  double lambda = 0;
  uint64_t path_key = 0;
  uint32_t layers = 0;
  uint32_t used = 0;
  uint32_t vocabulary = 0;
  std::vector<GoldenRun> runs;
};

class GoldenReader {
 public:
  explicit GoldenReader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T Next() {
    return NextList<T>(1).front();
  }
  template <class T>
  std::vector<T> NextList(size_t count) {
    std::vector<T> list(count);
    if (position_ + count * sizeof(T) > bytes_.size()) {
      ADD_FAILURE() << "the golden file is cut";
      return list;
    }
    std::memcpy(list.data(), bytes_.data() + position_, count * sizeof(T));
    position_ += count * sizeof(T);
    return list;
  }
  bool AtEnd() const { return position_ == bytes_.size(); }

 private:
  std::string bytes_;
  size_t position_ = 0;
};

Golden ReadGolden() {
  std::ifstream file(HYPER_SOURCE_DIR "/tests/goldens/single_token.bin", std::ios::binary);
  GoldenReader reader({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  Golden golden;
  EXPECT_EQ(reader.NextList<char>(4), (std::vector<char>{'H', 'Y', 'S', 'T'}));
  EXPECT_EQ(reader.Next<uint32_t>(), 1U);
  golden.tau = reader.Next<double>();
  golden.lambda = reader.Next<double>();
  golden.path_key = reader.Next<uint64_t>();
  golden.layers = reader.Next<uint32_t>();
  golden.used = reader.Next<uint32_t>();
  golden.vocabulary = reader.Next<uint32_t>();
  golden.runs.resize(reader.Next<uint32_t>());
  for (GoldenRun& run : golden.runs) {
    run.variant = reader.Next<uint32_t>();
    run.routes = static_cast<int>(reader.Next<uint32_t>());
    const auto prompt = reader.Next<uint32_t>();
    const auto tokens = reader.Next<uint32_t>();
    run.prompt = reader.NextList<Token>(prompt);
    run.tokens = reader.NextList<Token>(tokens);
    for (uint32_t i = 0; i < tokens; ++i) {
      GoldenToken row;
      row.steps = reader.NextList<uint16_t>(golden.vocabulary);
      row.choices = reader.NextList<uint32_t>(golden.layers * static_cast<size_t>(run.routes));
      run.rows.push_back(std::move(row));
    }
  }
  EXPECT_TRUE(reader.AtEnd());
  return golden;
}

// How two computations differ.
struct Difference {
  int tokens = 0;
  int tokens_beyond = 0;  // with any log-probability off by more than the tolerance
  double largest = 0;
  int choices = 0;
  int exempt = 0;  // too close to call
  int wrong_choices = 0;
};

// Largest distance of a row from the stored one, rounding of the storage taken off.
double RowDistance(const std::vector<float>& logprobs, const std::vector<uint16_t>& steps) {
  double largest = 0;
  for (size_t v = 0; v < steps.size(); ++v) {
    const double stored = -steps[v] * kStep;
    const double distance =
        steps[v] == 65535 ? std::max(0.0, logprobs[v] - stored) : std::abs(logprobs[v] - stored);
    // The stored value may be half a step off: a pass here is a pass against the exact one.
    largest = std::max(largest, distance + kStep / 2);
  }
  return largest;
}

// Replays the stored tokens of a run, refining each of them.
void Replay(LlamaEngine& engine, const Golden& golden, const GoldenRun& run, const RouteSpec& spec,
            Difference* difference) {
  std::vector<float> logprobs;
  std::map<std::pair<int, int>, uint32_t> masks;  // by layer and route
  EngineProbe::OnLogits(engine, [&](const LogitRecord& record) {
    if (record.route == -1) {
      logprobs.assign(record.logits.begin(), record.logits.end());
    }
  });
  EngineProbe::OnRoutes(engine, [&](const RoutingRecord& record) {
    uint32_t& mask = masks[{record.layer, record.route}];
    for (const int expert : record.experts) {
      mask |= 1U << expert;
    }
  });
  std::vector<Token> history = run.prompt;
  history.insert(history.end(), run.tokens.begin(), run.tokens.end());
  LaneSpec lane_spec = Greedy();
  lane_spec.path_key = golden.path_key;
  const Result<LaneId> whole = engine.Open(history, lane_spec);
  ASSERT_TRUE(whole && engine.Grant(*whole, 1).ok());
  RunAll(engine);
  for (size_t i = 0; i < run.tokens.size(); ++i) {
    const Result<LaneId> lane =
        engine.Fork(*whole, static_cast<int>(run.prompt.size() + i), lane_spec);
    ASSERT_TRUE(lane && engine.Route(*lane, spec).ok() && engine.Grant(*lane, 1).ok());
    masks.clear();
    RunAll(engine);
    engine.Close(*lane);
    const double distance = RowDistance(logprobs, run.rows[i].steps);
    difference->largest = std::max(difference->largest, distance);
    difference->tokens_beyond += distance > kTolerance ? 1 : 0;
    ++difference->tokens;
    for (uint32_t layer = 0; layer < golden.layers; ++layer) {
      for (int route = 0; route < run.routes; ++route) {
        const uint32_t stored =
            run.rows[i].choices[layer * static_cast<size_t>(run.routes) + route];
        const bool narrow = (stored >> 31) != 0;
        ++difference->choices;
        difference->exempt += narrow ? 1 : 0;
        const bool same = masks.at({static_cast<int>(layer), route}) == (stored & 0x7fffffffU);
        difference->wrong_choices += same || narrow ? 0 : 1;
      }
    }
  }
  engine.Close(*whole);
}

class SingleTokenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not here";
    }
    golden_ = ReadGolden();
    f32_path_ = std::filesystem::temp_directory_path() /
                ("hyper-f32-" + std::to_string(getpid()) + ".gguf");
    ASSERT_TRUE(LoadBackends("").ok());
    const LogCapture log;
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.ftype = LLAMA_FTYPE_ALL_F32;
    params.nthread = 1;
    ASSERT_EQ(llama_model_quantize(BundledModel().c_str(), f32_path_.c_str(), &params), 0U)
        << log.Reason("");
    LlamaOptions options = BundledOptions();
    options.model_path = f32_path_.string();
    options.context_cells = 1024;
    options.kv_type = KvType::kF32;
    options.flash_attention = Toggle::kOff;
    engine_ = MakeOrFail(options);
    ASSERT_NE(engine_, nullptr);
  }
  void TearDown() override { std::filesystem::remove(f32_path_); }

  RouteSpec Spec(const GoldenRun& run) const {
    RouteSpec spec;
    spec.routes = run.routes;
    spec.tau = golden_.tau;
    spec.lambda = golden_.lambda;
    return spec;
  }

  // The first run with the right order of routes and `routes` of them.
  const GoldenRun& FirstRun(int routes) const {
    return *std::find_if(golden_.runs.begin(), golden_.runs.end(), [&](const GoldenRun& run) {
      return run.variant == 0 && run.routes == routes;
    });
  }

  Golden golden_;
  std::filesystem::path f32_path_;
  std::unique_ptr<LlamaEngine> engine_;
};

TEST_F(SingleTokenTest, EqualsTheRecomputation) {
  std::map<int, Difference> by_routes;
  for (const GoldenRun& run : golden_.runs) {
    if (run.variant == 0) {
      Replay(*engine_, golden_, run, Spec(run), &by_routes[run.routes]);
    }
  }
  ASSERT_EQ(by_routes.size(), 3U);
  for (const auto& [routes, difference] : by_routes) {
    std::cout << "K = " << routes << ": " << difference.tokens << " tokens, largest difference "
              << difference.largest << ", " << difference.exempt << " of " << difference.choices
              << " expert choices too close to call\n";
    EXPECT_GE(difference.tokens, 200);
    EXPECT_EQ(difference.tokens_beyond, 0);
    EXPECT_EQ(difference.wrong_choices, 0);
    EXPECT_LE(difference.exempt, difference.choices / 100);
  }
}

TEST_F(SingleTokenTest, FailsWithAnotherTau) {
  const GoldenRun& run = FirstRun(4);
  RouteSpec spec = Spec(run);
  spec.tau = 0.55;
  Difference difference;
  Replay(*engine_, golden_, run, spec, &difference);
  EXPECT_GT(difference.tokens_beyond, difference.tokens / 2);
  EXPECT_GT(difference.wrong_choices, 0);
}

TEST_F(SingleTokenTest, FailsWithAnotherLambda) {
  const GoldenRun& run = FirstRun(4);
  RouteSpec spec = Spec(run);
  spec.lambda = 0.12;
  Difference difference;
  Replay(*engine_, golden_, run, spec, &difference);
  EXPECT_GT(difference.tokens_beyond, difference.tokens / 2);
  EXPECT_GT(difference.wrong_choices, 0);
}

TEST_F(SingleTokenTest, FailsWithAnotherConfidenceSet) {
  const GoldenRun& run = FirstRun(4);
  RouteSpec spec = Spec(run);
  spec.confidence_set = ConfidenceSet::kTopK;
  Difference difference;
  Replay(*engine_, golden_, run, spec, &difference);
  EXPECT_GT(difference.tokens_beyond, 0) << "the set weighs the routes";
  EXPECT_EQ(difference.wrong_choices, 0) << "and does not choose experts";
}

TEST_F(SingleTokenTest, FailsWithAnotherOrderOfRoutes) {
  const GoldenRun& run = golden_.runs.front();
  ASSERT_EQ(run.variant, 1U);
  Difference difference;
  Replay(*engine_, golden_, run, Spec(run), &difference);
  EXPECT_GT(difference.tokens_beyond, difference.tokens / 2);
  EXPECT_GT(difference.wrong_choices, 0);
}

}  // namespace
}  // namespace hyper::llama
