// First pass of the reader: words are told from variables, and the contents of \text{...} that
// are mathematics become ordinary tokens.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

// Words in lower case with single spaces, without commands and closing punctuation.
std::string Words(std::string_view text) {
  std::string words;
  for (const char c : LowerCase(text)) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0 || c == '~';
    if (space && (words.empty() || words.back() == ' ')) continue;
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
    if (scale.empty()) return;
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
  if (!IsOrdinalEnding(text)) return 0;
  if (number(1) && !letters.space_before) {
    // 2nd+1 is a product of variables.
    const bool end = at + 1 == tokens.size() || tokens[at + 1].space_before ||
                     tokens[at + 1].kind == TokenKind::kText;
    return end && !(at + 1 < tokens.size() && IsOneOf(&tokens[at + 1], "+-*/^=")) ? 1 : 0;
  }
  // 2^{nd} may be a power.
  if (letters.kind == TokenKind::kName && text != "th") return 0;
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
      !FunctionName(content).empty() || ConstantName(content) == "pi" || IsGreek(content);
  if (unit || !(letter || name || HasDigit(content))) return false;
  Tokens inner = Tokenize(content, 200);
  if (!inner.error.empty()) return false;
  for (Token& part : inner.tokens) out.push_back(std::move(part));
  return true;
}

void Reader::Spell() {
  std::vector<Token> spelled;
  spelled.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Token& token = tokens_[i];
    const Token* const before = spelled.empty() ? nullptr : &spelled.back();
    const Token* const after = i + 1 == tokens_.size() ? nullptr : &tokens_[i + 1];
    if (token.kind == TokenKind::kText || token.kind == TokenKind::kName) {
      if (const size_t dropped = TakeOrdinal(tokens_, i, spelled); dropped > 0) {
        i += dropped - 1;
        continue;
      }
    }
    if (token.kind == TokenKind::kText && token.text.find(kUnreadableCommand) != token.text.npos) {
      token.kind = TokenKind::kCommand;
    } else if (token.kind == TokenKind::kText) {
      if (SpliceText(token, spelled)) continue;
      token.text = Words(token.text);
      if (token.text.empty()) continue;
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
      if (token.text.empty()) continue;
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
