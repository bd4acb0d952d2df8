// Faults of votes that users reported in other tools, as whole sessions on a scripted engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Path i writes texts[i]; a '$' ends it.
Script Writes(const std::vector<std::string>& texts) {
  return [texts](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const auto i = static_cast<size_t>(std::max(0, PathIndexOf(key)));
    const std::string& text = texts[i % texts.size()];
    return {written.size() < text.size() ? text[written.size()] : '$', 5.0F};
  };
}

MethodOptions ReportedOptions(const std::string& method, int width, int warmup) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.warmup = warmup;
  options.window = 4;
  options.interval = 4;
  options.max_tokens = 40;
  EXPECT_TRUE(ApplyMethodDefaults(method, options).ok());
  return options;
}

std::unique_ptr<Session> Answered(FakeEngine& engine, const std::string& method,
                                  const MethodOptions& options) {
  auto session = ScriptedSession(engine, method, options);
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(session->status().ok());
  return session;
}

// V04: empty contents do not vote; nothing but empty contents is no answer, never a word.
TEST(ReportedVotes, EmptyContentsDoNotVote) {
  FakeEngine engine(ScriptedOptions(Writes({"", "", "", "=17"})));
  const auto session = Answered(engine, "sc", ReportedOptions("sc", 4, 2));
  const SessionResult result = session->Result();
  EXPECT_EQ(result.answer, "17");
  EXPECT_EQ(result.voting_paths, 1);
  EXPECT_EQ(session->pool().paths().size(), 4U);
  EXPECT_DOUBLE_EQ(result.votes.at("majority").scores[0].share, 1.0);

  FakeEngine silent(ScriptedOptions(Writes({""})));
  const auto none = Answered(silent, "sc", ReportedOptions("sc", 4, 2));
  EXPECT_FALSE(none->Result().answer.has_value());
  EXPECT_EQ(none->Result().voting_paths, 0);
}

// V06: two of four agree; that is no consensus, so the pool is opened.
TEST(ReportedVotes, HalfIsNoReasonToStop) {
  const std::vector<std::string> texts = {"aaaaaaaa=7", "aaaaaaaa=7", "aaaaaaaa=8", "aaaaaaaa=9"};
  FakeEngine engine(ScriptedOptions(Writes(texts)));
  const auto session = Answered(engine, "deepconf", ReportedOptions("deepconf", 8, 4));
  EXPECT_GT(session->pool().paths().size(), 4U);
  FakeEngine agreed(ScriptedOptions(Writes({"aaaaaaaa=7"})));
  EXPECT_EQ(Answered(agreed, "deepconf", ReportedOptions("deepconf", 8, 4))->pool().paths().size(),
            4U);
}

// V11: every path of the pool is pruned. Those that had answered by then vote; without any there is
// no answer, and no score that is not a number.
TEST(ReportedVotes, PrunedPathsThatAnsweredVoteWhereNobodyElseDoes) {
  for (const bool answers : {true, false}) {
    FakeEngine engine(ScriptedOptions([&](uint64_t key, std::string_view written, int) {
      const int number = PathIndexOf(key);
      if (number >= 0 && number < 4) {  // the warm-up is sure, and silent
        return ScriptedNext{written.size() < 12 ? 'a' : '$', 6.0F};
      }
      const std::string text = answers && number % 2 == 0 ? "=7" : "ab";
      const char next = written.size() < text.size() ? text[written.size()] : ' ';
      return ScriptedNext{next, written.size() < 5 ? 6.0F : 0.5F};
    }));
    MethodOptions options = ReportedOptions("hyper", 8, 4);
    EXPECT_TRUE(SetOption(options, "threshold", "top:2").ok());
    EXPECT_TRUE(SetOption(options, "actions", "none").ok());
    const auto session = Answered(engine, "hyper", options);
    int pruned = 0;
    for (const Path& path : session->pool().paths()) {
      pruned += path.status == PathStatus::kPruned ? 1 : 0;
    }
    EXPECT_EQ(pruned, 8);
    const SessionResult result = session->Result();
    EXPECT_EQ(result.answer.has_value(), answers);
    EXPECT_EQ(result.voting_paths, answers ? 4 : 0);
    if (answers) {
      EXPECT_EQ(result.answer->front(), '7');
    }
    for (const auto& [rule, vote] : result.votes) {
      for (const AnswerTally& tally : vote.scores) {
        EXPECT_TRUE(std::isfinite(tally.score)) << rule;
      }
    }
  }
}

}  // namespace
}  // namespace hyper
