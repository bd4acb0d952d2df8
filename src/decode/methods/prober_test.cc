// Paths that are asked for their answers while they run.
#include "src/decode/methods/prober.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "src/decode/methods/registry.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr char kAsked[] = "\n\n=";  // the empty line and the text below

// Path i writes texts[i] and ends. A path that is asked after it wrote `text` replies `reply`.
using ReplyTo = std::function<std::string(const std::string& text)>;
FakeOptions AskedEngine(std::vector<std::string> texts, ReplyTo reply) {
  return ScriptedOptions([texts = std::move(texts), reply = std::move(reply)](
                             uint64_t key, std::string_view written, int) -> ScriptedNext {
    const size_t asked = written.find(kAsked);
    std::string whole;
    if (asked != std::string_view::npos) {
      whole = std::string(written.substr(0, asked)) + kAsked +
              reply(std::string(written.substr(0, asked)));
    } else {
      whole = texts[static_cast<size_t>(PathIndexOf(key))];
    }
    return {written.size() < whole.size() ? whole[written.size()] : '$', 5.0F};
  });
}

// `length` letters `name`, then the answer.
std::string Written(int length, char name, char answer) {
  return std::string(static_cast<size_t>(length) - 2, name) + "=" + answer;
}

MethodOptions ProbeOptions(const std::string& method, int width, const OptionValues& values = {}) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.interval = 7;
  options.max_tokens = 60;
  options.probe = true;
  options.probe_interval = 8;
  options.probe_text = "=";
  EXPECT_TRUE(ApplyMethodDefaults(method, options).ok());
  for (const OptionValue& value : values) {
    EXPECT_TRUE(SetOption(options, value.name, value.text).ok()) << value.name;
  }
  return options;
}

struct ProbedRun {
  ProbedRun(const FakeOptions& engine_options, const std::string& method,
            const MethodOptions& options, SessionLimits limits = {})
      : engine(engine_options), session(ScriptedSession(engine, method, options, 1 << 20, limits)) {
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    EXPECT_TRUE(session->status().ok());
    EXPECT_EQ(engine.open_lanes(), 0);
    result = session->Result();
  }
  // Of the paths that answer the question.
  std::vector<Path> Of(PathKind kind) const {
    std::vector<Path> paths;
    for (const Path& path : session->pool().paths()) {
      if (path.kind == kind) {
        paths.push_back(path);
      }
    }
    return paths;
  }

  FakeEngine engine;
  std::unique_ptr<Session> session;
  SessionResult result;
};

// The length of what the path has written, as a digit.
std::string Eighths(const std::string& text) { return std::to_string(text.size() / 8); }

TEST(Prober, AsksAtEveryIntervalAndLeavesThePathAlone) {
  const std::vector<std::string> texts = {Written(30, 'a', '1'), Written(12, 'b', '1')};
  const ProbedRun ran(AskedEngine(texts, Eighths), "sc", ProbeOptions("sc", 2));
  const std::vector<Path> paths = ran.Of(PathKind::kReasoning);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].probed, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(paths[1].probed, (std::vector<std::string>{"1"}));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(paths[i].text, texts[i]);
    EXPECT_EQ(paths[i].answer, "1");
  }
  // Each is charged its question, its reply and the end of it; nothing else is.
  const Ledger& ledger = ran.result.ledger;
  EXPECT_EQ(ledger.probe, 4 * (3 + 2));
  EXPECT_EQ(ledger.generated, 31 + 13);
  EXPECT_EQ(ledger.positions, 31);
  EXPECT_EQ(ledger.prefilled, 1);
  EXPECT_EQ(ledger.lanes_opened, 2);
  EXPECT_EQ(ledger.effective(), ledger.generated + ledger.probe);
  EXPECT_EQ(ran.result.voting_paths, 2);
  for (const Path& probe : ran.Of(PathKind::kProbe)) {
    EXPECT_EQ(probe.status, PathStatus::kFinished);
    EXPECT_EQ(probe.fork_position % 8, 0);
    EXPECT_NE(probe.key, paths[static_cast<size_t>(probe.parent)].key);
  }
}

TEST(Prober, AReplyEndsWithItsBraceOrItsLine) {
  const auto reply = [](const char* given, const char* text) {
    MethodOptions options = ProbeOptions("sc", 1, {{"probe-text", text}, {"probe-tokens", "6"}});
    const ProbedRun ran(AskedEngine({Written(12, 'a', '1')},
                                    [given](const std::string&) { return std::string(given); }),
                        "sc", options);
    const Path probe = ran.Of(PathKind::kProbe).at(0);
    const bool whole = probe.text.ends_with('}') || probe.text.ends_with('\n');
    EXPECT_EQ(probe.status, whole ? PathStatus::kFinished : PathStatus::kLength);
    return probe.text.substr(8 + 2);
  };
  EXPECT_EQ(reply("7}, or not", "="), "=7}");
  EXPECT_EQ(reply("{{7}}, or not", "="), "={{7}}");
  EXPECT_EQ(reply("7\nor not", "="), "=7\n");
  EXPECT_EQ(reply("7 or not", "="), "=7 or n") << "six tokens";
  // The question's own brace is closed by the reply's last one.
  EXPECT_EQ(reply("{a{7}} b", "={"), "={a{7}}");
}

TEST(Prober, ProbesThatDisagreeHoldAStopBack) {
  std::vector<std::string> texts(4, Written(11, 'a', '1'));
  texts.resize(16, Written(30, 'b', '1'));
  const auto voters = [&](const char* probe, const ReplyTo& reply) {
    const ProbedRun ran(
        AskedEngine(texts, reply), "sc",
        ProbeOptions("sc", static_cast<int>(texts.size()), {{"stop", "0.95"}, {"probe", probe}}));
    EXPECT_EQ(ran.result.answer, "1");
    return ran.result.voting_paths;
  };
  const auto say = [](const char* what) {
    return [what](const std::string&) { return std::string(what); };
  };
  EXPECT_EQ(voters("off", say("2")), 4);
  EXPECT_EQ(voters("on", say("1")), 4);
  EXPECT_EQ(voters("on", say("2")), 16);
  // What the paths say last counts: from their sixteenth token on they agree.
  const auto changed = [](const std::string& text) {
    return std::string(text.size() < 16 ? "2" : "1");
  };
  EXPECT_EQ(voters("on", changed), 4);
  // Four answers weigh more than three others; and no answer disagrees with none.
  texts.resize(7);
  EXPECT_EQ(voters("on", say("2")), 4);
  texts.resize(16, Written(30, 'b', '1'));
  EXPECT_EQ(voters("on", say("")), 4);
}

TEST(Prober, AsksInTurnsWhereLanesAreFew) {
  const std::vector<std::string> texts(4, Written(20, 'a', '1'));
  for (const int lanes : {4, 5, 6}) {
    FakeOptions options = AskedEngine(texts, Eighths);
    options.capabilities.max_lanes = lanes;
    const ProbedRun ran(options, "sc", ProbeOptions("sc", 4));
    EXPECT_EQ(ran.result.ledger.lanes_peak, lanes);
    for (const Path& path : ran.Of(PathKind::kReasoning)) {
      EXPECT_EQ(path.probed.size(), lanes > 4 ? 2U : 0U);
      EXPECT_EQ(path.text, texts[0]);
    }
  }
}

TEST(Prober, AnEarlyEndTakesTheLastReply) {
  SessionLimits limits;
  limits.budget_tokens = 60;  // after two probes of each path
  const ProbedRun ran(AskedEngine({Written(30, 'a', '1'), Written(30, 'b', '1')}, Eighths), "sc",
                      ProbeOptions("sc", 2), limits);
  EXPECT_TRUE(ran.result.partial);
  EXPECT_EQ(ran.result.answer, "2");
  for (const Path& path : ran.Of(PathKind::kReasoning)) {
    EXPECT_EQ(path.status, PathStatus::kCancelled);
    EXPECT_TRUE(path.tentative);
  }
}

TEST(Prober, ClosesTheReasoningFirst) {
  const auto asked = [](const std::string& text) {
    const ProbedRun ran(AskedEngine({text}, Eighths), "sc", ProbeOptions("sc", 1));
    const Path probe = ran.Of(PathKind::kProbe).at(0);
    return probe.text.substr(static_cast<size_t>(probe.fork_position));
  };
  EXPECT_EQ(asked("<think>abcdefgh=1"), "\n</think>\n\n=2");
  EXPECT_EQ(asked("<think></think>h=1").substr(0, 11), "\n</think>\n\n") << "asked after 8";
  EXPECT_EQ(asked("abcdefghijk=1"), "\n\n=1");
  // Asked after 16, when the reasoning has ended.
  const ProbedRun ran(AskedEngine({"<think></think>abcdefgh=1"}, Eighths), "sc",
                      ProbeOptions("sc", 1, {{"probe-interval", "16"}}));
  const Path probe = ran.Of(PathKind::kProbe).at(0);
  EXPECT_EQ(probe.text.substr(static_cast<size_t>(probe.fork_position)), "\n\n=2");
}

TEST(Prober, APathThatReachesTheCapIsAskedBeforeIt) {
  const std::vector<std::string> texts = {Written(6, 'a', '1'), Written(40, 'b', '2')};
  const ProbedRun ran(AskedEngine(texts, Eighths), "sc-cap",
                      ProbeOptions("sc-cap", 2, {{"length-cap", "20"}}));
  EXPECT_EQ(ran.Of(PathKind::kReasoning)[1].length(), 20);
  EXPECT_EQ(ran.Of(PathKind::kReasoning)[1].probed.size(), 2U);
  EXPECT_EQ(ran.result.answer, "1");
}

}  // namespace
}  // namespace hyper
