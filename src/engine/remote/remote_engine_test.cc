// A remote engine against a scripted model: lanes, forks, waiting tokens, queues, same decisions as
// in process.
#include "src/engine/remote/remote_engine.h"

#include <gtest/gtest.h>

#include <map>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/fake_engine.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_model.h"

namespace hyper {
namespace {

using test::ScriptedModel;
using test::ScriptedServer;

constexpr double kPollSeconds = 0.05;

// A text of words out of `key`, then a boxed answer.
void WriteLogits(uint64_t key, std::span<const Token> history, std::span<float> logits) {
  constexpr std::string_view kFiller = "so we add the next part; ";
  size_t prompt = history.size();
  while (prompt > 0 && history[prompt - 1] != '\n') {
    --prompt;
  }
  const size_t at = history.size() - prompt;
  const uint64_t bits = key * 0x9E3779B97F4A7C15U >> 20U;
  const size_t filler = 12 + bits % 60;
  const std::string end = bits % 4 != 0 ? "\\boxed{42}" : "\\boxed{7}";
  Token next = FakeEngine::kEnd;
  if (at < filler) {
    next = static_cast<unsigned char>(kFiller[at % kFiller.size()]);
  }
  if (at >= filler && at - filler < end.size()) {
    next = static_cast<unsigned char>(end[at - filler]);
  }
  logits[static_cast<size_t>(next)] = 6.0F + static_cast<float>((bits / 7 + at) % 40) * 0.1F;
}

std::unique_ptr<Engine> Connect(const std::vector<std::string>& urls, RemoteOptions options = {}) {
  options.urls = urls;
  Result<std::unique_ptr<Engine>> engine = MakeRemoteEngine(options);
  EXPECT_TRUE(engine.has_value()) << engine.error().message;
  return engine ? std::move(*engine) : nullptr;
}

// Events of an engine until `enough`, or a minute has gone by.
std::vector<Event> PollUntil(Engine& engine, const std::function<bool(const Event&)>& enough) {
  std::vector<Event> seen;
  const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
  while (base::SteadyClock().Now() < deadline) {
    const Result<std::span<const Event>> events = engine.Poll(kPollSeconds);
    EXPECT_TRUE(events.has_value());
    bool stop = false;
    for (const Event& event : *events) {
      seen.push_back(event);
      stop = stop || enough(event);
    }
    if (stop) {
      return seen;
    }
  }
  ADD_FAILURE() << "nothing came within a minute";
  return seen;
}

bool IsBoundary(const Event& event) { return event.kind == EventKind::kBoundary; }

std::string TextOf(const Engine& engine, const std::vector<Event>& events, LaneId lane) {
  std::string text;
  for (const Event& event : events) {
    if (event.kind == EventKind::kToken && event.lane == lane) {
      text += engine.TokenText(event.token);
    }
  }
  return text;
}

LaneSpec SpecOf(uint64_t key) {
  LaneSpec spec;
  spec.path_key = key;
  spec.sampler.temperature = 0;
  return spec;
}

Prompt PromptFor(Engine& engine, const std::string& question) {
  const std::vector<ChatMessage> messages = {{"user", question}};
  Result<Prompt> prompt = engine.RenderChat(messages, {});
  EXPECT_TRUE(prompt.has_value());
  return prompt ? *prompt : Prompt();
}

TEST(RemoteEngine, RendersOpensGrantsAndForks) {
  ScriptedModel model(WriteLogits);
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  const Prompt prompt = PromptFor(*engine, "six times seven?");
  EXPECT_EQ(prompt.text, "user: six times seven?\n");
  EXPECT_EQ(prompt.tokens.size(), prompt.text.size());
  const LaneId lane = *engine->Open(prompt.tokens, SpecOf(5));
  ASSERT_TRUE(engine->Grant(lane, 8).ok());
  std::vector<Event> events = PollUntil(*engine, IsBoundary);
  EXPECT_EQ(TextOf(*engine, events, lane), "so we ad");
  EXPECT_EQ(events[0].position, static_cast<int>(prompt.tokens.size()));
  const LaneId child = *engine->Fork(lane, static_cast<int>(prompt.tokens.size()) + 6, SpecOf(6));
  ASSERT_TRUE(engine->Grant(child, 4).ok());
  events = PollUntil(*engine, IsBoundary);
  EXPECT_EQ(TextOf(*engine, events, child), "add ") << "goes on where it was forked";
  EXPECT_EQ(model.streams, 2);
}

TEST(RemoteEngine, OneTokenPerLaneAndPollSortedListsAndEnd) {
  ScriptedModel model(WriteLogits);
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  const LaneId lane = *engine->Open(PromptFor(*engine, "q").tokens, SpecOf(9));
  ASSERT_TRUE(engine->Grant(lane, 400).ok());
  std::string text;
  bool ended = false;
  while (!ended) {
    const Result<std::span<const Event>> events = engine->Poll(kPollSeconds);
    ASSERT_TRUE(events.has_value());
    int tokens = 0;
    for (const Event& event : *events) {
      ended = ended || event.kind == EventKind::kEnd;
      if (event.kind != EventKind::kToken) {
        continue;
      }
      ++tokens;
      text += engine->TokenText(event.token);
      ASSERT_EQ(event.top.size(), 20U);
      for (size_t i = 1; i < event.top.size(); ++i) {
        EXPECT_GE(event.top[i - 1].logprob, event.top[i].logprob);
      }
      EXPECT_FALSE(event.mean_logprob.has_value()) << "a server does not tell it";
      ended = ended || engine->IsEndOfGeneration(event.token);
    }
    EXPECT_LE(tokens, 1);
  }
  EXPECT_TRUE(text.ends_with("}")) << text;
}

TEST(RemoteEngine, AStreamStaysOpenPastItsGrant) {
  ScriptedModel model(WriteLogits);
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  const LaneId lane = *engine->Open(PromptFor(*engine, "q").tokens, SpecOf(9));
  std::string text;
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(engine->Grant(lane, 3).ok());
    text += TextOf(*engine, PollUntil(*engine, IsBoundary), lane);
  }
  EXPECT_EQ(text, "so we add th");
  EXPECT_EQ(model.streams, 1);
}

TEST(RemoteEngine, TheClosedFormAsksForEachGrant) {
  ScriptedModel model(WriteLogits);
  model.key_of_seed = [](uint32_t) { return 9; };
  ScriptedServer server(model.handler());
  RemoteOptions options;
  options.grant_tokens = 3;
  const std::unique_ptr<Engine> engine = Connect({server.url()}, options);
  const LaneId lane = *engine->Open(PromptFor(*engine, "q").tokens, SpecOf(9));
  std::string text;
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(engine->Grant(lane, 3).ok());
    text += TextOf(*engine, PollUntil(*engine, IsBoundary), lane);
  }
  EXPECT_EQ(text, "so we add th");
  EXPECT_EQ(model.streams, 4);
  EXPECT_EQ(model.tokens, 12);
}

TEST(RemoteEngine, ClosingALaneAbortsItsStream) {
  ScriptedModel model(WriteLogits);
  model.delay_ms = 5;
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  std::vector<LaneId> lanes;
  const std::vector<Token> prompt = PromptFor(*engine, "q").tokens;
  for (uint64_t key = 0; key < 4; ++key) {
    lanes.push_back(*engine->Open(prompt, SpecOf(key)));
    ASSERT_TRUE(engine->Grant(lanes.back(), 100).ok());
  }
  PollUntil(*engine, [](const Event& event) { return event.kind == EventKind::kToken; });
  for (const LaneId lane : lanes) {
    engine->Close(lane);
  }
  const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
  while (model.open > 0 && base::SteadyClock().Now() < deadline) {
    ASSERT_TRUE(engine->Poll(kPollSeconds).has_value());
  }
  EXPECT_EQ(model.open, 0);
  EXPECT_EQ(model.aborted, 4);
}

TEST(RemoteEngine, LanesBeyondTheServersSlotsQueueAndAllFinish) {
  ScriptedModel model(WriteLogits);
  model.slots = 2;
  model.delay_ms = 1;
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  const std::vector<Token> prompt = PromptFor(*engine, "q").tokens;
  std::map<LaneId, int> tokens;
  for (uint64_t key = 0; key < 6; ++key) {
    const LaneId lane = *engine->Open(prompt, SpecOf(key));
    tokens[lane] = 0;
    ASSERT_TRUE(engine->Grant(lane, 5).ok());
  }
  int boundaries = 0;
  const double deadline = base::SteadyClock().Now() + 60 * test::Patience();
  while (boundaries < 6 && base::SteadyClock().Now() < deadline) {
    const Result<std::span<const Event>> events = engine->Poll(kPollSeconds);
    ASSERT_TRUE(events.has_value());
    for (const Event& event : *events) {
      boundaries += IsBoundary(event) ? 1 : 0;
      tokens[event.lane] += event.kind == EventKind::kToken ? 1 : 0;
    }
  }
  EXPECT_EQ(boundaries, 6);
  for (const auto& [lane, count] : tokens) {
    EXPECT_EQ(count, 5) << lane;
  }
  EXPECT_LE(model.open_peak, 4) << "an ended stream may still be on its way out";
}

// Lanes of an engine in process, as they are opened: their keys by the seeds that a server is sent.
class NotingEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<LaneId> Open(std::span<const Token> prompt, const LaneSpec& spec) override {
    Note(spec.path_key, static_cast<int>(prompt.size()));
    return FakeEngine::Open(prompt, spec);
  }
  Result<LaneId> Fork(LaneId lane, int position, const LaneSpec& spec) override {
    Note(spec.path_key, position);
    return FakeEngine::Fork(lane, position, spec);
  }
  std::map<uint32_t, uint64_t> keys;

 private:
  // A stream of the lane may begin at any position, where refinement begins or ends.
  void Note(uint64_t key, int begin) {
    constexpr int kLongest = 200;
    for (int position = begin; position < begin + kLongest; ++position) {
      keys[remote::RequestSeed(key, position, 0)] = key;
    }
  }
};

AskOptions SmallHyper(const std::string& method) {
  AskOptions options;
  options.method = method;
  options.preset = "short";
  // As one line of defaults: not every method reads all of them.
  options.defaults = {{"width", 8}, {"warmup", 4}, {"actions", "none,multi_token,branch"}};
  options.seed = 3;
  return options;
}

struct RunOf {
  SessionResult result;
  std::vector<Record> records;
  std::vector<std::string> texts;
};

RunOf RunIt(Engine& engine, const AskOptions& options) {
  Result<std::unique_ptr<Session>> ask =
      PrepareSession(engine, "six times seven?", options, nullptr);
  EXPECT_TRUE(ask.has_value());
  Driver driver(engine);
  driver.Add(ask->get());
  EXPECT_TRUE(driver.RunAll().ok());
  RunOf run{(*ask)->Result(), (*ask)->TakeRecords(), {}};
  for (const Path& path : (*ask)->pool().paths()) {
    run.texts.push_back(path.text);
  }
  return run;
}

constexpr int kAddOn = 4;  // in place of a dialect: vLLM with the add-on

class SameDecisions : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(SameDecisions, AsInProcess) {
  const auto [method, dialect] = GetParam();
  FakeOptions local;
  local.logits = [](const FakeStep& step, std::span<float> logits) {
    WriteLogits(step.path_key, step.history, logits);
  };
  local.capabilities.routing = dialect == kAddOn;
  NotingEngine in_process(local);
  AskOptions options = SmallHyper(method);
  if (dialect == kAddOn) {
    options.defaults.insert(options.defaults.end(), {{"routes", 4}, {"weights", "noisy"}});
  }
  const RunOf expected = RunIt(in_process, options);

  ScriptedModel model(WriteLogits);
  model.dialect = static_cast<ScriptedModel::Dialect>(dialect == kAddOn ? 1 : dialect % 2);
  if (dialect == kAddOn) {
    model.routing = {{"routing", true}, {"max_routes", 49}, {"experts", 8}};
  }
  model.renders = dialect < 2 || dialect == kAddOn;  // else chats whose last message is continued
  model.prefill = dialect == 2 ? ScriptedModel::Prefill::kTrailing : ScriptedModel::Prefill::kFlag;
  model.key_of_seed = [&in_process](uint32_t seed) -> uint64_t {
    const auto found = in_process.keys.find(seed);
    return found == in_process.keys.end() ? 1 : found->second;
  };
  ScriptedServer server(model.handler());
  const std::unique_ptr<Engine> engine = Connect({server.url()});
  const RunOf got = RunIt(*engine, options);

  EXPECT_EQ(got.texts, expected.texts);
  EXPECT_EQ(got.result.answer, expected.result.answer);
  EXPECT_EQ(got.result.ledger.lanes_opened, expected.result.ledger.lanes_opened);
  EXPECT_EQ(got.result.ledger.refined, expected.result.ledger.refined);
  EXPECT_EQ(got.result.ledger.extra_routes, expected.result.ledger.extra_routes);
  EXPECT_EQ(got.result.ledger.refined > 0, dialect == kAddOn);
  std::vector<DecisionRecord> expected_decisions;
  std::vector<DecisionRecord> decisions;
  for (const Record& record : expected.records) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      expected_decisions.push_back(*decision);
    }
  }
  for (const Record& record : got.records) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      decisions.push_back(*decision);
    }
  }
  ASSERT_EQ(decisions.size(), expected_decisions.size());
  for (size_t i = 0; i < decisions.size(); ++i) {
    EXPECT_EQ(decisions[i].action, expected_decisions[i].action) << i;
    EXPECT_EQ(decisions[i].paths_after, expected_decisions[i].paths_after) << i;
    EXPECT_NEAR(decisions[i].raw.confidence, expected_decisions[i].raw.confidence, 1e-4) << i;
    EXPECT_NEAR(decisions[i].raw.diversity, expected_decisions[i].raw.diversity, 1e-4) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, SameDecisions,
                         ::testing::Values(std::pair{"sc", 0}, std::pair{"hyper", 0},
                                           std::pair{"deepconf", 0}, std::pair{"hyper", 1},
                                           std::pair{"hyper", 2}, std::pair{"hyper", 3},
                                           std::pair{"roe", kAddOn}));

}  // namespace
}  // namespace hyper
