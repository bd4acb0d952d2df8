#include "src/extract/choice_words.h"

#include <array>

#include "src/base/utf8.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// Words after which "A" and "I" are labels although more words follow: "The answer is A because".
constexpr std::array<std::string_view, 22> kConnectives = {
    "because", "since", "as",      "for",      "which", "with", "due",   "and",
    "or",      "but",   "given",   "where",    "so",    "not",  "based", "by",
    "option",  "from",  "instead", "although", "while", "is"};

// Bytes of a Latin, Greek or Cyrillic letter, a digit or an apostrophe at `at`; 0 for others.
// Scripts without capital letters do not join ASCII letters to words.
size_t WordCharacter(std::string_view text, size_t at) {
  const char c = text[at];
  if (IsAscii(c)) {
    return IsLetter(c) || IsDigit(c) || c == '\'' ? 1 : 0;
  }
  const auto [code, length] = base::CharacterAt(text, at);
  const bool letter = (code >= 0xC0 && code <= 0x4FF) || (code >= 0x1E00 && code <= 0x1EFF);
  return letter || code == U'’' ? length : 0;
}

// The ASCII letter or digit that a full-width or circled character stands for, else NUL.
char PlainForm(std::string_view text, size_t at) {
  struct Row {
    char32_t first, last;
    char plain;  // of the first
  };
  constexpr Row kRows[] = {
      {U'Ａ', U'Ｚ', 'A'}, {U'０', U'９', '0'}, {U'①', U'⑨', '1'}, {U'Ⓐ', U'Ⓩ', 'A'}};
  const char32_t code = base::CharacterAt(text, at).code;
  for (const Row& row : kRows) {
    if (code >= row.first && code <= row.last) {
      return static_cast<char>(row.plain + (code - row.first));
    }
  }
  return '\0';
}

// The option that the character `c` stands for, NUL if none: itself, or by its place in the
// alphabet where the options are digits.
char OptionOf(char c, std::string_view options) {
  const char upper = ToUpper(c);
  if (options.find(upper) != std::string_view::npos) {
    return upper;
  }
  const bool digits = !options.empty() && IsDigit(options.front());
  const auto place = static_cast<size_t>(upper - 'A');
  return digits && IsUpper(upper) && place < options.size() ? options[place] : '\0';
}

// The byte beside a word, brackets of LaTeX groups and markdown passed over.
char Before(std::string_view text, std::string_view word) {
  size_t at = PlaceOf(word, text);
  while (at > 0 && (text[at - 1] == '{' || text[at - 1] == '*')) {
    --at;
  }
  return at == 0 ? '\0' : text[at - 1];
}

// Where the sign of a formula at `at` ends: "=", "×", "\\cap"; `at` itself: none stands there.
size_t AfterSign(std::string_view text, size_t at) {
  const char c = At(text, at);
  if (c == '\\') {
    const size_t end = AfterCommand(text, at);
    const bool sign = end > at + 2 && !StandsAt(text, at, "\\text") &&
                      !StandsAt(text, at, "\\quad") && !StandsAt(text, at, "\\math");
    return sign ? end : at;
  }
  if (c != '\0' && std::string_view("=+<>/*").find(c) != std::string_view::npos) {
    return at + 1;
  }
  for (const std::string_view sign :
       {"≈", "×", "÷", "·", "≤", "≥", "≠", "±", "∪", "∩", "∈", "⊂", "∧", "∨", "⊕", "⊗", "→"}) {
    if (StandsAt(text, at, sign)) {
      return at + sign.size();
    }
  }
  return at;
}

// Whether "= V/R", "= \\frac" or "\\times B" follows: not a value that a label may be given with,
// as in "A = 5".
bool SymbolsFollow(std::string_view text, std::string_view word) {
  const size_t at = SkipSpace(text, PlaceOf(word, text) + word.size());
  const size_t after = AfterSign(text, at);
  if (after == at || At(text, at) == '*') {  // *A* is emphasis
    return false;
  }
  const size_t value = SkipSpace(text, after);
  const char first = At(text, value);
  return first == '\\' || (IsLetter(first) && !IsLetter(At(text, value + 1)));
}

}  // namespace

Word WordReader::Next() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\\') {
      at_ = AfterCommand(text_, at_);
      continue;
    }
    if (const char plain = PlainForm(text_, at_); plain != '\0') {
      const size_t length = CharacterLength(text_, at_);
      at_ += length;
      return {text_.substr(at_ - length, length), OptionOf(plain, options_)};
    }
    if (WordCharacter(text_, at_) > 0) {
      return ReadWord();
    }
    at_ += CharacterLength(text_, at_);
  }
  return {};
}

Word WordReader::ReadWord() {
  const size_t begin = at_;
  while (at_ < text_.size() && WordCharacter(text_, at_) > 0) {
    at_ += WordCharacter(text_, at_);
  }
  Word word{Slice(text_, begin, at_), '\0'};
  if (word.text.size() == 1) {
    word.label = OptionOf(word.text.front(), options_);
  }
  return word;
}

char After(std::string_view text, std::string_view word, size_t* at) {
  *at = PlaceOf(word, text) + word.size();
  while (*at < text.size() && (text[*at] == '}' || text[*at] == '*' || text[*at] == '$')) {
    ++*at;
  }
  return At(text, *at);
}

bool IsEnclosed(std::string_view text, std::string_view word) {
  const size_t begin = PlaceOf(word, text);
  const char before = begin == 0 ? '\0' : text[begin - 1];
  const char after = At(text, begin + word.size());
  if (before == '(' && after == ')') {
    return begin < 2 || !IsLetter(text[begin - 2]);  // no f(A)
  }
  if (before == '[' && after == ']') {
    return true;
  }
  return begin >= 2 && StandsAt(text, begin - 2, "**") &&
         (StandsAt(text, begin + word.size(), "**") || after == ')' || after == '.' ||
          after == ':');
}

bool FormulaFollows(std::string_view text, std::string_view word) {
  size_t at = 0;
  const char after = After(text, word, &at);
  if (after == '(' || after == '_' || after == '^') {
    return true;
  }
  at = SkipSpace(text, at);
  return AfterSign(text, at) > at;
}

bool IsPartOfMore(std::string_view text, std::string_view word, bool first) {
  size_t at = 0;
  const char after = After(text, word, &at);
  const char before = Before(text, word);
  if (after == '.' && IsLetter(At(text, at + 1))) {
    return true;
  }
  if (after == '+' || after == '#') {
    return true;  // C++
  }
  if ((after == '-' || after == '_' || after == '^') && at + 1 < text.size() &&
      text[at + 1] != ' ' && text[at + 1] != '-') {
    return true;
  }
  if (before == '-' || before == '_' || before == '^' || before == '.' || before == '@') {
    const size_t begin = PlaceOf(word, text);
    return begin >= 2 && text[begin - 2] != ' ' && text[begin - 2] != '\n' &&
           text[begin - 2] != before;
  }
  while (at < text.size() && text[at] == ' ') {
    ++at;
  }
  const char next = At(text, at);
  if (first) {
    return SymbolsFollow(text, word);
  }
  return (next == '=' || next == '+' || next == '<' || next == '>');
}

bool IsEverydayWord(std::string_view text, const Word& word, bool first) {
  const char c = word.text.front();
  if (word.text.size() != 1 || (c != 'A' && c != 'I' && c != 'a' && c != 'i')) {
    return false;
  }
  if (IsEnclosed(text, word.text)) {
    return false;
  }
  size_t at = 0;
  const char after = After(text, word.text, &at);
  if (after == '\'' || StandsAt(text, at, "’")) {
    return true;
  }
  if (after != ' ') {
    return false;
  }
  at = SkipSpace(text, at);
  size_t end = at;
  while (end < text.size() && IsLetter(text[end])) {
    ++end;
  }
  if (end == at) {
    return false;
  }
  const std::string_view next = Slice(text, at, end);
  return !(IsOneOf(next, kConnectives) && (first || c == 'A'));
}

bool NamesAnother(std::string_view text, std::string_view word, std::string_view options) {
  size_t at = 0;
  After(text, word, &at);
  while (At(text, at) == ')' || At(text, at) == ' ' || At(text, at) == '(') {
    ++at;
  }
  const size_t gap = at;
  for (std::string_view joint : {"or ", "and ", "/", "&", ","}) {
    if (StandsAtAnyCase(text, at, joint)) {
      at += joint.size();
    }
  }
  if (at == gap) {
    return false;
  }
  while (at < text.size() && (text[at] == ' ' || text[at] == '(' || text[at] == '*')) {
    ++at;
  }
  const char next = At(text, at);
  if (!(IsUpper(next) || IsDigit(next)) || OptionOf(next, options) == '\0') {
    return false;
  }
  if (at + 1 < text.size() && WordCharacter(text, at + 1) > 0) {
    return false;
  }
  // "A, B is wrong" and "A, I think": a sentence about the second letter, not a second answer.
  const char end = At(text, SkipSpace(text, at + 1));
  return text[gap] != ',' || !IsLetter(end);
}

bool IsBracketed(std::string_view text, std::string_view word) {
  const bool starts = TrimSpace(text.substr(0, PlaceOf(word, text))).empty();
  const char after = At(text, PlaceOf(word, text) + word.size());
  return IsEnclosed(text, word) || (starts && after == ')');
}

bool IsAlone(std::string_view text, std::string_view word, std::string_view options) {
  WordReader reader(text, options);
  return reader.Next().text.data() == word.data() && reader.Next().text.empty();
}

}  // namespace hyper::extract
