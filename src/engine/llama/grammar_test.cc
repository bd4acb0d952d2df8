#include "src/engine/llama/grammar.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/json_schema.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

constexpr const char* kSchema = R"({"type": "object", "properties": {
    "steps": {"type": "array", "items": {"type": "integer"}},
    "sign": {"enum": ["plus", "minus"]}, "sure": {"type": "boolean"}},
    "required": ["steps", "sign", "sure"], "additionalProperties": false})";

class GrammarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not there";
    }
    engine_ = MakeOrFail(BundledOptions());
  }
  const llama_vocab* vocab() const {
    return llama_model_get_vocab(llama_get_model(EngineProbe::Context(*engine_)));
  }
  GrammarState State(const std::string& rules) const {
    Result<GrammarState> state = GrammarState::Make(vocab(), {rules});
    EXPECT_TRUE(state.has_value()) << (state ? "" : state.error().message);
    return std::move(*state);
  }
  // Whether the whole text, and its end, is in the language.
  bool Takes(const std::string& grammar, const std::string& text) {
    GrammarState state = State(grammar);
    return state.AcceptAll(*engine_->Tokenize(text, false)) &&
           state.Allows(llama_vocab_eos(vocab()));
  }
  // What a lane writes on `prompt` in at most `most` tokens.
  LaneLog Written(const Prompt& prompt, const LaneSpec& spec, int most) {
    const LaneId lane = *engine_->Open(prompt.tokens, spec);
    EXPECT_TRUE(engine_->Grant(lane, most));
    return RunAll(*engine_)[lane];
  }
  Prompt Formed(const char* question) {
    const std::vector<ChatMessage> messages = {{"user", question}};
    ReplyWish wish;
    wish.json_schema = kSchema;
    Result<Prompt> prompt = engine_->RenderForm(messages, {}, wish);
    EXPECT_TRUE(prompt.has_value()) << (prompt ? "" : prompt.error().message);
    return prompt ? *prompt : Prompt();
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_F(GrammarTest, AcceptsWhatTheSchemaAllowsOnly) {
  const std::string grammar = *JsonGrammar(kSchema, "", {});
  EXPECT_TRUE(Takes(grammar, R"({"steps":[1,-20],"sign":"plus","sure":true})"));
  EXPECT_TRUE(Takes(grammar, R"({ "steps": [], "sign": "minus", "sure": false })"));
  EXPECT_FALSE(Takes(grammar, R"({"steps":[1.5],"sign":"plus","sure":true})"));
  EXPECT_FALSE(Takes(grammar, R"({"steps":[],"sign":"times","sure":true})"));
  EXPECT_FALSE(Takes(grammar, R"({"steps":[],"sign":"plus"})"));
  EXPECT_FALSE(Takes(grammar, R"({"steps":[],"sign":"plus","sure":true)"));
  EXPECT_FALSE(Takes(grammar, R"({"sign":"plus","steps":[],"sure":true})"));
  const std::string recursive = *JsonGrammar(
      R"({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"next": {"anyOf":
      [{"type": "null"}, {"$ref": "#/$defs/T"}]}}, "required": ["next"],
      "additionalProperties": false}}})",
      "", {});
  EXPECT_TRUE(Takes(recursive, R"({"next":{"next":{"next":null}}})"));
  EXPECT_FALSE(Takes(recursive, R"({"next":{"next":{"next":1}}})"));
}

TEST_F(GrammarTest, ReasoningComesBefore) {
  const std::string opened = *JsonGrammar(R"({"type": "integer"})", "</think>", {});
  EXPECT_TRUE(Takes(opened, "2 + 2 < 5 </th </think>\n\n4"));
  EXPECT_TRUE(Takes(opened, "</think>4"));
  EXPECT_FALSE(Takes(opened, "4"));
  EXPECT_FALSE(Takes(opened, "2 + 2 </think> four"));
  const std::string may =
      *JsonGrammar(R"({"type": "integer"})", "", {{{"<think>", "</think>"}, {"[T]", "[/T]"}}});
  EXPECT_TRUE(Takes(may, "4"));
  EXPECT_TRUE(Takes(may, "<think>2 + 2</think>\n4"));
  EXPECT_TRUE(Takes(may, "[T]2 </think> 2[/T]4"));
  EXPECT_FALSE(Takes(may, "2 + 2</think>\n4"));
}

// Every text over two letters, against a plain search for the end.
TEST_F(GrammarTest, UntilTheFirstEnd) {
  for (const std::string end : {"ab", "aab", "aba", "abab", "aaa"}) {
    const std::string grammar = "root ::= until\n" + UntilRules("until", end);
    for (int length = 0; length < 9; ++length) {
      for (int bits = 0; bits < 1 << length; ++bits) {
        std::string text;
        for (int i = 0; i < length; ++i) {
          text += (bits >> i & 1) != 0 ? 'a' : 'b';
        }
        const size_t found = text.find(end);
        EXPECT_EQ(Takes(grammar, text),
                  found != std::string::npos && found + end.size() == text.size())
            << end << " " << text;
      }
    }
  }
}

TEST_F(GrammarTest, WhatCannotBeReadIsRefused) {
  EXPECT_FALSE(GrammarState::Make(vocab(), {"root ::= ("}).has_value());
  EXPECT_FALSE(JsonGrammar(R"({"type": "tree"})", "", {}).has_value());
  EXPECT_FALSE(JsonGrammar(R"({"$ref": "#/$defs/missing"})", "", {}).has_value());
}

TEST_F(GrammarTest, EveryReplyIsOfTheSchema) {
  const Prompt prompt = Formed(kSumQuestion);
  ASSERT_NE(prompt.form, nullptr);
  int whole = 0;
  for (uint64_t key = 0; key < 6; ++key) {
    LaneSpec spec = key == 0 ? Greedy() : Sampled(key);
    spec.grammar = prompt.form->grammar;
    const LaneLog log = Written(prompt, spec, 400);
    EXPECT_EQ(log.error, "");
    const std::string text = TextOf(*engine_, log.tokens);
    const size_t thought = text.find("</think>");
    if (log.ended && thought != std::string::npos) {
      const std::string reply = text.substr(thought + 8, text.rfind('}') - thought - 7);
      const auto value = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
      EXPECT_EQ(test::SchemaViolation(nlohmann::json::parse(kSchema), value), "") << text;
      ++whole;
    }
  }
  EXPECT_GT(whole, 0);
}

// A fork goes on where its parent was: with the parent's key it writes the same.
TEST_F(GrammarTest, AForkGoesOnInTheGrammar) {
  const Prompt prompt = Formed(kSumQuestion);
  LaneSpec spec = Sampled(3);
  spec.grammar = prompt.form->grammar;
  const LaneId whole = *engine_->Open(prompt.tokens, spec);
  ASSERT_TRUE(engine_->Grant(whole, 300));
  const std::vector<Token> tokens = RunAll(*engine_)[whole].tokens;
  for (const size_t part : {tokens.size() / 3, tokens.size() - 6, tokens.size() - 2}) {
    const LaneId child = *engine_->Fork(whole, static_cast<int>(prompt.tokens.size() + part), spec);
    ASSERT_TRUE(engine_->Grant(child, static_cast<int>(tokens.size() - part)));
    const std::vector<Token> rest(tokens.begin() + static_cast<int64_t>(part), tokens.end());
    EXPECT_EQ(RunAll(*engine_)[child].tokens, rest) << part;
  }
}

// A form that leads nowhere is an error; one whose text is whole is an end.
TEST_F(GrammarTest, ADeadEndIsNoEnd) {
  const auto written = [this](const char* rules) {
    LaneSpec spec = Greedy();
    spec.grammar = std::make_shared<const Grammar>(Grammar{rules});
    Prompt prompt;
    prompt.tokens = QuestionTokens(*engine_, kSumQuestion);
    return Written(prompt, spec, 9);
  };
  const LaneLog whole = written(R"(root ::= "7")");
  EXPECT_EQ(whole.error, "");
  EXPECT_TRUE(whole.ended);
  const LaneLog dead = written(R"(root ::= "7" [^\x00-\U7FFFFFFF])");  // no character is left
  EXPECT_NE(dead.error.find("after 1 tokens"), std::string::npos) << dead.error;
}

// Lanes of one grammar parse it once, and each goes through it from its beginning.
TEST_F(GrammarTest, LanesOfOneGrammarGoThroughItByThemselves) {
  LaneSpec spec = Greedy();
  spec.grammar = std::make_shared<const Grammar>(Grammar{R"(root ::= "7" "8" "9")"});
  Prompt prompt;
  prompt.tokens = QuestionTokens(*engine_, kSumQuestion);
  for (int i = 0; i < 2; ++i) {
    const LaneLog log = Written(prompt, spec, 9);
    EXPECT_EQ(TextOf(*engine_, log.tokens).substr(0, 3), "789");
  }
}

TEST_F(GrammarTest, AGivenTextOutsideItFreesTheLane) {
  LaneSpec spec = Greedy();
  spec.grammar = std::make_shared<const Grammar>(Grammar{R"(root ::= "7" [ ] "7")"});
  const LaneId lane = *engine_->Open(QuestionTokens(*engine_, kSumQuestion), spec);
  ASSERT_TRUE(engine_->Extend(lane, *engine_->Tokenize("9", false)));
  ASSERT_TRUE(engine_->Grant(lane, 4));
  const LaneLog log = RunAll(*engine_)[lane];
  EXPECT_EQ(log.error, "");
  EXPECT_EQ(log.tokens.size(), 4U);
}

}  // namespace
}  // namespace hyper::llama
