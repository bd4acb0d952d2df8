// {a \over b} and {n \choose k}: commands of plain TeX that stand between their arguments.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

// One group of braces, or the whole answer, in the tokens that were written.
struct Group {
  size_t begin = 0;     // its first token
  size_t infix = 0;     // the command, where there is one
  int infix_count = 0;  // TeX allows one
};

bool IsInfix(const Lexeme& token) {
  return token.kind == TokenKind::kCommand && (token.text == "over" || token.text == "choose");
}

bool IsBrace(const Lexeme& token, const char* brace) {
  return token.kind == TokenKind::kPunct && token.text == brace;
}

// a \over b at the end of `out`, from the group's begin on, becomes \frac{a}{b}.
void Prefix(const Group& group, std::vector<Lexeme>& out) {
  const bool whole = group.infix > group.begin && group.infix + 1 < out.size();
  if (group.infix_count != 1 || !whole) {
    return;
  }
  const auto at = [&out](size_t index) { return out.begin() + static_cast<std::ptrdiff_t>(index); };
  std::vector<Lexeme> second(std::make_move_iterator(at(group.infix + 1)),
                             std::make_move_iterator(out.end()));
  const std::string name = out[group.infix].text == "over" ? "frac" : "binom";
  out.erase(at(group.infix), out.end());
  out.insert(at(group.begin), {{TokenKind::kCommand, name}, {TokenKind::kPunct, "{"}});
  out.push_back({TokenKind::kPunct, "}"});
  out.push_back({TokenKind::kPunct, "{"});
  out.insert(out.end(), std::make_move_iterator(second.begin()),
             std::make_move_iterator(second.end()));
  out.push_back({TokenKind::kPunct, "}"});
}

}  // namespace

void Reader::PrefixInfix() {
  if (std::none_of(tokens_.begin(), tokens_.end(), IsInfix)) {
    return;
  }
  std::vector<Lexeme> out;
  out.reserve(tokens_.size());
  std::vector<Group> groups(1);
  for (Lexeme& token : tokens_) {
    Group& group = groups.back();
    if (IsInfix(token)) {
      group.infix = out.size();
      ++group.infix_count;
    } else if (IsBrace(token, "}") && groups.size() > 1) {
      Prefix(group, out);
      groups.pop_back();
    }
    out.push_back(std::move(token));
    if (IsBrace(out.back(), "{")) {
      groups.push_back({out.size(), out.size(), 0});
    }
  }
  if (groups.size() == 1) {
    Prefix(groups.back(), out);
  }
  tokens_ = std::move(out);
}

}  // namespace hyper::answer
