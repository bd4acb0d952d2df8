// The compared methods on a scripted engine: what each decodes, who votes, and with what weight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hyper/ask.h"
#include "src/core/confidence.h"
#include "src/decode/methods/registry.h"
#include "src/decode/methods/sc.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Path i writes lengths[i] characters with sureness[i] and answers answers[i].
struct Plan {
  std::vector<int> lengths;
  std::string answers;
  std::vector<float> sureness;
};

Script Follow(const Plan& plan) {
  return [plan](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const int index = PathIndexOf(key);
    if (index < 0) {
      return {'$', 1.0F};
    }
    const auto i = static_cast<size_t>(index);
    const auto length = static_cast<size_t>(plan.lengths[i % plan.lengths.size()]);
    const float sureness = plan.sureness[i % plan.sureness.size()];
    if (written.size() < length) {
      return {static_cast<char>('a' + written.size() % 5), sureness};
    }
    if (written.size() == length) {
      return {'=', sureness};
    }
    return {written.size() == length + 1 ? plan.answers[i % plan.answers.size()] : '$', sureness};
  };
}

MethodOptions OptionsFor(const std::string& method, int width = 8, int warmup = 4) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.warmup = warmup;
  options.window = 4;
  options.interval = 4;
  options.max_tokens = 40;
  EXPECT_TRUE(ApplyMethodDefaults(method, options).ok());
  const Result<MethodEntry> entry = FindMethod(method);
  EXPECT_TRUE(entry);
  options.width = entry && entry->one_path ? 1 : width;
  EXPECT_TRUE(Validate(options).ok()) << method;
  return options;
}

void RunMethod(FakeEngine& engine, Session& session) {
  Driver driver(engine);
  driver.Add(&session);
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(session.finished());
  EXPECT_TRUE(session.status().ok());
  EXPECT_EQ(engine.open_lanes(), 0);
}

TEST(Methods, EveryNamedMethodAnswersAndAddsUp) {
  std::set<std::string> names;
  for (const MethodInfo& info : Methods()) {
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.description.empty());
    FakeEngine engine(ScriptedOptions(Follow({{5, 9, 14, 22}, "7737", {6.0F, 5.9F, 5.0F, 6.0F}})));
    auto session = ScriptedSession(engine, info.name, OptionsFor(info.name));
    RunMethod(engine, *session);
    const SessionResult result = session->Result();
    EXPECT_EQ(result.answer, "7") << info.name;
    EXPECT_FALSE(result.partial) << info.name;
    const EngineCost cost = engine.cost();
    int64_t replies = 0;  // tokens of probes
    for (const Path& path : session->pool().paths()) {
      replies += path.kind == PathKind::kProbe
                     ? std::count(path.route_counts.begin() + path.fork_position,
                                  path.route_counts.end(), 1)
                     : 0;
    }
    EXPECT_EQ(result.ledger.generated, cost.decode_rows - replies) << info.name;
    EXPECT_EQ(result.ledger.extra_routes, cost.route_rows) << info.name;
  }
  EXPECT_TRUE(names.count("hyper") == 1 && names.count("sc") == 1 && names.count("roe-late") == 1);
}

TEST(Methods, UnknownNamesAreRefusedWithTheOnesThereAre) {
  MethodOptions options;
  const Status status = ApplyMethodDefaults("magic", options);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_NE(status.error().message.find("magic"), std::string::npos);
  EXPECT_NE(status.error().message.find("deepconf-high"), std::string::npos);
  EXPECT_FALSE(MakeMethod("magic", options));
}

TEST(Methods, NamesSetTheOptionsThatTheyStandFor) {
  struct Case {
    const char* method;
    const char* option;
    const char* value;
  };
  for (const Case& expected : {Case{"deepconf", "threshold", "percentile:90"},
                               Case{"deepconf-high", "threshold", "percentile:10"},
                               Case{"deepconf-offline", "keep-percent", "100"},
                               Case{"deepconf-offline-filtered", "keep-percent", "10"},
                               Case{"deepconf-offline-tail", "scorer", "tail"},
                               Case{"deepconf-offline-bottom", "scorer", "bottom"},
                               Case{"deepconf-offline-lowest", "scorer", "lowest"},
                               Case{"sc-adaptive", "launch", "one"},
                               Case{"sc-adaptive", "stop", "0.95"},
                               Case{"sc-cap", "vote-tentative", "false"},
                               Case{"self-certainty-borda", "vote", "borda"},
                               Case{"rpc", "vote", "weighted"},
                               Case{"rpc", "confidence", "logprob"},
                               Case{"bon-mean", "confidence", "topk"},
                               Case{"bon-mean", "confidence-count", "20"},
                               Case{"bon-ptrue", "scorer", "p-true"},
                               Case{"roe", "skip-first-layers", "1"},
                               Case{"hyper-no-single", "actions", "none,multi_token,branch"},
                               Case{"hyper-no-multi", "actions", "none,single_token,branch"},
                               Case{"hyper-no-branch", "actions", "none,single_token,multi_token"},
                               Case{"hyper-roe-sampling", "two-pass", "false"},
                               Case{"mcts-conf", "vote", "best"},
                               Case{"rebase-conf", "vote", "weighted"}}) {
    MethodOptions options;
    EXPECT_TRUE(ApplyMethodDefaults(expected.method, options).ok());
    std::vector<Option> all = OptionsOf(options);
    const Option* option = FindOption(all, expected.option);
    ASSERT_NE(option, nullptr) << expected.option;
    EXPECT_EQ(option->Text(), expected.value) << expected.method << " " << expected.option;
  }
}

TEST(Methods, RulesThatNeedWeightsAreRefusedWhereThereAreNone) {
  for (const char* rule : {"weighted", "best", "borda"}) {
    EXPECT_TRUE(ResolveRun({"bon", "short", {{"vote", rule}}, {}}, {}));
    const Result<RunPlan> none = ResolveRun({"hyper", "short", {{"vote", rule}}, {}}, {});
    ASSERT_FALSE(none) << rule;
    EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(none.error().message.find(rule), std::string::npos);
  }
}

TEST(Methods, CotIsOnePath) {
  FakeEngine engine(ScriptedOptions(Follow({{5}, "3", {5.0F}})));
  auto session = ScriptedSession(engine, "cot", OptionsFor("cot"));
  RunMethod(engine, *session);
  EXPECT_EQ(session->pool().paths().size(), 1U);
  EXPECT_EQ(session->Result().answer, "3");
}

TEST(SelfCertainty, PicksTheSurestPathNotTheMajority) {
  // Path 5 alone answers 9 and is surer than all.
  FakeEngine engine(
      ScriptedOptions(Follow({{6}, "11111911", {4.0F, 4.1F, 4.2F, 3.9F, 4.0F, 9.0F, 4.0F, 4.0F}})));
  auto session = ScriptedSession(engine, "self-certainty", OptionsFor("self-certainty"));
  RunMethod(engine, *session);
  const SessionResult result = session->Result();
  EXPECT_EQ(result.answer, "9");
  EXPECT_EQ(result.votes.at("majority").answer, "1");
  // The score, by its formula: KL(uniform || P), averaged over tokens.
  const Path& path = session->pool().paths()[0];
  std::vector<float> logits(FakeEngine::kVocabulary);
  double expected = 0;
  for (const Token token : path.tokens) {
    double sum = 0;
    double total = 0;
    for (size_t v = 0; v < logits.size(); ++v) {
      logits[v] = static_cast<Token>(v) == token ? 4.0F : -0.001F * static_cast<float>(v);
      sum += std::exp(logits[v]);
      total += logits[v];
    }
    const double vocabulary = FakeEngine::kVocabulary;
    expected += -(total / vocabulary - std::log(sum)) - std::log(vocabulary);
  }
  expected /= path.length();
  EXPECT_NEAR(PathScore(path, PathScorer::kSelfCertainty, FakeEngine::kVocabulary, 4,
                        MeanKind::kArithmetic),
              expected, 1e-5);
  EXPECT_GT(expected, 0);
}

TEST(SelfCertainty, BordaWeighsRanksByTheirPower) {
  // Ranks: path 0 first (answer 9), then the 1s. With p = 1.2: 8^1.2 = 12.13 against the rest.
  FakeEngine engine(
      ScriptedOptions(Follow({{6}, "91111111", {9.0F, 4.6F, 4.5F, 4.4F, 4.3F, 4.2F, 4.1F, 4.0F}})));
  auto session =
      ScriptedSession(engine, "self-certainty-borda", OptionsFor("self-certainty-borda"));
  RunMethod(engine, *session);
  const VoteOutcome borda = session->Result().votes.at("borda");
  double rest = 0;
  for (int rank = 2; rank <= 8; ++rank) {
    rest += std::pow(8 - rank + 1, 1.2);
  }
  EXPECT_EQ(borda.answer, "1");
  EXPECT_NEAR(borda.scores[0].score, rest, 1e-9);
  EXPECT_NEAR(borda.scores[1].score, std::pow(8, 1.2), 1e-9);
}

TEST(SelfCertainty, ACutOffSampleKeepsItsRank) {
  // Path 7, the least sure, never ends: it has rank 8 of 8 and no answer.
  FakeEngine engine(ScriptedOptions(Follow(
      {{6, 6, 6, 6, 6, 6, 6, 99}, "91111111", {9.0F, 4.6F, 4.5F, 4.4F, 4.3F, 4.2F, 4.1F, 2.0F}})));
  auto session =
      ScriptedSession(engine, "self-certainty-borda", OptionsFor("self-certainty-borda"));
  RunMethod(engine, *session);
  EXPECT_EQ(session->pool().paths()[7].status, PathStatus::kLength);
  EXPECT_TRUE(session->pool().paths()[7].answer.empty());
  const VoteOutcome borda = session->Result().votes.at("borda");
  double rest = 0;
  for (int rank = 2; rank <= 7; ++rank) {
    rest += std::pow(8 - rank + 1, 1.2);
  }
  EXPECT_NEAR(borda.scores[0].score, rest, 1e-9);
  EXPECT_NEAR(borda.scores[1].score, std::pow(8, 1.2), 1e-9);
  EXPECT_EQ(session->Result().voting_paths, 7);
}

TEST(DeepConf, LowKeepsWhatIsAboveThe90thPercentile) {
  // Warm-up sureness 4..7; main paths 4..7 of width 8.
  FakeEngine engine(ScriptedOptions(
      Follow({{10}, "12341234", {4.0F, 5.0F, 6.0F, 7.0F, 6.5F, 6.9F, 7.5F, 8.0F}})));
  MethodOptions options = OptionsFor("deepconf");
  options.consensus = 0;
  auto session = ScriptedSession(engine, "deepconf", options);
  RunMethod(engine, *session);
  std::vector<double> lowest;
  for (size_t i = 0; i < 4; ++i) {
    lowest.push_back(session->pool().paths()[i].lowest_window);
  }
  // numpy.percentile(., 90) of four values: 0.7 of the way from the third to the fourth.
  EXPECT_NEAR(*session->pool().threshold(), lowest[2] + 0.7 * (lowest[3] - lowest[2]), 1e-9);
  EXPECT_EQ(session->pool().paths().size(), 8U);  // the warm-up counts into the width
  std::vector<bool> votes;
  for (const Path& path : session->pool().paths()) {
    votes.push_back(session->method().Votes(session->pool(), path));
  }
  EXPECT_EQ(votes, (std::vector<bool>{false, false, false, true, false, true, true, true}));
  EXPECT_EQ(session->pool().paths()[4].status, PathStatus::kPruned);
  EXPECT_EQ(session->pool().paths()[4].length(), 4);  // never before the first full window
  // DeepConf's confidence is that of the 20 most probable tokens, the chosen one included.
  const Path& path = session->pool().paths()[0];
  EXPECT_EQ(path.confidences, path.confidences_top20);
}

// Its mean is the best of all, but one window was below the threshold.
TEST(DeepConf, AWarmupPathThatDippedHasNoVote) {
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int routes) {
    ScriptedNext next = Follow({{12}, "1234", {5.0F, 6.0F, 7.0F, 9.0F}})(key, written, routes);
    const bool dips = PathIndexOf(key) == 3 && written.size() >= 4 && written.size() < 8;
    next.sureness = dips ? 2.0F : next.sureness;
    return next;
  }));
  MethodOptions options = OptionsFor("deepconf");
  options.consensus = 0;
  auto session = ScriptedSession(engine, "deepconf", options);
  RunMethod(engine, *session);
  const Path& dipped = session->pool().path(3);
  EXPECT_GT(dipped.mean_confidence, *session->pool().threshold());
  EXPECT_LT(dipped.lowest_window, *session->pool().threshold());
  EXPECT_FALSE(session->method().Votes(session->pool(), dipped));
}

TEST(DeepConf, StopsAtConsensusAndChargesWhatWasCutOff) {
  // The warm-up's four answers share the vote evenly; then path 4 ends first, far surer than all.
  const Plan plan{{8, 8, 8, 8, 3, 20, 20, 20}, "12345555", {4, 4, 4, 4, 9, 9, 9, 9}};
  for (const auto& [consensus, expected] : {std::pair(0.9, 0), {0.3, 3}}) {
    FakeEngine engine(ScriptedOptions(Follow(plan)));
    MethodOptions options = OptionsFor("deepconf");
    options.consensus = consensus;
    auto session = ScriptedSession(engine, "deepconf", options);
    RunMethod(engine, *session);
    int cancelled = 0;
    for (const Path& path : session->pool().paths()) {
      cancelled += path.status == PathStatus::kCancelled ? 1 : 0;
    }
    EXPECT_EQ(cancelled, expected);
    EXPECT_EQ(session->Result().ledger.generated, engine.cost().decode_rows);
    EXPECT_EQ(session->Result().answer, "5");
    EXPECT_FALSE(session->Result().partial);
  }
}

TEST(DeepConf, AWarmupThatAgreesNeedsNoFurtherPath) {
  FakeEngine engine(ScriptedOptions(Follow({{8}, "7", {4.0F}})));
  auto session = ScriptedSession(engine, "deepconf", OptionsFor("deepconf"));
  RunMethod(engine, *session);
  EXPECT_EQ(session->pool().paths().size(), 4U);
  EXPECT_EQ(session->Result().answer, "7");
}

TEST(DeepConf, Top10HasHypersVoteSet) {
  FakeEngine engine(ScriptedOptions(
      Follow({{10}, "12341234", {4.0F, 5.0F, 6.0F, 7.0F, 3.0F, 6.9F, 7.5F, 8.0F}})));
  MethodOptions options = OptionsFor("deepconf-top10");
  EXPECT_EQ(options.threshold, Preset("short")->threshold);
  options.consensus = 0;
  options.threshold = {ThresholdRule::Kind::kTop, 1, 0};  // three of the warm-up are below it
  auto session = ScriptedSession(engine, "deepconf-top10", options);
  RunMethod(engine, *session);
  EXPECT_LT(session->pool().path(0).lowest_window, *session->pool().threshold());
  EXPECT_TRUE(session->method().Votes(session->pool(), session->pool().path(0)));
  for (const Path& path : session->pool().paths()) {
    EXPECT_EQ(session->method().Votes(session->pool(), path), !path.answer.empty());
  }
}

TEST(OfflineDeepConf, TheBestTenthVotesWeightedByItsScore) {
  FakeEngine engine(ScriptedOptions(
      Follow({{10}, "11111119", {4.0F, 4.0F, 4.0F, 4.0F, 4.0F, 4.0F, 4.0F, 9.0F}})));
  auto session =
      ScriptedSession(engine, "deepconf-offline-tail", OptionsFor("deepconf-offline-tail"));
  RunMethod(engine, *session);
  EXPECT_EQ(session->Result().voting_paths, 1);
  EXPECT_EQ(session->Result().answer, "9");
  EXPECT_NEAR(session->Result().votes.at("weighted").scores[0].score,
              PathScore(session->pool().paths()[7], PathScorer::kTail, FakeEngine::kVocabulary, 4,
                        MeanKind::kArithmetic),
              1e-9);
}

// Counts how often a path's weight is asked for.
class CountedWeights : public OfflineDeepConf {
 public:
  CountedWeights(const MethodOptions& options, int* asked)
      : OfflineDeepConf(options), asked_(asked) {}
  double Weight(const Pool& pool, const Path& path) const override {
    ++*asked_;
    return OfflineDeepConf::Weight(pool, path);
  }

 private:
  int* asked_;
};

TEST(OfflineDeepConf, ScoresEachPathOnceForAllThatVote) {
  FakeEngine engine(ScriptedOptions(Follow({{10}, "1", {4.0F}})));
  const RunPlan plan =
      ScriptedPlan("deepconf-offline-tail", OptionsFor("deepconf-offline-tail", 32));
  int asked = 0;
  auto session = ScriptedSession(engine, plan, 1 << 20, {}, kScriptedSeed,
                                 std::make_unique<CountedWeights>(plan.options, &asked));
  RunMethod(engine, *session);
  EXPECT_EQ(session->Result().voting_paths, 32);
  EXPECT_LE(asked, 2 * 32);
}

// Nine paths of unsure tokens answer 1, eleven of sure tokens answer 2.
TEST(Rpc, LeavesUnsurePathsOutAndCountsATextOnce) {
  std::vector<int> lengths;
  std::string answers;
  std::vector<float> sureness;
  for (int i = 0; i < 20; ++i) {
    const bool unsure = i < 9;
    lengths.push_back(5 + i);
    answers += unsure ? '1' : '2';
    sureness.push_back(unsure ? 5.2F + 0.05F * static_cast<float>(i)
                              : 8.0F + 0.03F * static_cast<float>(i));
  }
  // The last two write the same text as the one before.
  lengths[18] = lengths[19] = lengths[17];
  sureness[18] = sureness[19] = sureness[17];
  FakeEngine engine(ScriptedOptions(Follow({lengths, answers, sureness})));
  auto session = ScriptedSession(engine, "rpc", OptionsFor("rpc", 20));
  RunMethod(engine, *session);
  const SessionResult result = session->Result();
  EXPECT_EQ(result.answer, "2");
  EXPECT_EQ(result.voting_paths, 9);
  ASSERT_EQ(result.votes.at("weighted").scores.size(), 1U);
  double sum = 0;
  for (size_t id = 9; id < 18; ++id) {
    const Path& path = session->pool().paths()[id];
    double logs = 0;
    for (const float logprob : path.logprobs) {
      logs += logprob;
    }
    sum += std::exp(logs / path.length());
  }
  EXPECT_NEAR(result.votes.at("weighted").scores[0].score, sum, 1e-5);
  // Below 16 paths nothing is fitted, and the nine unsure ones outweigh the others.
  auto few = ScriptedSession(engine, "rpc", OptionsFor("rpc", 12));
  RunMethod(engine, *few);
  EXPECT_EQ(few->Result().voting_paths, 12);
  EXPECT_EQ(few->Result().answer, "1");
}

TEST(BestOfN, AProbeThatDoesNotFitCostsTheWeightOfItsPathOnly) {
  const size_t question = std::string("\nIs the answer above correct? Answer Yes or No: ").size();
  struct Case {
    int beyond;        // tokens that fit beside the question
    const char* rule;  // that decides
    const char* answer;
    int notices;
  };
  // Five short paths answer 1 and three long ones 7.
  for (const Case& expected :
       {Case{60, "best", "1", 0}, Case{20, "best", "1", 3}, Case{4, "majority", "1", 9}}) {
    SCOPED_TRACE(expected.beyond);
    FakeOptions options =
        ScriptedOptions(Follow({{6, 6, 6, 6, 6, 22, 22, 22}, "11111777", {5.0F}}));
    options.logits = [inner = options.logits](const FakeStep& step, std::span<float> logits) {
      const std::string text(step.history.begin(), step.history.end());
      if (text.find("Yes or No: ") == std::string::npos) {
        inner(step, logits);
        return;
      }
      logits[text.find("=1") != std::string::npos ? 'Y' : 'N'] = 6.0F;
      logits['e'] = logits['s'] = logits['o'] = 8.0F;
    };
    options.capabilities.context_tokens = static_cast<int>(question) + expected.beyond;
    FakeEngine engine(options);
    MethodOptions method = OptionsFor("bon");
    method.scorer = PathScorer::kPTrue;
    auto session = ScriptedSession(engine, "bon", method);
    RunMethod(engine, *session);
    const SessionResult result = session->Result();
    EXPECT_FALSE(result.partial);
    EXPECT_EQ(result.answer, expected.answer);
    EXPECT_EQ(result.vote_rule, expected.rule);
    EXPECT_EQ(result.voting_paths, 8);
    int notices = 0;
    for (const Record& record : session->TakeRecords()) {
      const auto* notice = std::get_if<NoticeRecord>(&record);
      notices += notice != nullptr && notice->text.find("P(True)") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(notices, expected.notices);
  }
}

TEST(BestOfN, PTrueAsksThePolicyAndChargesIt) {
  // Asked about its answer, the script says Yes (logit above No) only after a 9.
  FakeOptions options = ScriptedOptions(Follow({{6}, "11911111", {5.0F}}));
  options.logits = [inner = options.logits](const FakeStep& step, std::span<float> logits) {
    std::string text(step.history.begin(), step.history.end());
    if (text.find("Yes or No: ") == std::string::npos) {
      inner(step, logits);
      return;
    }
    const bool good = text.find("=9") != std::string::npos;
    logits['Y'] = good ? 6.0F : 1.0F;
    logits['N'] = good ? 1.0F : 6.0F;
    logits['e'] = logits['s'] = logits['o'] = 8.0F;
  };
  FakeEngine engine(options);
  MethodOptions method = OptionsFor("bon");
  method.scorer = PathScorer::kPTrue;
  auto session = ScriptedSession(engine, "bon", method);
  RunMethod(engine, *session);
  const SessionResult result = session->Result();
  EXPECT_EQ(result.answer, "9");
  EXPECT_GT(result.votes.at("best").scores[0].score, 0.5);
  EXPECT_LT(result.votes.at("best").scores[1].score, 0.5);
  EXPECT_EQ(result.ledger.probe, 8 * 5);  // "Yes" and "No", token by token, for eight paths
  EXPECT_GT(result.ledger.judge, 0);
  EXPECT_EQ(result.ledger.effective(),
            result.ledger.generated + result.ledger.probe + result.ledger.judge);
  EXPECT_EQ(result.ledger.lanes_opened, 8);  // probes are no paths
}

TEST(Roe, AlwaysOnRefinesEveryToken) {
  FakeEngine engine(ScriptedOptions(Follow({{6}, "1", {5.0F}})));
  MethodOptions options = OptionsFor("roe", 2);
  options.routes = 4;
  auto session = ScriptedSession(engine, "roe", options);
  RunMethod(engine, *session);
  for (const Path& path : session->pool().paths()) {
    EXPECT_TRUE(std::all_of(path.route_counts.begin(), path.route_counts.end(),
                            [](uint8_t count) { return count == 4; }));
  }
  EXPECT_EQ(session->Result().ledger.effective(), 4 * session->Result().ledger.generated);
}

TEST(Roe, LateRefinesFromItsShareOfTheMedianWarmup) {
  FakeEngine engine(ScriptedOptions(Follow({{7, 17, 27, 9, 20}, "1", {5.0F}})));
  MethodOptions options = OptionsFor("roe-late", 5);
  options.warmup = 2;
  auto session = ScriptedSession(engine, "roe-late", options);
  RunMethod(engine, *session);
  // Warm-up lengths 10 and 20: median 15, from token ceil(0.84 x 15) = 13 on.
  for (const Path& path : session->pool().paths()) {
    for (size_t i = 0; i < path.route_counts.size(); ++i) {
      EXPECT_EQ(path.route_counts[i], !path.warmup && i >= 13 ? 8 : 1) << path.id << " " << i;
    }
  }
  EXPECT_EQ(session->pool().paths().size(), 5U);
}

TEST(Roe, RefusesDenseModels) {
  FakeOptions options = ScriptedOptions(Follow({{6}, "1", {5.0F}}));
  options.capabilities.routing = false;
  FakeEngine engine(options);
  auto session = ScriptedSession(engine, "roe", OptionsFor("roe"));
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_FALSE(session->status().ok());
  EXPECT_EQ(session->status().error().code, ErrorCode::kUnsupported);
}

// Of models with experts that cannot be chosen; a dense model is no news.
TEST(Refinement, SaysWhyItIsOff) {
  const std::string reason = "the model chooses groups of experts first";
  for (const std::string& no_routing : {reason, std::string()}) {
    FakeOptions options = ScriptedOptions(Follow({{6}, "1", {5.0F}}));
    options.capabilities.routing = false;
    options.capabilities.no_routing = no_routing;
    FakeEngine engine(options);
    auto session = ScriptedSession(engine, "hyper", OptionsFor("hyper"));
    RunMethod(engine, *session);
    int notices = 0;
    for (const Record& record : session->TakeRecords()) {
      const auto* notice = std::get_if<NoticeRecord>(&record);
      notices += notice != nullptr && notice->text == "SingleToken is off: " + reason ? 1 : 0;
    }
    EXPECT_EQ(notices, no_routing.empty() ? 0 : 1);

    auto roe = ScriptedSession(engine, "roe", OptionsFor("roe"));
    Driver driver(engine);
    driver.Add(roe.get());
    ASSERT_TRUE(driver.RunAll().ok());
    ASSERT_FALSE(roe->status().ok());
    EXPECT_NE(roe->status().error().message.find(no_routing), std::string::npos);
  }
}

TEST(Refinement, AFixedActionThatIsNotToBeHadIsNone) {
  FakeOptions options = ScriptedOptions(Follow({{20, 20, 20, 20, 20, 20, 1, 1}, "1", {5.0F}}));
  options.capabilities.routing = false;
  FakeEngine engine(options);
  MethodOptions method = OptionsFor("single-token-only");
  EXPECT_TRUE(SetOption(method, "threshold", "off").ok());
  auto session = ScriptedSession(engine, "single-token-only", method);
  RunMethod(engine, *session);
  int decisions = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      ++decisions;
      EXPECT_EQ(decision->action, Action::kNone);
    }
  }
  EXPECT_GT(decisions, 0);
}

TEST(Manual, MultiTokenBeforeHalfTheMedianThenSingleToken) {
  // Warm-up of 23 tokens; of the pool only two paths run on, so that r_t is 4.
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int routes) {
    const int index = PathIndexOf(key);
    const Plan plan{{index >= 6 ? 1 : 20}, "1", {5.0F}};
    if (index < 0) {  // a fork goes on as its parent would
      return Follow({{20}, "1", {5.0F}})(ScriptedPathKey(0), written, routes);
    }
    return Follow(plan)(key, written, routes);
  }));
  MethodOptions options = OptionsFor("manual");
  EXPECT_TRUE(SetOption(options, "threshold", "off").ok());
  auto session = ScriptedSession(engine, "manual", options);
  RunMethod(engine, *session);
  int decisions = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      ++decisions;
      EXPECT_EQ(decision->action,
                decision->position < 11.5 ? Action::kMultiToken : Action::kSingleToken);
    }
  }
  EXPECT_EQ(decisions, 6);
}

}  // namespace
}  // namespace hyper
