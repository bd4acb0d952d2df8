#include "src/server/scheduler/prompt_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

std::vector<Token> Tokens(const std::string& text) { return {text.begin(), text.end()}; }

FakeOptions Options(int lanes, int64_t cells) {
  FakeOptions options;
  options.logits = Babble;
  options.capabilities.max_lanes = lanes;
  options.capabilities.max_rows = lanes;
  options.capabilities.cells_total = cells;
  return options;
}

// Opens a lane on `prompt`, has it kept, and closes it.
void KeepOnly(FakeEngine& engine, PromptCache& cache, const std::string& prompt) {
  const std::vector<Token> tokens = Tokens(prompt);
  const Result<LaneId> lane = engine.Open(tokens, {});
  ASSERT_TRUE(lane.has_value());
  cache.Keep(*lane, tokens);
  engine.Close(*lane);
}

TEST(PromptCache, FindsTheLongestCommonPrefix) {
  FakeEngine engine(Options(16, 1000));
  PromptCache cache(engine, 4);
  KeepOnly(engine, cache, "system: a");
  KeepOnly(engine, cache, "system: b, and more");
  EXPECT_EQ(cache.Use(Tokens("system: b, or less")), 11);
  EXPECT_EQ(cache.Use(Tokens("system: a")), 8);  // the last token is computed again
  EXPECT_EQ(cache.Use(Tokens("system: axe")), 8);
  EXPECT_EQ(cache.Use(Tokens("other")), 0);
  EXPECT_EQ(cache.Use({}), 0);
}

TEST(PromptCache, KeepsOneLaneForPromptsThatContainEachOther) {
  FakeEngine engine(Options(16, 1000));
  PromptCache cache(engine, 4);
  KeepOnly(engine, cache, "turn one");
  KeepOnly(engine, cache, "turn one, turn two");
  EXPECT_EQ(cache.lanes(), 1);
  KeepOnly(engine, cache, "turn one");
  EXPECT_EQ(cache.lanes(), 1);
  EXPECT_EQ(cache.Use(Tokens("turn one, turn two, turn three")), 17);
  EXPECT_EQ(engine.open_lanes(), 1);
}

TEST(PromptCache, DropsTheLongestUnused) {
  FakeEngine engine(Options(16, 1000));
  PromptCache cache(engine, 2);
  KeepOnly(engine, cache, "aaaa");
  KeepOnly(engine, cache, "bbbb");
  EXPECT_EQ(cache.Use(Tokens("aaaa")), 3);
  KeepOnly(engine, cache, "cccc");
  EXPECT_EQ(cache.lanes(), 2);
  EXPECT_EQ(cache.Use(Tokens("bbbb")), 0);
  EXPECT_EQ(cache.Use(Tokens("aaaa")), 3);
}

TEST(PromptCache, GivesLanesAndCellsBack) {
  FakeEngine engine(Options(4, 160));
  PromptCache cache(engine, 4);
  KeepOnly(engine, cache, std::string(50, 'a'));
  KeepOnly(engine, cache, std::string(20, 'b'));
  EXPECT_EQ(cache.cells(), 70);
  EXPECT_EQ(engine.cost().cells_used, 70);
  cache.MakeRoom(2);
  EXPECT_EQ(cache.lanes(), 2);
  cache.MakeRoom(3);  // three of four lanes: the older prompt goes
  EXPECT_EQ(cache.lanes(), 1);
  EXPECT_EQ(cache.Use(Tokens("bbbbbb")), 5);
  const Result<LaneId> large = engine.Open(Tokens(std::string(130, 'x')), {});
  ASSERT_TRUE(large.has_value());
  cache.MakeRoom(1);  // a quarter of the cells is to be free
  EXPECT_EQ(cache.lanes(), 0);
  engine.Close(*large);
}

TEST(PromptCache, HoldsHalfOfTheCellsAtMost) {
  FakeEngine engine(Options(16, 100));
  PromptCache cache(engine, 8);
  KeepOnly(engine, cache, std::string(51, 'a'));
  EXPECT_EQ(cache.lanes(), 0);
  KeepOnly(engine, cache, std::string(30, 'a'));
  KeepOnly(engine, cache, std::string(30, 'b'));
  EXPECT_EQ(cache.lanes(), 1);
}

TEST(PromptCache, KeepsNothingWhereNothingIsShared) {
  FakeEngine remote(Options(16, 0));
  PromptCache none(remote, 4);
  KeepOnly(remote, none, "a prompt");
  EXPECT_EQ(none.lanes(), 0);
  // Lanes that hold no cell, as those of a recurrent model: given up at the first look.
  FakeEngine engine(Options(16, 1000));
  PromptCache cache(engine, 4);
  KeepOnly(engine, cache, "a prompt");
  EXPECT_TRUE(engine.Evict(2).ok());
  cache.MakeRoom(1);
  EXPECT_EQ(cache.lanes(), 0);
  KeepOnly(engine, cache, "a prompt");
  EXPECT_EQ(cache.lanes(), 0);
}

TEST(Server, SaysHowMuchOfAPromptWasKnown) {
  ServerSetup setup;
  setup.cells = 4000;
  const TestServer server(setup);
  const Json first = server.Good(kChat, Chat("say one and the same"));
  EXPECT_EQ(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  const Json second = server.Good(kChat, Chat("say one and the same"));
  const int prompt = second["usage"]["prompt_tokens"];
  EXPECT_EQ(second["usage"]["prompt_tokens_details"]["cached_tokens"], prompt - 1);
  const Json third = server.Good(kChat, Chat("say one and no other"));
  EXPECT_EQ(third["usage"]["prompt_tokens_details"]["cached_tokens"],
            std::string("user: say one and ").size());
  EXPECT_EQ(Content(third), "one and no other");
  const SchedulerMetrics metrics = server.Settled();
  EXPECT_EQ(metrics.cache_lanes, 2);
  EXPECT_EQ(metrics.cost.lanes_open, 2);
  EXPECT_LE(metrics.cost.cells_used, metrics.cache_cells);
}

// Runs that need every lane and cell get them: what is kept goes first, and nothing is pruned.
TEST(Server, LetsRunsHaveTheLanesOfKeptPrompts) {
  ServerSetup setup;
  setup.lanes = 4;
  setup.cells = 400;
  const TestServer server(setup);
  for (const char* text : {"say a", "say b", "say c", "say d", "say e"}) {
    server.Good(kChat, Chat(text));
  }
  EXPECT_GT(server.Settled().cache_lanes, 0);
  Json body = Chat("say so it is \\boxed{42}", "m:sc");
  body["hyper"] = {{"width", 4}, {"max-tokens", 60}};
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(reply["hyper"]["voting_paths"], 4);
  EXPECT_EQ(reply["usage"]["hyper"]["stalls"], 0);
}

}  // namespace
}  // namespace hyper::server
