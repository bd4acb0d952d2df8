#include "src/extract/choices.h"

#include <array>
#include <cstddef>
#include <utility>

#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// Words after which "A" and "I" are labels although more words follow: "The answer is A because".
constexpr std::array<std::string_view, 22> kConnectives = {
    "because", "since", "as",      "for",      "which", "with", "due",   "and",
    "or",      "but",   "given",   "where",    "so",    "not",  "based", "by",
    "option",  "from",  "instead", "although", "while", "is"};

// Words before a label in the middle of a sentence.
constexpr std::array<std::string_view, 28> kAnnouncers = {
    "is",     "be",     "are",        "was",     "option", "choice",   "answer",
    "letter", "select", "selected",   "choose",  "chose",  "pick",     "picked",
    "with",   "likely", "probably",   "either",  "thus",   "hence",    "therefore",
    "so",     "but",    "definitely", "clearly", "indeed", "actually", "say"};

// Words before a label that is chosen without a phrase that announces it: "I choose B".
constexpr std::array<std::string_view, 8> kNamers = {"option", "choice", "choose", "choosing",
                                                     "pick",   "select", "chose",  "letter"};

constexpr std::array<std::string_view, 8> kDeniers = {"not",    "nor",     "neither",   "than",
                                                      "except", "without", "excluding", "isn't"};

constexpr std::array<std::string_view, 16> kRefusals = {"none",
                                                        "don't know",
                                                        "do not know",
                                                        "i don't know",
                                                        "i do not know",
                                                        "not sure",
                                                        "i'm not sure",
                                                        "unknown",
                                                        "n/a",
                                                        "cannot be determined",
                                                        "can't be determined",
                                                        "no answer",
                                                        "not given",
                                                        "undetermined",
                                                        "cannot determine",
                                                        "neither"};

// A word of the text, or a lone label character of another script.
struct Word {
  std::string_view text;
  char label = '\0';  // the option it may stand for, NUL for other words
};

// Bytes of a Latin, Greek or Cyrillic letter beyond ASCII, or of an apostrophe, at `at`; 0 for
// others. Scripts without capital letters do not join ASCII letters to words.
size_t WordCharacter(std::string_view text, size_t at) {
  const char c = text[at];
  if (IsLetter(c) || IsDigit(c) || c == '\'') {
    return 1;
  }
  const auto lead = static_cast<unsigned char>(c);
  const size_t length = CharacterLength(text, at);
  if (lead >= 0xC3 && lead <= 0xD3 && length == 2) {
    return 2;
  }
  const bool joins =
      StandsAt(text, at, "’") || (lead == 0xE1 && length == 3 && (text[at + 1] & 0x3C) == 0x38);
  return joins ? length : 0;
}

// The ASCII letter or digit that a full-width or circled character stands for, else NUL.
char PlainForm(std::string_view text, size_t at) {
  if (CharacterLength(text, at) != 3) {
    return '\0';
  }
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const auto third = static_cast<unsigned char>(text[at + 2]);
  const int code = ((second & 0x3F) << 6) | (third & 0x3F);
  if (text[at] == '\xEF' && second == 0xBC) {
    if (code >= 0xF21 && code <= 0xF3A) {
      return static_cast<char>('A' + code - 0xF21);
    }
    if (code >= 0xF10 && code <= 0xF19) {
      return static_cast<char>('0' + code - 0xF10);
    }
  }
  if (text[at] == '\xE2') {
    if (code >= 0x460 && code <= 0x468) {
      return static_cast<char>('1' + code - 0x460);
    }
    if (code >= 0x4B6 && code <= 0x4CF) {
      return static_cast<char>('A' + code - 0x4B6);
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

// Reads words one after another; LaTeX commands are passed over, so that of "\text{B}" the word is
// "B".
class WordReader {
 public:
  WordReader(std::string_view text, std::string_view options) : text_(text), options_(options) {}

  // The next word; empty at the end of the text.
  Word Next() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        at_ = AfterCommand(text_, at_);
        continue;
      }
      if (const char plain = PlainForm(text_, at_); plain != '\0') {
        at_ += 3;
        return {text_.substr(at_ - 3, 3), OptionOf(plain, options_)};
      }
      if (WordCharacter(text_, at_) > 0) {
        return ReadWord();
      }
      at_ += CharacterLength(text_, at_);
    }
    return {};
  }

 private:
  Word ReadWord() {
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

  std::string_view text_;
  std::string_view options_;
  size_t at_ = 0;
};

// The byte beside a word, brackets of LaTeX groups and markdown passed over.
char Before(std::string_view text, std::string_view word) {
  size_t at = PlaceOf(word, text);
  while (at > 0 && (text[at - 1] == '{' || text[at - 1] == '*')) {
    --at;
  }
  return at == 0 ? '\0' : text[at - 1];
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

// Whether what follows a one-letter word makes a formula of both: an operator, a relation, an
// argument, or a command that is no text.
bool FormulaFollows(std::string_view text, std::string_view word) {
  size_t at = 0;
  const char after = After(text, word, &at);
  if (after == '(' || after == '_' || after == '^') {
    return true;
  }
  at = SkipSpace(text, at);
  const char next = At(text, at);
  if (next == '\\') {
    const size_t end = AfterCommand(text, at);
    return end > at + 2 && !StandsAt(text, at, "\\text") && !StandsAt(text, at, "\\quad") &&
           !StandsAt(text, at, "\\math");
  }
  if (next != '\0' && std::string_view("=+<>/*").find(next) != std::string_view::npos) {
    return true;
  }
  for (std::string_view sign : {"≈", "×", "÷", "·", "≤", "≥", "≠", "∪", "∩", "∈", "→"}) {
    if (StandsAt(text, at, sign)) {
      return true;
    }
  }
  return false;
}

// Whether "= V/R" or "= \\frac" follows: not a value that a label may be given with, as in "A = 5".
bool SymbolsFollow(std::string_view text, std::string_view word) {
  const size_t at = SkipSpace(text, PlaceOf(word, text) + word.size());
  if (At(text, at) != '=') {
    return false;
  }
  const size_t value = SkipSpace(text, at + 1);
  const char first = At(text, value);
  return first == '\\' || (IsLetter(first) && !IsLetter(At(text, value + 1)));
}

// Whether a one-letter word stands in a formula, an abbreviation or a compound: "A = 5", "U.S.",
// "B-spline", "A's".
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

// Whether the one-letter word is the pronoun "I" or the article "A": a small word follows that no
// label would have behind it.
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

// Whether another label follows at once, so that the text names several: "A or B", "A/B", "A, C".
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

bool IsRefusal(std::string_view text) {
  while (!text.empty() && !IsLetter(text.front())) {
    text.remove_prefix(1);
  }
  for (std::string_view phrase : kRefusals) {
    if (StandsAtAnyCase(text, 0, phrase) && !IsLetter(At(text, phrase.size()))) {
      return true;
    }
  }
  return false;
}

// Whether the word is marked as a label by brackets: "(b)", or "b)" at the start.
bool IsBracketed(std::string_view text, std::string_view word) {
  const bool starts = TrimSpace(text.substr(0, PlaceOf(word, text))).empty();
  const char after = At(text, PlaceOf(word, text) + word.size());
  return IsEnclosed(text, word) || (starts && after == ')');
}

// Whether the text goes on "is correct", "is the correct answer" behind the word.
bool IsCalledCorrect(std::string_view text, std::string_view word) {
  size_t at = 0;
  After(text, word, &at);
  if (At(text, at) == ')') {
    ++at;
  }
  for (std::string_view verdict :
       {" is correct", " is the correct", " is right", " is the right", " is the answer",
        " is the best", " remains", " is the only option", " is the only choice",
        " is the only one left", " is the only answer", " must be correct", " must be right"}) {
    if (StandsAtAnyCase(text, at, verdict)) {
      return !IsLetter(At(text, at + verdict.size()));
    }
  }
  return false;
}

// Whether the sentence ends behind the word, or goes on with a reason: "C, since".
bool EndsSentence(std::string_view text, std::string_view word) {
  size_t at = 0;
  char after = After(text, word, &at);
  if (after == ')') {
    after = At(text, ++at);
  }
  for (std::string_view reason : {", since ", ", because ", ", as "}) {
    if (StandsAtAnyCase(text, at, reason)) {
      return true;
    }
  }
  const bool stop = after == '.' || after == '!';
  const char next = At(text, stop ? at + 1 : at);
  return next == '\0' || next == '\n' || (stop && (IsSpace(next) || next == '*'));
}

// The words before a label, the nearest first.
using WordsBefore = std::array<std::string_view, 4>;

// Whether the words before a label say that it is what is left or settled on: "which leaves only",
// "go with", "it must be". The words of the last kind need the end of the sentence behind the
// label.
bool IsSettledOn(const WordsBefore& before, std::string_view text, std::string_view word) {
  constexpr std::array<std::string_view, 8> kBetween = {"only",   "just",   "us",     "me",
                                                        "option", "choice", "answer", "the"};
  constexpr std::array<std::string_view, 3> kLeaving = {"leaving", "leaves", "leave"};
  constexpr std::array<std::string_view, 7> kWith = {"left",  "go", "going", "goes",
                                                     "stick", "us", "leaves"};
  constexpr std::array<std::string_view, 8> kConclusions = {
      "it's", "it’s", "that's", "that’s", "hence", "therefore", "thus", "so"};
  constexpr std::array<std::string_view, 3> kSubjects = {"it", "must", "should"};
  size_t i = 0;
  while (i + 1 < before.size() && IsOneOf(before[i], kBetween)) {
    ++i;
  }
  if (IsOneOf(before[i], kLeaving)) {
    return true;
  }
  const std::string_view further = i + 1 < before.size() ? before[i + 1] : std::string_view();
  if (EqualsAnyCase(before[i], "with")) {
    return IsOneOf(further, kWith);
  }
  const bool is = EqualsAnyCase(before[0], "is") || EqualsAnyCase(before[0], "be");
  const bool concluded = IsOneOf(before[0], kConclusions) || (is && IsOneOf(before[1], kSubjects));
  return concluded && EndsSentence(text, word);
}

// Whether the text says that the word alone is left: "only (c) is possible".
bool IsSole(std::string_view before, std::string_view text, std::string_view word) {
  constexpr std::array<std::string_view, 9> kVerdicts = {
      "is", "can", "remains", "works", "fits", "satisfies", "holds", "makes", "matches"};
  size_t at = 0;
  if (After(text, word, &at) == ')') {
    ++at;
  }
  at = SkipSpace(text, at);
  size_t end = at;
  while (end < text.size() && IsLetter(text[end])) {
    ++end;
  }
  return EqualsAnyCase(before, "only") && IsOneOf(Slice(text, at, end), kVerdicts);
}

// Whether nothing but punctuation stands beside the word.
bool IsAlone(std::string_view text, std::string_view word, std::string_view options) {
  WordReader reader(text, options);
  return reader.Next().text.data() == word.data() && reader.Next().text.empty();
}

}  // namespace

Choice ReadChoice(std::string_view text, std::string_view options) {
  if (IsRefusal(text)) {
    return {'\0', {}, true};
  }
  WordReader reader(text, options);
  std::string_view before;
  bool denied = false;
  for (Word word = reader.Next(); !word.text.empty(); before = word.text, word = reader.Next()) {
    const bool first = before.empty();
    if (IsOneOf(word.text, kDeniers)) {
      denied = true;
    }
    if (EqualsAnyCase(word.text, "but") || EqualsAnyCase(word.text, "rather")) {
      denied = false;
    }
    if (word.label == '\0') {
      continue;
    }
    if (std::exchange(denied, false)) {
      continue;
    }
    if (IsLower(word.text.front()) && !IsBracketed(text, word.text) &&
        !IsAlone(text, word.text, options)) {
      continue;
    }
    const bool announced = first || IsOneOf(before, kAnnouncers) || IsEnclosed(text, word.text);
    if (!announced || IsPartOfMore(text, word.text, first)) {
      continue;
    }
    if (IsEverydayWord(text, word, first)) {
      continue;
    }
    if (NamesAnother(text, word.text, options)) {
      return {};
    }
    return {word.label, word.text, false};
  }
  return {};
}

bool StartsFormula(std::string_view text, std::string_view options) {
  const Word word = WordReader(text, options).Next();
  return word.label != '\0' && !IsBracketed(text, word.text) && FormulaFollows(text, word.text);
}

Choice LastMarkedChoice(std::string_view text, std::string_view options, bool judged_only) {
  WordReader reader(text, options);
  WordsBefore before;
  Choice last;
  for (Word word = reader.Next(); !word.text.empty(); word = reader.Next()) {
    const WordsBefore now = before;
    before = {word.text, now[0], now[1], now[2]};
    const bool lower = IsLower(word.text.front()) && !IsEnclosed(text, word.text);
    const bool sole = !lower && IsSole(now[0], text, word.text);
    if (word.label == '\0' || (IsLower(word.text.front()) && !sole)) {
      continue;
    }
    const bool judged = sole || IsCalledCorrect(text, word.text);
    const bool marked =
        !judged_only && (IsOneOf(now[0], kNamers) || IsSettledOn(now, text, word.text) ||
                         IsEnclosed(text, word.text));
    if ((!judged && !marked) || IsPartOfMore(text, word.text, false)) {
      continue;
    }
    if (!judged && IsEverydayWord(text, word, false)) {
      continue;
    }
    last = {word.label, word.text, false};
  }
  return last;
}

Choice LeadingChoice(std::string_view line, std::string_view options) {
  WordReader reader(line, options);
  const Word word = reader.Next();
  if (word.label == '\0' || IsPartOfMore(line, word.text, false)) {
    return {};
  }
  const bool alone = reader.Next().text.empty();
  if (IsLower(word.text.front()) && !alone && !IsBracketed(line, word.text)) {
    return {};
  }
  size_t at = 0;
  const char after = After(line, word.text, &at);
  const bool marked = after == ')' || after == ']' || after == ':' ||
                      (after == '.' && (At(line, at + 1) == ' ' || At(line, at + 1) == '\0'));
  return alone || marked ? Choice{word.label, word.text, false} : Choice{};
}

}  // namespace hyper::extract
