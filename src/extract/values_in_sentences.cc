// The value that a sentence leads up to.
#include <algorithm>
#include <array>
#include <vector>

#include "src/extract/normal.h"
#include "src/extract/numbers.h"
#include "src/extract/numerals.h"
#include "src/extract/scan.h"
#include "src/extract/values.h"

namespace hyper::extract {

std::string_view FirstSentence(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool stop = c == '.' || c == '?' || c == '!';
    if (c == '\n' || (stop && (i + 1 == text.size() || IsSpace(text[i + 1]))) ||
        StandsAt(text, i, "。")) {
      return TrimSpace(text.substr(0, i));
    }
  }
  return TrimSpace(text);
}

namespace {

// Whether there is something to an expression: a digit, a command, an operator, or one letter that
// stands for itself.
bool IsExpression(std::string_view text) {
  text = TrimSpace(text);
  return text.size() == 1
             ? IsLetter(text[0]) || IsDigit(text[0])
             : text.find_first_of("0123456789\\$+^=<>/|([{") != std::string_view::npos ||
                   std::any_of(text.begin(), text.end(), [](char c) { return !IsAscii(c); });
}

std::optional<Value> ReadWords(std::string_view sentence) {
  constexpr size_t kMaxWords = 6;
  size_t words = 0;
  for (size_t i = 0; i < sentence.size(); ++i) {
    if (!IsSpace(sentence[i]) && (i == 0 || IsSpace(sentence[i - 1]))) {
      ++words;
    }
  }
  const bool says_something = std::any_of(sentence.begin(), sentence.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) || !IsAscii(c);
  });
  if (!says_something || words > kMaxWords) {
    return std::nullopt;
  }
  return ReadWhole(sentence, AnswerKind::kText);
}

constexpr std::array<std::string_view, 8> kVerbs = {"is",      "are", "equals", "was",
                                                    "becomes", "get", "gives",  "yields"};
// Words that begin a clause whose values are no answers: "34 when k is 2".
constexpr std::array<std::string_view, 9> kSubordinate = {
    "if", "when", "where", "since", "because", "while", "whereas", "as", "unless"};

// Words between a verb and its value.
constexpr std::array<std::string_view, 10> kAdverbs = {
    "thus", "therefore", "then", "hence", "now", "simply", "just", "exactly", "indeed", "also"};

size_t SkipAdverbs(std::string_view sentence, size_t at) {
  for (;;) {
    at = SkipSpace(sentence, at);
    size_t end = at;
    while (end < sentence.size() && IsLetter(sentence[end])) {
      ++end;
    }
    if (end == at || !IsOneOf(Slice(sentence, at, end), kAdverbs)) {
      return at;
    }
    at = end;
  }
}

// Verbs whose object names a measure and then its value: "has area 24".
constexpr std::array<std::string_view, 6> kMeasuring = {"has",      "have",  "had",
                                                        "measures", "holds", "contains"};

}  // namespace

std::optional<Value> AfterVerb(std::string_view sentence, AnswerKind kind) {
  std::optional<Value> value;
  std::optional<size_t> begin;  // behind a verb
  const auto read_to = [&](size_t end) {
    if (!begin) {
      return;
    }
    const size_t value_begin = SkipAdverbs(sentence.substr(0, end), *begin);
    const std::string_view leading = LeadingMath(Slice(sentence, value_begin, end));
    const std::string_view rest = TrimSpace(Slice(sentence, value_begin, end));
    const std::string_view number = IsExpression(leading) ? leading : NumberInWords(rest);
    if (number.empty() || (number != leading && number != rest)) {
      return;
    }
    if (std::optional<Value> read = ReadWhole(number, kind)) {
      value = std::move(read);
    }
  };
  for (size_t i = 0; i < sentence.size();) {
    size_t end = i;
    while (end < sentence.size() && IsLetter(sentence[end])) {
      ++end;
    }
    const std::string_view word = Slice(sentence, i, end);
    const bool starts = i > 0 && (sentence[i - 1] == ' ' || sentence[i - 1] == '(');
    const bool verb = starts && IsOneOf(word, kVerbs);
    if (verb || (starts && IsOneOf(word, kSubordinate))) {
      read_to(i);
      if (value && !verb) {
        return value;
      }
      begin.reset();
      if (verb) {
        begin = end;
      }
    }
    i = std::max(end, i + 1);
  }
  read_to(sentence.size());
  return value;
}

namespace {

// Whether `text` goes on with the argument of a function whose name ends at `at`: "(2)" of "f(2)".
bool IsArgument(std::string_view text, size_t at) {
  constexpr std::string_view kFunctions = "fghpFGHP";
  const std::string_view argument = text.substr(at, text.find(')', at) - at);
  return at > 0 && kFunctions.find(text[at - 1]) != kNone &&
         argument.find_first_of("=<>+*/^\\") == kNone;
}

// Whether a formula only names something: "$n$", "$(a, b)$", "$\triangle ABC$", "$f(2)$".
bool IsName(std::string_view formula) {
  constexpr std::array<std::string_view, 7> kNaming = {
      "\\(", "\\)", "\\triangle", "\\angle", "\\overline", "\\odot", "\\square"};
  for (size_t i = 0; i < formula.size();) {
    const char c = formula[i];
    if (c == '\\') {
      const size_t end = AfterCommand(formula, i);
      if (!IsOneOf(Slice(formula, i, end), kNaming)) {
        return false;
      }
      i = end;
    } else if (c == '(' && IsArgument(formula, i)) {
      i = std::min(formula.find(')', i), formula.size());
    } else if (std::string_view("0123456789=<>+-*/^").find(c) != kNone) {
      return false;
    } else {
      ++i;
    }
  }
  return true;
}

// What a sentence that begins with a name says of it: "$f(2)$ is 7", "$\triangle ABC$ has area 24".
std::optional<Value> ValueOfName(std::string_view sentence, size_t name_end, AnswerKind kind) {
  if (std::optional<Value> value = AfterVerb(sentence, kind)) {
    return value;
  }
  const size_t begin = SkipSpace(sentence, std::min(name_end, sentence.size()));
  size_t end = begin;
  while (end < sentence.size() && IsLetter(sentence[end])) {
    ++end;
  }
  const bool measured = IsOneOf(Slice(sentence, begin, end), kMeasuring);
  const std::string_view number = measured ? LastNumber(sentence.substr(end)) : std::string_view();
  return number.empty() ? std::nullopt : ReadWhole(number, kind);
}

}  // namespace

std::string_view NumberInWords(std::string_view sentence) {
  sentence = TrimSpace(sentence);
  const size_t sign = SignLength(sentence, 0);
  const Numeral numeral = ReadEnglishNumeral(sentence, sign);
  const size_t end = sign + numeral.length;
  if (numeral.length == 0 || IsLetter(At(sentence, end))) {
    return {};
  }
  const std::string_view rest = TrimSpace(sentence.substr(end));
  const bool counted = numeral.plain != "1" && std::all_of(rest.begin(), rest.end(), IsLetter);
  return rest.empty() || counted ? sentence.substr(0, end) : std::string_view();
}

std::optional<Value> ReadValue(std::string_view text, AnswerKind kind, bool allow_words) {
  const std::string_view leading = LeadingMath(text);
  if (IsExpression(leading)) {
    // "$x$ equals 5": the formula only names what the sentence gives a value.
    std::optional<Value> value =
        leading.size() < text.size() && IsName(leading)
            ? ValueOfName(FirstSentence(text), PlaceOf(leading, text) + leading.size(), kind)
            : std::nullopt;
    if (value || (value = ReadWhole(leading, kind))) {
      return value;
    }
    if (LacksArgument(leading)) {
      return std::nullopt;
    }
  }
  const std::string_view sentence = FirstSentence(text);
  if (std::optional<Value> value = AfterVerb(sentence, kind)) {
    return value;
  }
  std::string_view name;
  if (kind == AnswerKind::kMath) {
    const std::vector<std::string_view> formulas = FindFormulas(sentence);
    for (size_t i = formulas.size(); i-- > 0;) {
      if (!IsName(formulas[i])) {
        return ReadWhole(formulas[i], kind);
      }
    }
    if (!formulas.empty()) {
      name = formulas.back();
    }
  }
  if (const std::string_view number = LastNumber(sentence); !number.empty()) {
    return ReadWhole(number, kind);
  }
  if (const std::string_view words = NumberInWords(sentence); !words.empty()) {
    return ReadWhole(words, kind);
  }
  if (!name.empty()) {
    return ReadWhole(name, kind);
  }
  return allow_words && kind == AnswerKind::kMath ? ReadWords(sentence) : std::nullopt;
}

}  // namespace hyper::extract
