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

bool HasDigit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// ax+by=c, v=at: such a word beside an operator is a product. "2-by-3" is none: hyphens part words
// too. Null neighbours are the ends of the answer.
bool IsProduct(std::string_view word, const Lexeme* before, const Lexeme* after) {
  constexpr std::string_view kOperators = "+=^*";
  constexpr std::string_view kBorders = "+=^*-/()";
  const auto open = [&](const Lexeme* token) {
    return token == nullptr || token->kind == TokenKind::kNumber || IsOneOf(token, kBorders);
  };
  return IsFactorWord(word) && (IsOneOf(before, kOperators) || IsOneOf(after, kOperators)) &&
         open(before) && open(after);
}

// 3.5 million dollars behind the number: a product, and the words that are left in `words`.
void TakeScales(std::string& words, std::vector<Lexeme>& out) {
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
size_t TakeOrdinal(const std::vector<Lexeme>& tokens, size_t at, std::vector<Lexeme>& out) {
  const Lexeme& letters = tokens[at];
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
bool IsPerTime(const std::vector<Lexeme>& tokens, size_t at) {
  return at + 1 < tokens.size() && IsOneOf(&tokens[at], "/") &&
         tokens[at + 1].kind == TokenKind::kName && IsTimeWord(tokens[at + 1].text);
}

// Whether the letter x stands for a multiplication: 1.5 x 10^3.
bool IsTimesOfPower(const std::vector<Lexeme>& tokens, size_t at) {
  const Lexeme& letter = tokens[at];
  return letter.kind == TokenKind::kName && (letter.text == "x" || letter.text == "X") && at > 0 &&
         tokens[at - 1].kind == TokenKind::kNumber && at + 2 < tokens.size() &&
         tokens[at + 1].kind == TokenKind::kNumber && tokens[at + 1].text == "10" &&
         IsOneOf(&tokens[at + 2], "^");
}

bool Separates(const Lexeme& token) { return token.text == "and" || token.text == "or"; }

void AppendSpelled(Lexeme token, bool number_next, std::vector<Lexeme>& spelled) {
  const bool text = token.kind == TokenKind::kText;
  // "dollars and" joins what stands around it.
  constexpr std::string_view kAnd = " and";
  if (text && number_next && token.text.size() > kAnd.size() && token.text.ends_with(kAnd)) {
    token.text.resize(token.text.size() - kAnd.size());
    spelled.push_back(std::move(token));
    spelled.push_back({TokenKind::kText, "and", true});
    return;
  }
  // Words in a row are one text, unless one of them separates.
  if (text && !spelled.empty() && spelled.back().kind == TokenKind::kText && !Separates(token) &&
      !Separates(spelled.back())) {
    spelled.back().text += ' ' + token.text;
    return;
  }
  spelled.push_back(std::move(token));
}

}  // namespace

// \text{13}, \text{(C)}, \mathrm{e}, \operatorname{lcm}: mathematics in the wrong font.
bool Reader::SpliceText(const Lexeme& token, std::vector<Lexeme>& out) const {
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
  // No spelled Greek letter: psi is a unit, and the others are words here.
  const bool name = !FunctionName(content).empty() || !ConstantName(content).empty();
  if (unit || !(letter || name || HasDigit(content))) {
    return false;
  }
  Tokens inner = Tokenize(content, 200);
  if (!inner.error.empty()) {
    return false;
  }
  for (Lexeme& part : inner.tokens) {
    out.push_back(std::move(part));
  }
  return true;
}

// FF_{16}, 1a_{16}, (1A)_{16}, \text{FF}_{16}: digits and letters with their base as one number in
// `out`. How many tokens are taken; 0: it is no such number. A_{12} is an index.
size_t Reader::TakeBasedDigits(size_t at, std::vector<Lexeme>& out) const {
  const auto is_word = [this](size_t place) {
    return place < tokens_.size() &&
           (tokens_[place].kind == TokenKind::kName || tokens_[place].kind == TokenKind::kNumber);
  };
  const bool bracketed = IsOneOf(&tokens_[at], "(");
  const size_t first = at + (bracketed ? 1 : 0);
  size_t end = first;
  std::string digits;
  if (tokens_[at].kind == TokenKind::kText) {
    digits = Trimmed(tokens_[at].text);
    end = at + 1;
  }
  while (is_word(end) && (end == first || !tokens_[end].space_before)) {
    digits += tokens_[end++].text;
  }
  if (bracketed && !(end < tokens_.size() && IsOneOf(&tokens_[end], ")"))) {
    return 0;
  }
  end += bracketed ? 1 : 0;
  const size_t group = end + 1 < tokens_.size() && IsOneOf(&tokens_[end + 1], "{") ? 1 : 0;
  if (digits.size() < 2 || end + 1 + group >= tokens_.size() || !IsOneOf(&tokens_[end], "_")) {
    return 0;
  }
  const Lexeme& base = tokens_[end + 1 + group];
  if (base.kind != TokenKind::kNumber || base.text.size() > 2 || !HasDigit(base.text)) {
    return 0;
  }
  int value = 0;
  for (const char c : base.text) {
    value = value * 10 + c - '0';
  }
  const bool fit = std::all_of(digits.begin(), digits.end(), [value](char c) {
    const int digit = DigitValue(c);
    return digit >= 0 && digit < value;
  });
  // Digits alone are read where they stand.
  const bool letters = std::any_of(digits.begin(), digits.end(), [](char c) { return c > '9'; });
  if (!fit || !(letters || bracketed)) {
    return 0;
  }
  out.push_back({TokenKind::kNumber, std::move(digits), tokens_[at].space_before});
  return end - at;
}

// Digits with a base, ordinals, "-by-" and units in letters: what is spelled with several tokens.
// How many are taken; 0: none, and nothing done.
size_t Reader::TakeSpecial(size_t at, std::vector<Lexeme>& out) {
  const Lexeme& token = tokens_[at];
  const bool name = token.kind == TokenKind::kName;
  const bool command =
      token.kind == TokenKind::kCommand && (token.text == "Omega" || token.text == "mu");
  const bool bracket = IsOneOf(&token, "(");
  if (!name && !command && !bracket && token.kind != TokenKind::kNumber &&
      token.kind != TokenKind::kText) {
    return 0;
  }
  if (!command) {
    if (const size_t taken = TakeBasedDigits(at, out); taken > 0) {
      return taken;
    }
  }
  const Lexeme* const before = out.empty() ? nullptr : &out.back();
  const Lexeme* const after = at + 1 == tokens_.size() ? nullptr : &tokens_[at + 1];
  if (token.text == "by" && IsOneOf(before, "-") && IsOneOf(after, "-")) {
    out.back() = {TokenKind::kCommand, "by"};
    return 2;
  }
  // \text{k}\Omega
  const bool of_ohm = token.kind == TokenKind::kText && after != nullptr && after->text == "Omega";
  const size_t length = name || command || of_ohm ? BareUnitLength(at, out) : 0;
  if (options_.bare_units && length > 0) {
    out.push_back({TokenKind::kText, UnitText(at, at + length), true});
    return length;
  }
  return name || token.kind == TokenKind::kText ? TakeOrdinal(tokens_, at, out) : 0;
}

void Reader::Spell() {
  DropUnitDots();
  std::vector<Lexeme> spelled;
  spelled.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Lexeme& token = tokens_[i];
    const Lexeme* const before = spelled.empty() ? nullptr : &spelled.back();
    const Lexeme* const after = i + 1 == tokens_.size() ? nullptr : &tokens_[i + 1];
    if (IsTimesOfPower(tokens_, i)) {
      // The x of 2x 10^3 may be a letter.
      const bool letter = !token.space_before && tokens_[i + 1].space_before;
      token = {TokenKind::kCommand, std::string(letter ? kPerhapsTimes : "times")};
    }
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
      const std::string unit = UnitOfCapitals(Trimmed(token.text));
      token.text = unit.empty() ? Words(token.text) : unit;
      if (token.text.empty()) {
        continue;
      }
      i += TakeUnitPower(i + 1, token.text);
    } else if (token.kind == TokenKind::kName && FunctionName(token.text).empty() &&
               ConstantName(token.text).empty() && !IsGreek(token.text) && token.text != "in" &&
               IsWord(token.text) && !IsProduct(token.text, before, after)) {
      token.kind = TokenKind::kText;
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
    const bool number_next = i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::kNumber;
    AppendSpelled(std::move(token), number_next, spelled);
  }
  tokens_ = std::move(spelled);
}

}  // namespace hyper::answer
