#include "src/engine/remote/wire/token_table.h"

#include <cstring>

namespace hyper::remote {
namespace {

const std::string kNoBytes;

}  // namespace

Token TokenTable::Intern(int32_t wire_id, std::string_view bytes) {
  key_.assign(sizeof(wire_id), '\0');
  std::memcpy(key_.data(), &wire_id, sizeof(wire_id));
  key_ += bytes;
  const auto found = index_.find(key_);
  if (found != index_.end()) {
    return found->second;
  }
  const auto token = static_cast<Token>(entries_.size());
  entries_.push_back({wire_id, std::string(bytes)});
  index_.emplace(key_, token);
  return token;
}

const std::string& TokenTable::Bytes(Token token) const {
  const bool known = token >= 0 && token < size();
  return known ? entries_[static_cast<size_t>(token)].bytes : kNoBytes;
}

int32_t TokenTable::WireId(Token token) const {
  const bool known = token >= 0 && token < size();
  return known ? entries_[static_cast<size_t>(token)].wire_id : kNoWireId;
}

std::string TokenTable::Join(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    text += Bytes(token);
  }
  return text;
}

}  // namespace hyper::remote
