#include "src/engine/llama/grammar.h"

#include <json-schema-to-grammar.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "src/engine/llama/backend.h"
#include "src/engine/llama/chat.h"

namespace hyper::llama {
namespace {

// How many bytes at the end of `text` are the beginning of `end`.
size_t Overlap(std::string_view text, std::string_view end) {
  size_t size = std::min(text.size(), end.size());
  while (!text.ends_with(end.substr(0, size))) {
    --size;
  }
  return size;
}

// An ASCII character inside the brackets of a GBNF set.
std::string InSet(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto code = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[code / 16U], kDigits[code % 16U]};
}

}  // namespace

Result<GrammarState> GrammarState::Make(const llama_vocab* vocab, const Grammar& grammar) {
  const LogCapture log;
  try {
    Sampler sampler(llama_sampler_init_grammar(vocab, grammar.rules.c_str(), "root"));
    if (sampler != nullptr) {
      GrammarState state(std::move(sampler));
      if (state.AcceptAll(TokenizeText(vocab, grammar.begun, false, true))) {
        return state;
      }
      return InvalidArgument("the end of the prompt does not begin a text of the grammar");
    }
  } catch (const std::exception& failure) {
    return InvalidArgument(std::string("llama.cpp cannot read the grammar: ") + failure.what());
  }
  return InvalidArgument("llama.cpp cannot read the grammar: " + log.Reason("no reason given"));
}

GrammarState::GrammarState(const GrammarState& other)
    : sampler_(llama_sampler_clone(other.sampler_.get())) {}

bool GrammarState::Allows(Token token) {
  llama_token_data data{token, 0, 0};
  llama_token_data_array one{&data, 1, -1, false};
  llama_sampler_apply(sampler_.get(), &one);
  return std::isfinite(data.logit);
}

void GrammarState::Accept(Token token) { llama_sampler_accept(sampler_.get(), token); }

bool GrammarState::AcceptAll(std::span<const Token> tokens) {
  return std::all_of(tokens.begin(), tokens.end(), [this](Token token) {
    const bool allowed = Allows(token);
    if (allowed) {
      Accept(token);
    }
    return allowed;
  });
}

void GrammarState::Mask(std::span<float> logits) {
  std::vector<llama_token_data> data;
  data.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    data.push_back({static_cast<Token>(i), 0, 0});
  }
  llama_token_data_array all{data.data(), data.size(), -1, false};
  llama_sampler_apply(sampler_.get(), &all);
  for (const llama_token_data& entry : data) {
    if (!std::isfinite(entry.logit)) {
      logits[static_cast<size_t>(entry.id)] = -std::numeric_limits<float>::infinity();
    }
  }
}

std::string UntilRules(const std::string& name, std::string_view end) {
  // Knuth, Morris and Pratt's automaton: rule i has seen the first i characters of `end`.
  std::string rules;
  const auto rule = [&name](size_t i) { return i == 0 ? name : name + "-" + std::to_string(i); };
  std::string characters;
  for (const char c : end) {
    characters += characters.find(c) == std::string::npos ? std::string(1, c) : "";
  }
  std::string others = "[^";
  for (const char c : characters) {
    others += InSet(c);
  }
  others += "]";
  for (size_t i = 0; i < end.size(); ++i) {
    rules.append(rule(i)).append(" ::= ").append(others).append(" ").append(name);
    for (const char c : characters) {
      std::string read(end.substr(0, i));
      read += c;
      const size_t next = Overlap(read, end);
      rules += " | [" + InSet(c) + "]" + (next == end.size() ? "" : " " + rule(next));
    }
    rules += "\n";
  }
  return rules;
}

Result<std::string> JsonGrammar(const std::string& json_schema, std::string_view opened,
                                std::span<const std::pair<std::string, std::string>> tags) {
  std::string grammar;
  std::string reply;  // the rule of the schema: a plain type has its own
  try {
    grammar = build_grammar([&](const common_grammar_builder& builder) {
      common_json schema = common_json::parse(json_schema);
      builder.resolve_refs(schema);
      reply = builder.add_schema("reply", schema);
    });
  } catch (const std::exception& failure) {
    std::string reason = failure.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    return InvalidArgument("the schema cannot be kept to: " + reason);
  }
  std::string root = "space " + reply;
  if (!opened.empty()) {
    grammar += "\n" + UntilRules("thoughts", opened);
    root = "thoughts " + root;
  } else if (!tags.empty()) {
    std::string any;
    for (size_t i = 0; i < tags.size(); ++i) {
      const std::string name = "thoughts" + std::to_string(i);
      grammar += "\n" + UntilRules(name, tags[i].second);
      any += (any.empty() ? "" : " | ") + gbnf_format_literal(tags[i].first) + " " + name;
    }
    root = "(" + any + ")? " + root;
  }
  return grammar + "\nroot ::= " + root + "\n";
}

}  // namespace hyper::llama
