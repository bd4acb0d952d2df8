#include "src/extract/corrections.h"

#include <algorithm>
#include <array>

#include "src/extract/labels.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// How firmly the text has turned against the answer.
enum class Doubt { kAbsent, kSecondThought, kCalledWrong };

// Openings of a sentence that has second thoughts. Those in the first list need a mark behind them:
// "Wait for the bus" has none.
constexpr std::array<std::string_view, 5> kMarkedOpenings = {"wait", "no", "hold on", "hang on",
                                                             "oh"};
constexpr std::array<std::string_view, 8> kOpenings = {
    "actually",       "hmm",     "on second thought", "let me reconsider",
    "let me rethink", "wait no", "but wait",          "on reflection"};

// Phrases of a second look, and phrases that call the answer wrong, wherever they stand.
constexpr std::array<std::string_view, 6> kSecondLooks = {
    "recheck", "rechecking", "re-check", "double-check", "double check", "double-checking"};
// The same right behind the answer.
constexpr std::array<std::string_view, 3> kCalledWrongAtOnce = {"is wrong", "was wrong",
                                                                "is false"};
constexpr std::array<std::string_view, 31> kCalledWrong = {"correction",
                                                           "i made a mistake",
                                                           "i made an error",
                                                           "i made a sign error",
                                                           "i made an arithmetic",
                                                           "i made a calculation",
                                                           "i made a small",
                                                           "my mistake",
                                                           "my error",
                                                           "my apologies",
                                                           "apologies",
                                                           "sorry",
                                                           "oops",
                                                           "that's wrong",
                                                           "that is wrong",
                                                           "that was wrong",
                                                           "this is wrong",
                                                           "i was wrong",
                                                           "is not right",
                                                           "isn't right",
                                                           "that's not right",
                                                           "is incorrect",
                                                           "was incorrect",
                                                           "is not correct",
                                                           "isn't correct",
                                                           "i miscounted",
                                                           "i miscalculated",
                                                           "i misread",
                                                           "i forgot",
                                                           "i overlooked",
                                                           "scratch that"};

// Words of a sentence that supposes something or speaks of others.
constexpr std::array<std::string_view, 9> kSupposing = {"if",   "would", "might",  "unless", "some",
                                                        "many", "claim", "common", "note"};

constexpr std::array<std::string_view, 12> kPronouns = {
    "it should be",   "it must be", "it is",  "it's",  "it’s",      "that should be",
    "this should be", "should be",  "i mean", "i get", "make that", "we get"};

// What is said of the value before it.
constexpr std::array<std::string_view, 9> kPraise = {
    "is correct",    "is right",    "is the correct", "is the right",    "is the answer",
    "is the better", "fits better", "fits best",      "makes more sense"};

// The ends of sentences: a stop before a blank, or a line break.
size_t SentenceEnd(std::string_view text, size_t at) {
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const bool stop = std::string_view(".?!;").find(text[at]) != std::string_view::npos;
    if (stop && (at + 1 == text.size() || IsSpace(text[at + 1]))) {
      return at + 1;
    }
  }
  return at;
}

// Whether `phrase` stands in `sentence` at `at` as words of its own.
bool StandsAlone(std::string_view sentence, size_t at, std::string_view phrase) {
  const bool starts = at == 0 || !IsLetter(sentence[at - 1]);
  return starts && StandsAtAnyCase(sentence, at, phrase) &&
         !IsLetter(At(sentence, at + phrase.size()));
}

// The end of the phrase of `list` that stands in `sentence` at `at`, `at` if none does.
template <class List>
size_t EndOfPhrase(std::string_view sentence, size_t at, const List& list) {
  for (std::string_view phrase : list) {
    if (ToLower(At(sentence, at)) != phrase.front()) {
      continue;  // as nearly always
    }
    if (StandsAlone(sentence, at, phrase)) {
      return at + phrase.size();
    }
  }
  return at;
}

bool HasSecondThoughts(std::string_view sentence) {
  const size_t begin = std::min(sentence.find_first_not_of("*_>#-—– \t.,!…"), sentence.size());
  if (EndOfPhrase(sentence, begin, kOpenings) > begin) {
    return true;
  }
  const size_t end = EndOfPhrase(sentence, begin, kMarkedOpenings);
  if (end == begin) {
    return false;
  }
  const char mark = At(sentence, end);
  return mark == '\0' || std::string_view(",.!:;-*").find(mark) != std::string_view::npos ||
         !IsAscii(mark);
}

// Reads sentence after sentence.
class CorrectionFinder {
 public:
  explicit CorrectionFinder(AnswerKind kind) : kind_(kind) {}

  std::vector<std::string_view> Find(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = SentenceEnd(text, at);
      Read(TrimSpace(Slice(text, at, end)));
      at = std::max(end, at + 1);
    }
    return std::move(values_);
  }

 private:
  void Read(std::string_view sentence) {
    if (sentence.empty()) {
      return;
    }
    bool doubted = HasSecondThoughts(sentence);  // in this sentence
    bool supposing = sentence.ends_with('?');
    std::string_view pronoun_value;
    std::string_view praised;
    for (size_t i = 0; i < sentence.size() && !supposing; ++i) {
      const bool word_starts = IsLetter(sentence[i]) && (i == 0 || !IsLetter(sentence[i - 1]));
      if (!word_starts) {
        continue;
      }
      supposing = EndOfPhrase(sentence, i, kSupposing) > i;
      const size_t wrong = EndOfPhrase(sentence, i, kCalledWrong);
      if (wrong > i || (Follows(sentence, i) && EndOfPhrase(sentence, i, kCalledWrongAtOnce) > i)) {
        doubt_ = Doubt::kCalledWrong;
      }
      doubted = doubted || EndOfPhrase(sentence, i, kSecondLooks) > i;
      const bool may_correct = doubted || doubt_ == Doubt::kCalledWrong;
      const size_t end = EndOfPhrase(sentence, i, kPronouns);
      if (end > i && may_correct && StartsClause(sentence, i)) {
        pronoun_value = TrimSpace(sentence.substr(end));
      }
      // "Correction: 7"
      if (wrong > i && At(sentence, wrong) == ':') {
        pronoun_value = TrimSpace(sentence.substr(wrong + 1));
      }
      if (may_correct && EndOfPhrase(sentence, i, kPraise) > i) {
        praised = WordBefore(sentence, i);
      }
    }
    first_ = false;
    if (doubted) {
      doubt_ = std::max(doubt_, Doubt::kSecondThought);
    }
    if (supposing || doubt_ == Doubt::kAbsent) {
      return;
    }
    if (!pronoun_value.empty() && IsWholeClause(pronoun_value)) {
      values_.push_back(pronoun_value);
    }
    if (!praised.empty()) {
      values_.push_back(praised);
    }
    if (doubt_ == Doubt::kCalledWrong && IsAssignment(sentence)) {
      values_.push_back(sentence);
    }
    for (const Label& label : FindLabels(sentence, kind_)) {
      const bool line = label.explicit_mark && label.begin <= kLeadOfLine;
      if (line && doubt_ != Doubt::kCalledWrong) {
        continue;
      }
      if (!label.value.empty()) {
        values_.push_back(label.value);
      }
    }
  }

  // Whether `at` is the first word behind the answer.
  bool Follows(std::string_view sentence, size_t at) const {
    const std::string_view before = sentence.substr(0, at);
    return first_ && std::none_of(before.begin(), before.end(),
                                  [](char c) { return IsLetter(c) || IsDigit(c); });
  }

  // The word that ends right before `at`.
  static std::string_view WordBefore(std::string_view sentence, size_t at) {
    const std::string_view before = TrimSpace(sentence.substr(0, at));
    const size_t space = before.find_last_of(" \t");
    return space == kNone ? before : before.substr(space + 1);
  }

  // Whether a sentence only says what a letter is: "x = -5".
  static bool IsAssignment(std::string_view sentence) {
    const size_t letter = sentence.starts_with('$') ? 1 : 0;
    const size_t sign = SkipSpace(sentence, letter + 1);
    return IsLetter(At(sentence, letter)) && At(sentence, sign) == '=' &&
           IsWholeClause(TrimSpace(sentence.substr(sign + 1)));
  }

  // Whether a clause begins at `at`: behind a mark, "so" or "think".
  static bool StartsClause(std::string_view sentence, size_t at) {
    while (at > 0 && IsSpace(sentence[at - 1])) {
      --at;
    }
    if (at == 0 || !IsLetter(sentence[at - 1])) {
      return at == 0 || !IsDigit(sentence[at - 1]);
    }
    size_t begin = at;
    while (begin > 0 && IsLetter(sentence[begin - 1])) {
      --begin;
    }
    constexpr std::array<std::string_view, 9> kBefore = {
        "so", "think", "believe", "no", "sorry", "wait", "actually", "and", "sure"};
    return IsOneOf(Slice(sentence, begin, at), kBefore);
  }

  // Whether nothing but one value stands in the clause: "6." and "B because", not "6 times as
  // much".
  static bool IsWholeClause(std::string_view value) {
    constexpr std::array<std::string_view, 9> kGoesOn = {
        "because", "since", "not", "instead", "and", "so", "as", "rather", "after"};
    size_t end = 0;
    while (end < value.size() && !IsSpace(value[end])) {
      ++end;
    }
    if (end == 0) {
      return false;
    }
    const size_t word = SkipSpace(value, end);
    const char last = value[end - 1];
    return word >= value.size() || last == ',' || last == ';' || last == '$' ||
           EndOfPhrase(value, word, kGoesOn) > word;
  }

  static constexpr size_t kLeadOfLine = 16;  // "**Final Answer: "

  AnswerKind kind_;
  bool first_ = true;  // no sentence was read yet
  Doubt doubt_ = Doubt::kAbsent;
  std::vector<std::string_view> values_;
};

}  // namespace

std::vector<std::string_view> FindCorrections(std::string_view text, AnswerKind kind) {
  return CorrectionFinder(kind).Find(text);
}

}  // namespace hyper::extract
