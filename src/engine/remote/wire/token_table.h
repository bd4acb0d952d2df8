// Tokens of a server that may or may not tell their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hyper/types.h"

namespace hyper::remote {

// The server's number of a token where it tells none.
inline constexpr int32_t kNoWireId = -1;

// Interns (server's number, bytes) pairs; a Token is the index of a pair. The same number with
// other bytes is another Token: what a token adds to the text depends on its place for servers that
// hold back a part of a UTF-8 character.
class TokenTable {
 public:
  Token Intern(int32_t wire_id, std::string_view bytes);
  // Bytes of a token; empty for tokens that are not known.
  const std::string& Bytes(Token token) const;
  int32_t WireId(Token token) const;
  // The server's number, told later, of a token that was interned without one.
  void NoteWireId(Token token, int32_t wire_id) {
    entries_[static_cast<size_t>(token)].wire_id = wire_id;
  }
  // All bytes of `tokens`, joined.
  std::string Join(std::span<const Token> tokens) const;

  // Marks a token that a server ended a text with.
  void MarkEnd(Token token) { ends_.insert(token); }
  bool IsEnd(Token token) const { return ends_.contains(token); }
  int size() const { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    int32_t wire_id = kNoWireId;
    std::string bytes;
  };

  std::vector<Entry> entries_;
  std::unordered_map<std::string, Token> index_;  // key: the number's 4 bytes, then the bytes
  std::unordered_set<Token> ends_;
  std::string key_;  // reused, so that looking up allocates nothing
};

}  // namespace hyper::remote
