#include "src/engine/remote/token_table.h"

#include <algorithm>
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

size_t IncompleteTail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) {
      continue;  // inside a character
    }
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace hyper::remote
