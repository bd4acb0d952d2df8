#include "src/extract/choices.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "src/extract/choice_words.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

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

// Whether the words before a label say that all others are ruled out: "eliminates everything
// except".
bool IsLeftOver(const WordsBefore& before) {
  constexpr std::array<std::string_view, 2> kBut = {"except", "but"};
  constexpr std::array<std::string_view, 7> kRulingOut = {
      "eliminate", "eliminates", "eliminated", "eliminating", "out", "excludes", "excluded"};
  return IsOneOf(before[0], kBut) &&
         std::any_of(before.begin() + 1, before.end(),
                     [&](std::string_view word) { return IsOneOf(word, kRulingOut); });
}

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
  if (IsOneOf(before[i], kLeaving) || IsLeftOver(before)) {
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
