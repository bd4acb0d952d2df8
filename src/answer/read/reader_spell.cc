// First pass of the reader: words are told from variables, and the contents of \text{...} that
// are mathematics become ordinary tokens.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"
#include "src/answer/read/units.h"

namespace hyper::answer {
namespace {

// Words in lower case with single spaces, without commands and closing punctuation.
std::string Words(std::string_view text) {
  std::string words;
  for (const char c : LowerCase(text)) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0 || c == '~';
    if (space && (words.empty() || words.back() == ' ')) {
      continue;
    }
    words += space ? ' ' : c;
  }
  while (!words.empty() && (words.back() == ' ' || words.back() == '.' || words.back() == ',')) {
    words.pop_back();
  }
  return words;
}

// One word with a capital.
bool IsProper(std::string_view text) {
  const std::string_view word = Trimmed(text);
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool HasDigit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsOneOf(const Token* token, std::string_view characters) {
  return token != nullptr && token->kind == TokenKind::kPunct &&
         characters.find(token->text) != std::string_view::npos;
}

// ax+by=c, v=at: such a word beside an operator is a product. "2-by-3" is none: hyphens part words
// too. Null neighbours are the ends of the answer.
bool IsProduct(std::string_view word, const Token* before, const Token* after) {
  constexpr std::string_view kOperators = "+=^*";
  constexpr std::string_view kBorders = "+=^*-/()";
  const auto open = [&](const Token* token) {
    return token == nullptr || token->kind == TokenKind::kNumber || IsOneOf(token, kBorders);
  };
  return IsFactorWord(word) && (IsOneOf(before, kOperators) || IsOneOf(after, kOperators)) &&
         open(before) && open(after);
}

// 3.5 million dollars behind the number: a product, and the words that are left in `words`.
void TakeScales(std::string& words, std::vector<Token>& out) {
  while (!out.empty() && out.back().kind == TokenKind::kNumber) {
    const std::string first = words.substr(0, words.find(' '));
    const std::string_view scale = ScaleOf(first);
    if (scale.empty()) {
      return;
    }
    out.push_back({TokenKind::kPunct, "*"});
    out.push_back({TokenKind::kNumber, std::string(scale)});
    words = std::string(Trimmed(std::string_view(words).substr(first.size())));
  }
}

// 5th, 5^{\text{th}} and 5^{th} are the number: takes the power sign and the brace before the
// letters out of `out`. How many tokens are dropped, the letters and a closing brace; 0: they are
// no ordinal.
size_t TakeOrdinal(const std::vector<Token>& tokens, size_t at, std::vector<Token>& out) {
  const Token& letters = tokens[at];
  const std::string_view text = Trimmed(letters.text);
  const auto from_end = [&out](size_t back) {
    return back <= out.size() ? &out[out.size() - back] : nullptr;
  };
  const auto number = [&](size_t back) {
    return back <= out.size() && from_end(back)->kind == TokenKind::kNumber;
  };
  if (!IsOrdinalEnding(text)) {
    return 0;
  }
  if (number(1) && !letters.space_before) {
    // 2nd+1 is a product of variables.
    const bool end = at + 1 == tokens.size() || tokens[at + 1].space_before ||
                     tokens[at + 1].kind == TokenKind::kText;
    return end && !(at + 1 < tokens.size() && IsOneOf(&tokens[at + 1], "+-*/^=")) ? 1 : 0;
  }
  // 2^{nd} may be a power.
  if (letters.kind == TokenKind::kName && text != "th") {
    return 0;
  }
  if (number(2) && IsOneOf(from_end(1), "^")) {
    out.pop_back();
    return 1;
  }
  if (number(3) && IsOneOf(from_end(2), "^") && IsOneOf(from_end(1), "{") &&
      at + 1 < tokens.size() && IsOneOf(&tokens[at + 1], "}")) {
    out.resize(out.size() - 2);
    return 2;
  }
  return 0;
}

// km/h behind a number: the "/" and the time that follow are part of the unit.
bool IsPerTime(const std::vector<Token>& tokens, size_t at) {
  return at + 1 < tokens.size() && IsOneOf(&tokens[at], "/") &&
         tokens[at + 1].kind == TokenKind::kName && IsTimeWord(tokens[at + 1].text);
}

}  // namespace

// \text{13}, \text{(C)}, \mathrm{e}, \operatorname{lcm}: mathematics in the wrong font.
bool Reader::SpliceText(const Token& token, std::vector<Token>& out) const {
  const std::string_view content = Trimmed(token.text);
  std::string_view bare = content;
  if (bare.size() > 2 && bare.front() == '(' && bare.back() == ')') {
    bare = Trimmed(bare.substr(1, bare.size() - 2));
  }
  const bool letter = bare.size() == 1 && std::isalpha(static_cast<unsigned char>(bare[0])) != 0;
  // A single letter behind a number is a unit: 5 \text{ m}, and some are without a space too; so
  // are minutes, which are no minimum there.
  constexpr std::string_view kUnitLetters = "mshgLNJVWK";
  const bool behind_number = !out.empty() && out.back().kind == TokenKind::kNumber;
  const bool spaced = token.text.size() > 1 || kUnitLetters.find(bare) != bare.npos;
  const bool unit = behind_number && ((letter && bare == content && spaced) || content == "min");
  const bool name =
      !FunctionName(content).empty() || !ConstantName(content).empty() || IsGreek(content);
  if (unit || !(letter || name || HasDigit(content))) {
    return false;
  }
  Tokens inner = Tokenize(content, 200);
  if (!inner.error.empty()) {
    return false;
  }
  for (Token& part : inner.tokens) {
    out.push_back(std::move(part));
  }
  return true;
}

// Whether the token is letters that may be a unit, with their power.
bool Reader::IsBareUnitAt(size_t at, bool& certain) const {
  if (at >= tokens_.size()) {
    return false;
  }
  const Token& token = tokens_[at];
  const bool letters = token.kind == TokenKind::kName ||
                       (token.kind == TokenKind::kCommand && token.text == "Omega");
  return letters && IsBareUnit(token.text, certain);
}

// How many tokens from `at` on may be the unit of the number before them, up to the end of the
// element: 9.8 m/s^2. 0: none.
size_t Reader::BareUnitLength(size_t at, const std::vector<Token>& before) {
  if (before.empty()) {
    return 0;
  }
  const Token& last = before.back();
  const bool number = last.kind == TokenKind::kNumber || IsOneOf(&last, "})!") ||
                      (last.kind == TokenKind::kCommand && last.text == "pi");
  bool certain = false;
  bool sure = tokens_[at].space_before;
  size_t end = at;
  while (number && IsBareUnitAt(end, certain)) {
    sure = sure || certain || end > at;
    ++end;
    if (end < tokens_.size() && IsOneOf(&tokens_[end], "^")) {
      ++end;
      const bool group = end < tokens_.size() && IsOneOf(&tokens_[end], "{");
      if (group) {
        ++end;
      }
      if (end < tokens_.size() && IsOneOf(&tokens_[end], "-")) {
        ++end;
      }
      if (end >= tokens_.size() || tokens_[end].kind != TokenKind::kNumber) {
        return 0;
      }
      ++end;
      if (group && !(end < tokens_.size() && IsOneOf(&tokens_[end], "}"))) {
        return 0;
      }
      if (group) {
        ++end;
      }
    }
    const bool joined = end + 1 < tokens_.size() &&
                        (IsOneOf(&tokens_[end], "/*") || tokens_[end].text == "cdot") &&
                        IsBareUnitAt(end + 1, certain);
    if (joined) {
      ++end;
    }
  }
  const bool closed = end == tokens_.size() || IsOneOf(&tokens_[end], ",;)=.") ||
                      tokens_[end].kind == TokenKind::kText ||
                      (tokens_[end].kind == TokenKind::kNumber && tokens_[end].space_before);
  if (end == at || !closed) {
    return 0;
  }
  may_have_units_ = true;
  surely_units_ = surely_units_ || sure;
  return end - at;
}

// FF_{16}, 1A_{16}: digits and capitals with their base as one number in `out`. How many tokens are
// taken; 0: it is no such number. A_{12} is an index.
size_t Reader::TakeBasedDigits(size_t at, std::vector<Token>& out) const {
  std::string digits;
  size_t end = at;
  while (end < tokens_.size() && (end == at || !tokens_[end].space_before) &&
         (tokens_[end].kind == TokenKind::kName || tokens_[end].kind == TokenKind::kNumber)) {
    digits += tokens_[end++].text;
  }
  const size_t group = end + 1 < tokens_.size() && IsOneOf(&tokens_[end + 1], "{") ? 1 : 0;
  if (digits.size() < 2 || end + 1 + group >= tokens_.size() || !IsOneOf(&tokens_[end], "_")) {
    return 0;
  }
  const Token& base = tokens_[end + 1 + group];
  if (base.kind != TokenKind::kNumber || base.text.size() != 2) {
    return 0;
  }
  const int value = (base.text[0] - '0') * 10 + base.text[1] - '0';
  bool letters = false;
  for (const char c : digits) {
    const bool letter = c >= 'A' && c < 'A' + value - 10;
    letters = letters || letter;
    if (!letter && !(c >= '0' && c <= '9')) {
      return 0;
    }
  }
  if (!letters) {
    return 0;
  }
  Token number{TokenKind::kNumber, std::move(digits), tokens_[at].space_before};
  out.push_back(std::move(number));
  return end - at;
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

// Digits with a base, ordinals, "-by-" and units in letters: what is spelled with several tokens.
// How many are taken; 0: none, and nothing done.
size_t Reader::TakeSpecial(size_t at, std::vector<Token>& out) {
  const Token& token = tokens_[at];
  const bool name = token.kind == TokenKind::kName;
  const bool ohm = token.kind == TokenKind::kCommand && token.text == "Omega";
  if (!name && !ohm && token.kind != TokenKind::kNumber && token.kind != TokenKind::kText) {
    return 0;
  }
  if (name || token.kind == TokenKind::kNumber) {
    if (const size_t taken = TakeBasedDigits(at, out); taken > 0) {
      return taken;
    }
  }
  const Token* const before = out.empty() ? nullptr : &out.back();
  const Token* const after = at + 1 == tokens_.size() ? nullptr : &tokens_[at + 1];
  if (token.text == "by" && IsOneOf(before, "-") && IsOneOf(after, "-")) {
    out.back() = {TokenKind::kCommand, "by"};
    return 2;
  }
  const size_t length = name || ohm ? BareUnitLength(at, out) : 0;
  if (options_.bare_units && length > 0) {
    Token unit{TokenKind::kText, "", true};
    for (size_t i = at; i < at + length; ++i) {
      const bool times = tokens_[i].text == "cdot" || IsOneOf(&tokens_[i], "*");
      const bool next = tokens_[i].kind == TokenKind::kName && i > at;
      unit.text += times ? " " : (next ? " " : "") + tokens_[i].text;
    }
    out.push_back(std::move(unit));
    return length;
  }
  return name || token.kind == TokenKind::kText ? TakeOrdinal(tokens_, at, out) : 0;
}

void Reader::Spell() {
  std::vector<Token> spelled;
  spelled.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Token& token = tokens_[i];
    const Token* const before = spelled.empty() ? nullptr : &spelled.back();
    const Token* const after = i + 1 == tokens_.size() ? nullptr : &tokens_[i + 1];
    if (const size_t taken = TakeSpecial(i, spelled); taken > 0) {
      i += taken - 1;
      continue;
    }
    if (token.kind == TokenKind::kText && token.text.find(kUnreadableCommand) != token.text.npos) {
      token.kind = TokenKind::kCommand;
    } else if (token.kind == TokenKind::kText) {
      if (SpliceText(token, spelled)) {
        continue;
      }
      token.proper = IsProper(token.text);
      token.text = Words(token.text);
      if (token.text.empty()) {
        continue;
      }
      i += TakeUnitPower(i + 1, token.text);
    } else if (token.kind == TokenKind::kName && FunctionName(token.text).empty() &&
               ConstantName(token.text).empty() && !IsGreek(token.text) && token.text != "in" &&
               IsWord(token.text) && !IsProduct(token.text, before, after)) {
      token.kind = TokenKind::kText;
      token.proper = IsProper(token.text);
      token.text = LowerCase(token.text);
      if (before != nullptr && before->kind == TokenKind::kNumber && IsPerTime(tokens_, i + 1)) {
        token.text += '/' + tokens_[i + 2].text;
        i += 2;
      }
    }
    if (token.kind == TokenKind::kText) {
      TakeScales(token.text, spelled);
      if (token.text.empty()) {
        continue;
      }
    }
    // "dollars and" joins what stands around it.
    static constexpr std::string_view kAnd = " and";
    const bool joins = token.kind == TokenKind::kText && token.text.size() > kAnd.size() &&
                       token.text.substr(token.text.size() - kAnd.size()) == kAnd &&
                       i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::kNumber;
    if (joins) {
      token.text.resize(token.text.size() - kAnd.size());
      spelled.push_back(std::move(token));
      spelled.push_back({TokenKind::kText, "and", true});
      continue;
    }
    // Words in a row are one text, unless one of them separates.
    if (token.kind == TokenKind::kText && !spelled.empty() &&
        spelled.back().kind == TokenKind::kText && token.text != "and" && token.text != "or" &&
        spelled.back().text != "and" && spelled.back().text != "or") {
      spelled.back().text += ' ' + token.text;
      continue;
    }
    spelled.push_back(std::move(token));
  }
  tokens_ = std::move(spelled);
}

}  // namespace hyper::answer
