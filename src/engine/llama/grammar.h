// What a lane may write next under a grammar.
#pragma once

#include <llama.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/engine.h"

namespace hyper::llama {

// A grammar and how far a text has come in it. A copy goes on by itself from the same place.
class GrammarState {
 public:
  // Behind what has begun. Errors: kInvalidArgument (the rules cannot be read, or do not allow it).
  static Result<GrammarState> Make(const llama_vocab* vocab, const Grammar& grammar);

  GrammarState(const GrammarState& other);
  GrammarState(GrammarState&&) noexcept = default;
  GrammarState& operator=(GrammarState&&) noexcept = default;
  ~GrammarState() = default;

  // Whether `token` may come next. An end token may where the text can be whole.
  bool Allows(Token token);
  // Goes on behind `token`, which must be allowed.
  void Accept(Token token);
  // The same for tokens in a row, as far as they are allowed; false: not all of them are.
  bool AcceptAll(std::span<const Token> tokens);
  // Sets the logits of the tokens that may not come next to minus infinity. Takes milliseconds
  // where the vocabulary is large.
  void Mask(std::span<float> logits);

 private:
  struct Free {
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
  };
  using Sampler = std::unique_ptr<llama_sampler, Free>;
  explicit GrammarState(Sampler sampler) : sampler_(std::move(sampler)) {}

  Sampler sampler_;
};

// A grammar of replies of JSON, the tags of a reasoning before it.
//   json_schema  a JSON Schema; keywords that llama.cpp does not know are not kept to
//   opened       closing tag of the reasoning that the prompt has opened; empty: none
//   tags         opening and closing tags of the reasoning that the model may begin itself
// Errors: kInvalidArgument, in llama.cpp's words.
Result<std::string> JsonGrammar(const std::string& json_schema, std::string_view opened,
                                std::span<const std::pair<std::string, std::string>> tags);

// GBNF rules for a text that ends with the first `end` in it; the first is called `name`, the
// others begin with it. `end` is ASCII and not empty. Pure.
std::string UntilRules(const std::string& name, std::string_view end);

}  // namespace hyper::llama
