// Each scorer of steps on a scripted engine: values, costs, and what happens where none is had.
#include "hyper/step_reward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/decode/methods/judge_reward.h"
#include "tests/support/scripted_steps.h"

namespace hyper {
namespace {

std::unique_ptr<Session> RebaseWith(Engine& engine, std::unique_ptr<StepReward> reward,
                                    const MethodOptions& options, int64_t cells = 1 << 20) {
  return StepSession(engine, "rebase", options, std::move(reward), cells);
}

std::unique_ptr<Session> RebaseBy(Engine& engine, const std::string& reward,
                                  const MethodOptions& options) {
  return RebaseWith(engine, std::move(*MakeStepReward(reward, options)), options);
}

// The row of ScriptedOptions: `next` at `sureness`, the rest falling by 0.001.
void Favour(std::span<float> logits, char next, float sureness) {
  for (size_t v = 0; v < logits.size(); ++v) {
    logits[v] = -0.001F * static_cast<float>(v);
  }
  logits[static_cast<size_t>(next == '$' ? FakeEngine::kEnd : next)] = sureness;
}

std::string TextOf(const FakeStep& step) {
  std::string text;
  for (const Token token : step.history) {
    text += static_cast<char>(token);
  }
  return text;
}

TEST(StepReward, NamesAreKnownOrExplained) {
  for (const char* name : {"conf", "ptrue", "judge"}) {
    const auto reward = MakeStepReward(name, {});
    ASSERT_TRUE(reward);
    EXPECT_EQ((*reward)->name(), name);
  }
  EXPECT_EQ(MakeStepReward("prm", {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(MakeStepReward("oracle", {}).error().code, ErrorCode::kNotFound);
}

// Mean of a path's confidences over the tokens [begin, end), as the signal averages them.
double StepMean(const Path& path, int begin, int end, ConfidenceSignal signal) {
  const bool geometric = signal == ConfidenceSignal::kLogprob;
  double sum = 0;
  for (int i = begin; i < end; ++i) {
    const double confidence = path.confidences[static_cast<size_t>(i)];
    sum += geometric ? std::log(confidence) : confidence;
  }
  return geometric ? std::exp(sum / (end - begin)) : sum / (end - begin);
}

class ConfidenceReward : public testing::TestWithParam<ConfidenceSignal> {};
INSTANTIATE_TEST_SUITE_P(Signals, ConfidenceReward,
                         testing::Values(ConfidenceSignal::kAlternatives,
                                         ConfidenceSignal::kLogprob));

TEST_P(ConfidenceReward, IsRescaledByTheQuantilesOfWarmupSteps) {
  // Warm-up paths 0 and 1 write two steps of sureness 2 and 6, path 1 surer by 0.5; in the tree
  // each path has a sureness of its own: 2, 4, 6, 8. Every other token is surer by 1.
  auto order = std::make_shared<KeyOrder>();
  FakeEngine engine(ScriptedOptions([order](uint64_t key, std::string_view written, int) {
    const char letter = order->Letter(key);
    const int line = LinesOf(written);
    const float sureness = static_cast<float>(written.size() % 2) + (letter == 'b' ? 0.5F : 0.0F) +
                           (letter < 'c' ? 2.0F + 4.0F * static_cast<float>(line)
                                         : 2.0F * static_cast<float>(letter - 'b'));
    if (!written.empty() && written.back() == '=') {
      return ScriptedNext{'1', sureness};
    }
    if (!written.empty() && written.back() == '1') {
      return ScriptedNext{'$', sureness};
    }
    if (line == (letter < 'c' ? 2 : 1)) {
      return ScriptedNext{'=', sureness};
    }
    return ScriptedNext{written.empty() || written.back() == '\n' ? letter : '\n', sureness};
  }));
  MethodOptions options = StepOptions(4);
  options.confidence = GetParam();
  auto session = RebaseBy(engine, "conf", options);
  RunSteps(engine, *session);
  const std::vector<Path>& paths = session->pool().paths();
  EXPECT_TRUE(paths[0].warmup);
  EXPECT_TRUE(paths[1].warmup);
  EXPECT_FALSE(paths[2].warmup);
  // The sample: per warm-up path the means of its steps, tokens [0,2), [2,4) and [4,7).
  std::vector<double> sample;
  for (int p = 0; p < 2; ++p) {
    for (const auto& [begin, end] : {std::pair(0, 2), {2, 4}, {4, 7}}) {
      sample.push_back(StepMean(paths[static_cast<size_t>(p)], begin, end, options.confidence));
    }
  }
  std::sort(sample.begin(), sample.end());
  // numpy's rule over six values: position 0.05 * 5 = 0.25, and 4.75.
  const double low = sample[0] + 0.25 * (sample[1] - sample[0]);
  const double high = sample[4] + 0.75 * (sample[5] - sample[4]);
  for (const Path& path : paths) {
    if (path.warmup || path.status != PathStatus::kFinished) {
      continue;
    }
    const double mean = StepMean(path, 2, 5, options.confidence);
    EXPECT_NEAR(session->method().Weight(session->pool(), path),
                std::clamp((mean - low) / (high - low), 0.0, 1.0), 1e-6);
  }
  EXPECT_EQ(session->Result().voting_paths, 4);  // warm-up paths only calibrate
  EXPECT_EQ(session->Result().ledger.generated, engine.cost().decode_rows);
  EXPECT_EQ(session->Result().ledger.generated, 2 * 7 + 4 * 2 + 4 * 3);  // warm-up is charged
}

// Writes "x\n=1$"; Yes against No by a logit difference that depends on the text.
FakeOptions ProbedOptions() {
  FakeOptions options;
  options.logits = [](const FakeStep& step, std::span<float> logits) {
    const std::string text = TextOf(step);
    if (text.find("correct?") != std::string::npos) {
      Favour(logits, ' ', 3.0F);
      return;
    }
    static const std::map<std::string, char> next = {
        {"q", 'x'}, {"qx", '\n'}, {"qx\n", '='}, {"qx\n=", '1'}, {"qx\n=1", '$'}};
    const auto at = next.find(text);
    Favour(logits, at == next.end() ? '$' : at->second, 5.0F);
  };
  return options;
}

TEST(ProbeReward, AsksInPlaceAndOnALaneOfItsOwnOnceThePathHasEnded) {
  FakeEngine engine(ProbedOptions());
  auto session = RebaseBy(engine, "ptrue", StepOptions(2));
  RunSteps(engine, *session);
  const SessionResult result = session->Result();
  const std::string question = "\n\nIs the reasoning so far correct? Answer Yes or No.\nAnswer:";
  const auto asked = static_cast<int64_t>(question.size()) + 1;
  // Two paths, two steps each. " Yes" and " No" begin alike here, so every value is one half.
  EXPECT_EQ(result.ledger.probe, 2 * 2 * 2 * asked);
  EXPECT_EQ(result.ledger.judge, 2 * 5);  // "q", "x\n=1" read again by two lanes, no end token
  EXPECT_EQ(result.ledger.generated, 2 * 5);
  EXPECT_EQ(result.ledger.effective(), 2 * 5 + 8 * asked + 10);
  EXPECT_EQ(result.ledger.lanes_opened, 2);
  EXPECT_EQ(result.voting_paths, 2);
  EXPECT_DOUBLE_EQ(result.votes.at("weighted").scores[0].score, 1.0);
}

// " Yes" and " No" are a token each, as in most vocabularies.
class WordEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<std::vector<Token>> Tokenize(std::string_view text, bool special) override {
    return FakeEngine::Tokenize(text == " Yes" ? "Y" : text == " No" ? "N" : text, special);
  }
};

TEST(ProbeReward, IsTheShareOfYes) {
  FakeOptions options = ProbedOptions();
  options.logits = [written = options.logits](const FakeStep& step, std::span<float> logits) {
    written(step, logits);
    if (TextOf(step).find("correct?") != std::string::npos) {
      logits['Y'] = 3.0F;
      logits['N'] = 1.0F;
    }
  };
  WordEngine engine(options);
  auto session = RebaseBy(engine, "ptrue", StepOptions(2));
  RunSteps(engine, *session);
  // Two paths vote with it; Yes has 1 / (1 + exp(1 - 3)).
  EXPECT_NEAR(session->Result().votes.at("weighted").scores[0].score, 2 * 0.8807970780, 1e-6);
}

TEST(ProbeReward, NoLaneForTheQuestionIsNoValue) {
  FakeOptions options = ProbedOptions();
  options.refuse_open = [](int64_t open) { return open >= 2; };
  FakeEngine engine(options);
  auto session = RebaseBy(engine, "ptrue", StepOptions(2));
  RunSteps(engine, *session);
  const SessionResult result = session->Result();
  EXPECT_EQ(result.votes.at("majority").answer, "1");  // the leaves vote, without a weight
  EXPECT_EQ(result.votes.count("weighted"), 0U);
}

TEST(ReadVerdict, Scores) {
  const auto score = [](const char* reply) { return ReadVerdict(reply, JudgeScale::kScore); };
  EXPECT_EQ(score("Step 2 is wrong.\nScore: 0.35"), 0.35);
  EXPECT_EQ(score("score 1"), 1.0);
  EXPECT_EQ(score("SCORE: 0"), 0.0);
  EXPECT_EQ(score("Score: 0.2 ... no.\nScore: **0.9**"), 0.9);
  EXPECT_EQ(score("0.75."), 0.75);
  EXPECT_EQ(score("I am 85% sure"), 0.85);
  EXPECT_EQ(score("Score: 8/10"), 0.8);
  EXPECT_EQ(score("It deserves 7/10"), 0.7);
  EXPECT_EQ(score("Score: 90/100"), 0.9);
  EXPECT_EQ(score("Score: 5"), std::nullopt);
  EXPECT_EQ(score("Score: -1"), std::nullopt);
  EXPECT_EQ(score("good"), std::nullopt);
  EXPECT_EQ(score(""), std::nullopt);
  EXPECT_EQ(score("Score:"), std::nullopt);
}

TEST(ReadVerdict, Words) {
  const auto word = [](const char* reply) { return ReadVerdict(reply, JudgeScale::kWords); };
  EXPECT_EQ(word("Sure"), 1.0);
  EXPECT_EQ(word("It could be.\nlikely"), 0.05);
  EXPECT_EQ(word("impossible."), 0.00005);
  EXPECT_EQ(word("not sure, but I think it is\nlikely"), 0.05);
  EXPECT_EQ(word("likely, no: impossible, or sure"), 1.0);
  EXPECT_EQ(word("I measured it; unlikely"), std::nullopt);
  EXPECT_EQ(word(""), std::nullopt);
}

// Paths write "<letter>\n" twice, then "=<letter>$"; a judge replies by the letter it reads last.
FakeOptions JudgedOptions(std::map<char, std::string> replies) {
  auto order = std::make_shared<KeyOrder>();
  FakeOptions options;
  options.logits = [order, replies = std::move(replies)](const FakeStep& step,
                                                         std::span<float> logits) {
    const std::string prompt =
        TextOf({step.path_key, step.history.first(static_cast<size_t>(step.prompt_tokens)), 0, 1});
    const std::string written = TextOf(
        {step.path_key, step.history.subspan(static_cast<size_t>(step.prompt_tokens)), 0, 1});
    if (prompt.find("Judge") != std::string::npos) {
      const std::string& reply = replies.at(prompt[prompt.find_last_not_of('\n')]);
      Favour(logits, written.size() < reply.size() ? reply[written.size()] : '$', 5.0F);
      return;
    }
    const char letter = order->Letter(step.path_key);
    const size_t at = written.size();
    Favour(logits,
           at == 0 || at == 2   ? letter
           : at == 1 || at == 3 ? '\n'
           : at == 4            ? '='
           : at == 5            ? written[0]
                                : '$',
           5.0F);
  };
  return options;
}

TEST(JudgeReward, ReadsTheJudgesScoreAndChargesItsTokens) {
  FakeEngine engine(JudgedOptions({{'a', "Score: 0.9"},
                                   {'b', "Score: 0.1"},
                                   {'c', "no idea"},
                                   {'d', "Score: 0.2"},
                                   {'e', "Score: 0.2"}}));
  MethodOptions options = StepOptions(3);
  auto session = RebaseBy(engine, "judge", options);
  RunSteps(engine, *session);
  const SessionResult result = session->Result();
  // Level 1: .9, .1, 0 (unreadable): e = 1, .018, .011: all three to a. Level 2: a .9, and its
  // forks d and e .2: all to a again, whose paths end in "=a".
  EXPECT_EQ(result.answer, "a");
  EXPECT_EQ(result.voting_paths, 3);
  int judges = 0;
  int64_t judge_tokens = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.kind == PathKind::kJudge) {
      ++judges;
      judge_tokens += path.prompt_tokens + path.length();
      EXPECT_TRUE(path.answer.empty());
    }
  }
  EXPECT_EQ(judges, 3 + 3 + 3);
  EXPECT_EQ(result.ledger.judge, judge_tokens);
  EXPECT_EQ(result.ledger.generated, 3 * 2 + 3 * 2 + 3 * 3);
  EXPECT_EQ(result.ledger.lanes_opened, 3 + 2 + 2);
}

TEST(JudgeReward, TakesTheMeanOfItsCallsAndStopsThemAtTheirLimit) {
  FakeEngine engine(JudgedOptions({{'a', "sure and so on and on and on"}, {'b', "likely"}}));
  MethodOptions options = StepOptions(1);
  options.tree.judge_tokens = 6;
  auto session =
      RebaseWith(engine, std::make_unique<JudgeReward>(options, JudgeScale::kWords), options);
  RunSteps(engine, *session);
  int judges = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.kind == PathKind::kJudge) {
      ++judges;
      EXPECT_EQ(path.text, "sure a");
      EXPECT_EQ(path.reason, "judge-tokens are used up");
    }
  }
  EXPECT_EQ(judges, 3 * 3);  // three calls for each of three steps
  EXPECT_DOUBLE_EQ(session->method().Weight(session->pool(), session->pool().path(0)), 1.0);
}

TEST(JudgeReward, JudgesOneByOneWhereLanesAreFew) {
  FakeOptions tight = JudgedOptions({{'a', "Score: 0.9"}, {'b', "Score: 0.8"}, {'c', "Score: 0"}});
  tight.capabilities.max_lanes = 3;
  CrowdedEngine engine(tight);
  auto session = RebaseBy(engine, "judge", StepOptions(2));
  RunSteps(engine, *session);
  EXPECT_EQ(session->Result().voting_paths, 2);
  EXPECT_EQ(engine.cost().lanes_peak, 3);
}

TEST(JudgeReward, PathsThatWaitMakeRoomForTheJudge) {
  const std::map<char, std::string> replies = {
      {'a', "Score: 0.9"}, {'b', "Score: 0.1"}, {'c', "Score: 0.2"}, {'d', "Score: 0.2"},
      {'e', "Score: 0.2"}, {'f', "Score: 0.2"}, {'g', "Score: 0.2"}, {'h', "Score: 0.2"}};
  FakeEngine roomy(JudgedOptions(replies));
  MethodOptions options = StepOptions(3);
  options.tree.judge_tokens = 12;
  auto first = RebaseBy(roomy, "judge", options);
  RunSteps(roomy, *first);
  int prompt = 0;
  for (const Path& path : first->pool().paths()) {
    prompt = std::max(prompt, path.kind == PathKind::kJudge ? path.prompt_tokens : 0);
  }
  FakeOptions tight = JudgedOptions(replies);
  tight.capabilities.cells_total = prompt + 14;  // one judge, and next to nothing beside it
  FakeEngine engine(tight);
  auto session = RebaseWith(engine, std::move(*MakeStepReward("judge", options)), options,
                            tight.capabilities.cells_total);
  RunSteps(engine, *session);
  EXPECT_TRUE(session->Result().answer.has_value());
  EXPECT_GE(session->Result().ledger.stalls, 1);
  for (const Path& path : session->pool().paths()) {
    EXPECT_TRUE(path.kind != PathKind::kJudge || path.status != PathStatus::kPruned) << path.id;
  }
  for (const Record& record : session->TakeRecords()) {
    const auto* shortage = std::get_if<ShortageRecord>(&record);
    EXPECT_TRUE(shortage == nullptr || shortage->cells >= 0);
  }
}

TEST(JudgeReward, AJudgeLostForWantOfCellsIsNoVerdict) {
  FakeOptions tight = JudgedOptions({{'a', "Score: 0.9"}});
  tight.capabilities.cells_total = 50;  // for the path, never for a judge's prompt
  CrowdedEngine engine(tight);
  auto session = RebaseBy(engine, "judge", StepOptions(1));
  RunSteps(engine, *session);
  const Path& path = session->pool().path(0);
  EXPECT_TRUE(std::isnan(session->method().Weight(session->pool(), path)));
  EXPECT_FALSE(session->Result().answer.has_value());
}

TEST(JudgeReward, ACallWithoutALaneLeavesTheVerdictsOfTheOthers) {
  FakeOptions options = JudgedOptions({{'a', "Score: 0.9"}});
  // The path is number 0; the third judge of its first step is refused, and again when asked alone.
  options.refuse_open = [](int64_t open) { return open == 3 || open == 4; };
  FakeEngine engine(options);
  MethodOptions method = StepOptions(1);
  method.tree.judge_calls = 3;
  auto session = RebaseBy(engine, "judge", method);
  RunSteps(engine, *session);
  EXPECT_EQ(session->Result().answer, "a");
  EXPECT_NEAR(session->method().Weight(session->pool(), session->pool().path(0)), 0.9, 1e-9);
}

TEST(JudgeReward, NoLaneForAJudgeIsNoValue) {
  FakeOptions tight = JudgedOptions({});
  tight.capabilities.max_lanes = 2;
  CrowdedEngine engine(tight);
  auto session = RebaseBy(engine, "judge", StepOptions(2));
  RunSteps(engine, *session);
  EXPECT_FALSE(session->Result().answer.has_value());  // every step was dropped: none has a value
  EXPECT_EQ(session->pool().paths()[0].reason, "its step got no value");
}

// The reward model: '+' against '-' by the last letter of the steps.
FakeOptions ModelOptions() {
  FakeOptions options;
  options.logits = [](const FakeStep& step, std::span<float> logits) {
    const std::string text = TextOf(step);
    const char last = text[text.find_last_not_of('\n')];
    logits['+'] = last == 'b' ? std::log(9.0F) : 0.0F;
  };
  return options;
}

TEST(ProcessReward, AsksASecondEngineAndChargesWhatItReads) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  FakeEngine model(ModelOptions());
  MethodOptions options = StepOptions(2);
  auto session = RebaseWith(engine, MakeProcessReward(model, {}), options);
  RunSteps(engine, *session);
  const SessionResult result = session->Result();
  // Level 1: a 1/2, b 9/10: e = .135 and 1: ceil(2 * .881) = 2 to b.
  EXPECT_EQ(session->pool().path(0).status, PathStatus::kPruned);
  EXPECT_EQ(result.voting_paths, 2);
  EXPECT_EQ(result.answer, "b");
  EXPECT_NEAR(session->method().Weight(session->pool(), session->pool().path(1)), 0.9, 1e-6);
  // Prompts "q\n\na\n", "q\n\nb\n", "q\n\nb\n=b", "q\n\nb\n=c", and two verdicts each.
  EXPECT_EQ(result.ledger.value, 5 + 5 + 7 + 7 + 4 * 2);
  EXPECT_EQ(model.open_lanes(), 0);
  EXPECT_EQ(result.ledger.generated, engine.cost().decode_rows);
}

TEST(ProcessReward, FewLanesOnlyTakeLonger) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  FakeOptions tight = ModelOptions();
  tight.capabilities.max_lanes = 1;
  FakeEngine model(tight);
  auto session = RebaseWith(engine, MakeProcessReward(model, {}), StepOptions(3));
  RunSteps(engine, *session);
  EXPECT_EQ(session->Result().voting_paths, 3);
  EXPECT_EQ(model.cost().lanes_peak, 1);
}

TEST(ProcessReward, ARefusedLaneIsNoValueAndAFailedEngineAnError) {
  FakeEngine engine(LetterSteps([](char) { return 1; }, [](char letter) { return letter; }));
  FakeOptions refusing = ModelOptions();
  refusing.refuse_open = [](int64_t) { return true; };
  FakeEngine none(refusing);
  auto session = RebaseWith(engine, MakeProcessReward(none, {}), StepOptions(2));
  RunSteps(engine, *session);
  EXPECT_FALSE(session->Result().answer.has_value());

  FakeOptions failing = ModelOptions();
  failing.poll_fault = [](int64_t) { return Error{ErrorCode::kUnavailable, "no reward server"}; };
  FakeEngine failed(failing);
  auto broken = RebaseWith(engine, MakeProcessReward(failed, {}), StepOptions(2));
  Driver driver(engine);
  driver.Add(broken.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(broken->status().error().message, "no reward server");
  broken.reset();
  EXPECT_EQ(failed.open_lanes(), 0);
}

}  // namespace
}  // namespace hyper
