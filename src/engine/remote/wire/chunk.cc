#include "src/engine/remote/wire/chunk.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace hyper::remote {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Servers write -inf as null, as -9999, or as the smallest float; all count as this.
constexpr double kLowestLogprob = -9999.0;

// What stands for a NaN that a server wrote, where JSON has none: a text in place of a number.
constexpr std::string_view kNotANumber = "\"NaN\"";

std::optional<element> Member(const element& value, const char* name) {
  element member;
  if (value.at_key(name).get(member) != simdjson::SUCCESS || member.is_null()) {
    return std::nullopt;
  }
  return member;
}

std::string_view Text(const std::optional<element>& value) {
  std::string_view text;
  return value && value->get(text) == simdjson::SUCCESS ? text : std::string_view();
}

int Integer(const std::optional<element>& value, int otherwise) {
  int64_t number = 0;
  const bool found = value && value->get(number) == simdjson::SUCCESS &&
                     number >= std::numeric_limits<int>::min() &&
                     number <= std::numeric_limits<int>::max();
  return found ? static_cast<int>(number) : otherwise;
}

// The lowest where there is none; NaN for what is no number.
float Logprob(const std::optional<element>& value) {
  double number = kLowestLogprob;
  if (value && value->get(number) != simdjson::SUCCESS) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return static_cast<float>(std::max(number, kLowestLogprob));
}

// That of a token that was chosen, which cannot be -inf: null is none.
void SetLogprob(const std::optional<element>& value, ChunkToken& token) {
  token.logprob = Logprob(value);
  token.has_logprob = value.has_value();
}

// Bytes of a token object: its "bytes" where they are given, else its "token".
std::string ObjectBytes(const element& token) {
  array list;
  const std::optional<element> bytes = Member(token, "bytes");
  if (!bytes || bytes->get(list) != simdjson::SUCCESS) {
    return std::string(Text(Member(token, "token")));
  }
  std::string out;
  for (const element byte : list) {
    uint64_t number = 0;
    if (byte.get(number) == simdjson::SUCCESS) {
      out += static_cast<char>(number);
    }
  }
  return out;
}

// Log-probabilities as objects: {"content": [{"token", "bytes", "logprob", "top_logprobs"}]}.
void ReadObjects(const array& content, Chunk& chunk) {
  for (const element entry : content) {
    ChunkToken token;
    token.id = Integer(Member(entry, "id"), kNoWireId);
    token.bytes = ObjectBytes(entry);
    token.name = token.bytes;
    SetLogprob(Member(entry, "logprob"), token);
    array top;
    const std::optional<element> list = Member(entry, "top_logprobs");
    if (list && list->get(top) == simdjson::SUCCESS) {
      token.top.reserve(top.size());
      for (const element item : top) {
        token.top.push_back({Integer(Member(item, "id"), kNoWireId), ObjectBytes(item),
                             Logprob(Member(item, "logprob"))});
      }
    }
    chunk.tokens.push_back(std::move(token));
  }
}

// Gives the elements of a list one by one. An array has no index: at() walks from its start.
class ListWalk {
 public:
  explicit ListWalk(const std::optional<element>& list) {
    array values;
    if (list && list->get(values) == simdjson::SUCCESS) {
      at_ = values.begin();
      end_ = values.end();
    }
  }

  // The next element; none past the end, without a list, and for null.
  std::optional<element> Next() {
    if (!at_ || *at_ == *end_) {
      return std::nullopt;
    }
    const element value = **at_;
    ++*at_;
    return value.is_null() ? std::nullopt : std::optional<element>(value);
  }

 private:
  std::optional<array::iterator> at_;
  std::optional<array::iterator> end_;
};

// Log-probabilities as parallel lists: {"tokens", "token_logprobs", "top_logprobs": [{text: p}]}.
void ReadLists(const element& logprobs, Chunk& chunk) {
  array names;
  const std::optional<element> tokens = Member(logprobs, "tokens");
  if (!tokens || tokens->get(names) != simdjson::SUCCESS) {
    return;
  }
  ListWalk values(Member(logprobs, "token_logprobs"));
  ListWalk tops(Member(logprobs, "top_logprobs"));
  chunk.tokens.reserve(names.size());
  for (const element name : names) {
    ChunkToken token;
    token.name = Text(name);
    token.bytes = token.name;
    SetLogprob(values.Next(), token);
    object top;
    const std::optional<element> entry = tops.Next();
    if (entry && entry->get(top) == simdjson::SUCCESS) {
      token.top.reserve(top.size());
      for (const auto& [text, value] : top) {
        const bool null = value.is_null();
        token.top.push_back({kNoWireId, std::string(text),
                             Logprob(null ? std::nullopt : std::optional<element>(value))});
      }
    }
    chunk.tokens.push_back(std::move(token));
  }
}

// Spreads a choice's text over its tokens, whose names may differ from it: a part of a UTF-8
// character is named U+FFFD, and special tokens may be left out of the text.
void SpreadText(std::string_view text, Chunk& chunk) {
  if (chunk.tokens.empty()) {
    return;
  }
  std::string joined;
  for (const ChunkToken& token : chunk.tokens) {
    joined += token.bytes;
  }
  if (joined == text) {
    return;
  }
  const std::string_view last = chunk.tokens.back().bytes;
  const bool end_left_out = joined.size() == text.size() + last.size() && joined.starts_with(text);
  if (end_left_out) {
    chunk.tokens.back().bytes.clear();
    return;
  }
  for (ChunkToken& token : chunk.tokens) {
    token.bytes.clear();
  }
  chunk.tokens.back().bytes = text;
}

// A chat's text and its tokens may differ: the end's name is left out of the text; a server that
// looks for tags or whole characters holds a token back, without a chunk of its own, and brings it
// with the next; parts of a character are named U+FFFD. Else the text has lost something, such as
// the tags of the reasoning, and the tokens stand.
void MatchChatText(std::string_view text, Chunk& chunk) {
  if (chunk.tokens.empty()) {
    return;
  }
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string joined;
  for (const ChunkToken& token : chunk.tokens) {
    joined += token.bytes;
  }
  const std::string_view last = chunk.tokens.back().bytes;
  if (joined == text) {
    return;
  }
  if (chunk.finish_reason == "stop" && joined.size() == text.size() + last.size() &&
      joined.starts_with(text)) {
    chunk.tokens.back().bytes.clear();
  } else if (text.ends_with(joined)) {
    chunk.tokens.front().bytes.insert(0, text.substr(0, text.size() - joined.size()));
  } else if (joined.find(kReplacement) != std::string::npos &&
             text.find(kReplacement) == std::string_view::npos) {
    SpreadText(text, chunk);
  }
}

void ReadIds(const std::optional<element>& ids, Chunk& chunk) {
  array list;
  if (!ids || ids->get(list) != simdjson::SUCCESS) {
    return;
  }
  if (chunk.tokens.empty()) {
    chunk.tokens.resize(list.size());
  }
  if (list.size() != chunk.tokens.size()) {
    return;
  }
  size_t index = 0;
  for (const element id : list) {
    chunk.tokens[index++].id = Integer(id, kNoWireId);
  }
}

// A text whose tokens are not told, as one.
void AddText(std::string text, bool reasoning, Chunk& chunk) {
  if (!text.empty()) {
    ChunkToken& token = chunk.tokens.emplace_back();
    token.bytes = text;
    token.name = std::move(text);
    token.reasoning = reasoning;
  }
}

void ReadChoice(const element& choice, Chunk& chunk) {
  chunk.finish_reason = Text(Member(choice, "finish_reason"));
  std::optional<element> message = Member(choice, "delta");
  message = message ? message : Member(choice, "message");
  std::string text;
  size_t reasoning_bytes = 0;  // at the start of the text
  if (message) {
    const std::optional<element> reasoning = Member(*message, "reasoning_content");
    text = Text(reasoning ? reasoning : Member(*message, "reasoning"));
    reasoning_bytes = text.size();
    text += Text(Member(*message, "content"));
  } else {
    text = Text(Member(choice, "text"));
  }
  const std::optional<element> logprobs = Member(choice, "logprobs");
  array content;
  const std::optional<element> objects = logprobs ? Member(*logprobs, "content") : std::nullopt;
  // An empty list tells nothing of a text beside it.
  const bool exact = objects && objects->get(content) == simdjson::SUCCESS && content.size() > 0;
  if (exact) {
    ReadObjects(content, chunk);
    if (message) {
      MatchChatText(text, chunk);
    }
  } else if (logprobs) {
    ReadLists(*logprobs, chunk);
  }
  ReadIds(Member(choice, "token_ids"), chunk);
  if (chunk.tokens.empty()) {
    AddText(text.substr(0, reasoning_bytes), /*reasoning=*/true, chunk);
    AddText(text.substr(reasoning_bytes), /*reasoning=*/false, chunk);
  }
  if (!exact) {
    SpreadText(text, chunk);
  }
}

void ReadError(const element& value, Chunk& chunk) {
  WireError& error = chunk.error;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    error.message = text;
  } else {
    error.message = Text(Member(value, "message"));
    error.type = Text(Member(value, "type"));
    error.code = Integer(Member(value, "code"), 0);
  }
  if (error.message.empty()) {
    error.message = "an error without a message";
  }
}

void ReadUsage(const element& usage, Chunk& chunk) {
  chunk.prompt_tokens = Integer(Member(usage, "prompt_tokens"), -1);
  chunk.completion_tokens = Integer(Member(usage, "completion_tokens"), -1);
  const std::optional<element> details = Member(usage, "prompt_tokens_details");
  chunk.cached_tokens = details ? Integer(Member(*details, "cached_tokens"), -1) : -1;
}

}  // namespace

struct ChunkParser::State {
  simdjson::dom::parser parser;
};

namespace {

// Python servers print numbers that JSON has not: outside strings, -Infinity becomes null, and the
// others become kNotANumber.
std::string WithoutInfinities(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (in_string && json[i] == '\\') {
      out += rest.substr(0, 2);
      ++i;
      continue;
    }
    in_string ^= json[i] == '"';
    size_t skipped = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      skipped = !in_string && skipped == 0 && rest.starts_with(word) ? word.size() : skipped;
    }
    if (skipped > 0) {
      out += json[i] == '-' ? "null" : kNotANumber;
      i += skipped - 1;
    } else {
      out += json[i];
    }
  }
  return out;
}

}  // namespace

ChunkParser::ChunkParser() : state_(std::make_unique<State>()) {}
ChunkParser::~ChunkParser() = default;

bool ChunkParser::Parse(std::string_view json, Chunk& chunk) {
  chunk = {};
  if (json.empty()) {
    return false;  // simdjson copies from its address, which may be null
  }
  element root;
  if (state_->parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS &&
      state_->parser.parse(WithoutInfinities(json)).get(root) != simdjson::SUCCESS) {
    return false;
  }
  if (!root.is_object()) {
    return false;
  }
  const std::optional<element> error = Member(root, "error");
  if (error) {
    ReadError(*error, chunk);
    return true;
  }
  const std::optional<element> choice = ListWalk(Member(root, "choices")).Next();
  if (choice) {
    ReadChoice(*choice, chunk);
  } else if (Text(Member(root, "object")) == "error" || Member(root, "detail")) {
    // vLLM of old puts the error into the root; FastAPI's own errors have a "detail".
    const std::optional<element> detail = Member(root, "detail");
    ReadError(detail && detail->is_string() ? *detail : root, chunk);
  }
  const std::optional<element> usage = Member(root, "usage");
  if (usage) {
    ReadUsage(*usage, chunk);
  }
  return true;
}

}  // namespace hyper::remote
