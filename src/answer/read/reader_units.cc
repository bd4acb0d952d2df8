// Units of the reader: letters behind a number, and the marks that stand for units or end them.
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"
#include "src/answer/read/units.h"

namespace hyper::answer {

// Writes ^{\prime}, ^\prime and \prime as apostrophes: f^{\prime}(x), 5^{\prime}6^{\prime\prime}.
void Reader::WritePrimes() {
  const auto prime = [this](size_t at) {
    return at < tokens_.size() && tokens_[at].kind == TokenKind::kCommand &&
           tokens_[at].text == "prime";
  };
  std::vector<Lexeme> out;
  out.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size();) {
    size_t at = i;
    if (IsOneOf(&tokens_[at], "^") && at + 1 < tokens_.size()) {
      ++at;
    }
    const bool group = at > i && IsOneOf(&tokens_[at], "{");
    if (group) {
      ++at;
    }
    const size_t first = at;
    while (prime(at)) {
      ++at;
    }
    const size_t count = at - first;
    const bool closed = !group || (at < tokens_.size() && IsOneOf(&tokens_[at], "}"));
    if (count == 0 || !closed) {
      out.push_back(std::move(tokens_[i++]));
      continue;
    }
    out.insert(out.end(), count, {TokenKind::kPunct, "'"});
    i = at + (group ? 1 : 0);
  }
  tokens_ = std::move(out);
}

// 5 ft. 6 in.: the full stop of a unit that a number or the end follows.
void Reader::DropUnitDots() {
  bool certain = false;
  for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
    const Lexeme& unit = tokens_[i];
    const bool dot = unit.kind == TokenKind::kName && IsOneOf(&tokens_[i + 1], ".") &&
                     tokens_[i - 1].kind == TokenKind::kNumber;
    const bool ends = i + 2 == tokens_.size() || tokens_[i + 2].kind == TokenKind::kNumber;
    if (dot && ends && IsBareUnit(unit.text, certain)) {
      tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

namespace {

// Whether the tokens end in a number that is an element of its own, but for its sign.
bool EndsInLoneNumber(const std::vector<Lexeme>& tokens) {
  if (tokens.empty() || tokens.back().kind != TokenKind::kNumber) {
    return false;
  }
  size_t begin = tokens.size() - 1;
  if (begin > 0 && IsOneOf(&tokens[begin - 1], "-")) {
    --begin;
  }
  return begin == 0 || IsOneOf(&tokens[begin - 1], ",;=([") || tokens[begin - 1].text == "approx";
}

}  // namespace

// How many tokens at `at` are letters that may be one unit, without its power: m, \Omega, sq ft,
// \mu m. `certain`: they hardly mean anything else. Letters that are no known unit may be one
// behind a space: 30 H; runs of x, y and z are variables.
size_t Reader::UnitLettersAt(size_t at, bool& certain) const {
  const auto is = [this](size_t place, TokenKind kind) {
    return place < tokens_.size() && tokens_[place].kind == kind;
  };
  const bool micro = is(at, TokenKind::kCommand) && tokens_[at].text == "mu";
  const bool prefix = is(at, TokenKind::kName) && IsUnitPrefix(tokens_[at].text);
  // k\Omega, \text{k}\Omega
  const bool ohm = (is(at, TokenKind::kName) || is(at, TokenKind::kText)) &&
                   is(at + 1, TokenKind::kCommand) && tokens_[at + 1].text == "Omega";
  if (micro || prefix || ohm) {
    const bool text = micro && is(at + 1, TokenKind::kText);
    const bool unit = text || ohm || is(at + 1, TokenKind::kName);
    const std::string letters = unit ? std::string(Trimmed(tokens_[at + 1].text)) : "";
    const std::string before(micro ? "u" : ohm ? Trimmed(tokens_[at].text) : "");
    if (unit && IsBareUnit(before + letters, certain)) {
      certain = true;
      return 2;
    }
  }
  const bool letters =
      is(at, TokenKind::kName) || (is(at, TokenKind::kCommand) && tokens_[at].text == "Omega");
  if (!letters) {
    return 0;
  }
  const std::string& text = tokens_[at].text;
  if (IsBareUnit(text, certain)) {
    return 1;
  }
  certain = false;
  const bool possible = tokens_[at].space_before && text != "U" && text != "in" &&
                        FunctionName(text).empty() && ConstantName(text).empty() &&
                        !IsGreek(text) && !IsWord(text) &&
                        text.find_first_not_of("xyz") != text.npos;
  return possible ? 1 : 0;
}

// Moves `at` behind the power of a unit, if one stands there: ^2, ^{-1}. False for any other power.
bool Reader::SkipUnitPower(size_t& at) const {
  const auto mark = [this](size_t place, std::string_view text) {
    return place < tokens_.size() && IsOneOf(&tokens_[place], text);
  };
  if (!mark(at, "^")) {
    return true;
  }
  ++at;
  const bool group = mark(at, "{");
  at += group ? 1 : 0;
  at += mark(at, "-") ? 1 : 0;
  if (at >= tokens_.size() || tokens_[at].kind != TokenKind::kNumber) {
    return false;
  }
  ++at;
  const bool closed = !group || mark(at, "}");
  at += group ? 1 : 0;
  return closed;
}

// How many tokens from `at` on may be the unit of the number before them, up to the end of the
// element: 9.8 m/s^2. 0: none.
size_t Reader::BareUnitLength(size_t at, const std::vector<Lexeme>& before) {
  if (before.empty()) {
    return 0;
  }
  const Lexeme& last = before.back();
  const bool number = last.kind == TokenKind::kNumber || IsOneOf(&last, "})!") ||
                      (last.kind == TokenKind::kCommand && last.text == "pi");
  bool certain = false;
  bool known = false;
  bool sure = tokens_[at].space_before;
  size_t end = at;
  while (const size_t length = number ? UnitLettersAt(end, certain) : 0) {
    // Of several factors or terms, letters that are no unit make a product.
    known = length > 1 || IsBareUnit(tokens_[end].text, certain);
    if (!known && (end > at || !EndsInLoneNumber(before))) {
      return 0;
    }
    sure = known && (sure || certain || end > at);
    end += length;
    if (!known) {
      break;
    }
    if (!SkipUnitPower(end)) {
      return 0;
    }
    const bool joined = end + 1 < tokens_.size() &&
                        (IsOneOf(&tokens_[end], "/*") || tokens_[end].text == "cdot") &&
                        UnitLettersAt(end + 1, certain) > 0;
    if (joined) {
      ++end;
    }
  }
  // 3h30 is an amount in two units; the number behind 3x or 3ab is none.
  const bool closed = end == tokens_.size() || IsOneOf(&tokens_[end], known ? ",;)=." : ",;)") ||
                      (known && tokens_[end].kind == TokenKind::kText) ||
                      (known && tokens_[end].kind == TokenKind::kNumber &&
                       (tokens_[end].space_before || IsTimeWord(tokens_[end - 1].text) || certain));
  if (end == at || !closed) {
    return 0;
  }
  may_have_units_ = true;
  surely_units_ = surely_units_ || sure;
  return end - at;
}

// The words of a unit in the tokens [begin, end): "m/s^2", "um", "sq ft".
std::string Reader::UnitText(size_t begin, size_t end) const {
  std::string text;
  bool joined = true;
  for (size_t i = begin; i < end; ++i) {
    const Lexeme& token = tokens_[i];
    const bool times = token.text == "cdot" || IsOneOf(&token, "*");
    const bool micro = token.kind == TokenKind::kCommand && token.text == "mu";
    const bool letters = token.kind == TokenKind::kName || token.kind == TokenKind::kText || micro;
    if (times || (letters && !joined)) {
      text += ' ';
    }
    text += times ? "" : micro ? "u" : std::string(Trimmed(token.text));
    joined = times || micro || !letters;
  }
  return text;
}

// \text{ m/s}^2 is m/s^2: appends the power that stands at `at` to a unit of several factors. How
// many tokens are taken.
size_t Reader::TakeUnitPower(size_t at, std::string& unit) const {
  if (UnitName(unit).find(' ') == std::string::npos) {
    return 0;
  }
  const size_t group = at + 1 < tokens_.size() && IsOneOf(&tokens_[at + 1], "{") ? 1 : 0;
  const size_t sign =
      at + 1 + group < tokens_.size() && IsOneOf(&tokens_[at + 1 + group], "-") ? 1 : 0;
  const size_t number = at + 1 + group + sign;
  const size_t end = number + 1 + group;
  if (end > tokens_.size() || !IsOneOf(&tokens_[at], "^")) {
    return 0;
  }
  if (tokens_[number].kind != TokenKind::kNumber) {
    return 0;
  }
  if (group == 1 && !IsOneOf(&tokens_[end - 1], "}")) {
    return 0;
  }
  unit += (sign == 1 ? "^-" : "^") + tokens_[number].text;
  return end - at;
}

}  // namespace hyper::answer
