#include "src/extract/values.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "src/base/utf8.h"
#include "src/extract/normal.h"
#include "src/extract/numbers.h"
#include "src/extract/numerals.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// Words that belong to an expression.
constexpr std::array<std::string_view, 38> kMathWords = {
    "and",   "or",       "sqrt",   "cbrt",   "pi",    "sin",  "cos",   "tan",   "cot",   "sec",
    "csc",   "arcsin",   "arccos", "arctan", "sinh",  "cosh", "tanh",  "log",   "ln",    "exp",
    "inf",   "infinity", "mod",    "min",    "max",   "gcd",  "lcm",   "theta", "alpha", "beta",
    "gamma", "phi",      "union",  "cup",    "times", "plus", "minus", "xor"};

// Commands whose argument is words, or a name.
constexpr std::array<std::string_view, 6> kWordCommands = {"\\mbox",         "\\mathrm", "\\mathbf",
                                                           "\\operatorname", "\\begin",  "\\end"};

// Whether a character beyond ASCII belongs to mathematics: operators, Greek, super- and
// subscripts, fractions.
bool IsMathCharacter(std::string_view text, size_t at) {
  struct Block {
    char32_t first, last;
  };
  constexpr Block kBlocks[] = {
      {0xAC, 0xBE},        // not, degree, plus-minus, raised digits, fractions
      {0xD7, 0xD7},        // times
      {0xF7, 0xF7},        // divided by
      {0x2C0, 0x3FF},      // raised letters, combining marks, Greek
      {0x1D00, 0x1DBF},    // phonetic letters, many of them raised
      {0x2000, 0x21BF},    // punctuation, raised and lowered digits, letterlike symbols, arrows
      {0x2200, 0x22FF},    // operators
      {0x1D000, 0x1DFFF},  // mathematical letters
  };
  const char32_t code = base::CharacterAt(text, at).code;
  return std::any_of(std::begin(kBlocks), std::end(kBlocks), [code](const Block& block) {
    return code >= block.first && code <= block.last;
  });
}

// Steps through an expression token by token.
class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text), formulas_(FindFormulas(text)) {}

  // The place where the expression ends; unclosed brackets and loose joints are left out.
  size_t End() {
    size_t at = SkipSpace(text_, 0);
    for (size_t next = Step(at); next != at; next = Step(at)) {
      if (!IsSpace(text_[at])) {
        Note(at, next);
      }
      at = next;
    }
    return depth_ > 0 ? unclosed_ : end_;
  }

 private:
  // Keeps count of brackets and of where the expression would end if nothing came after.
  void Note(size_t at, size_t next) {
    const char c = text_[at];
    if ((c == '(' || c == '[' || c == '{') && depth_++ == 0) {
      unclosed_ = end_;
    }
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
      --depth_;
    }
    const std::string_view token = Slice(text_, at, next);
    const bool joint = std::string_view(",;+-*/=<>^_&").find(c) != std::string_view::npos ||
                       EqualsAnyCase(token, "and") || EqualsAnyCase(token, "or");
    if (!joint) {
      end_ = next;
    }
  }

  // The place after the token at `at`, or `at` itself where the expression ends.
  size_t Step(size_t at) {
    if (at >= text_.size() || text_[at] == '\n') {
      return at;
    }
    while (formula_ < formulas_.size() && PlaceOf(formulas_[formula_], text_) < at) {
      ++formula_;
    }
    if (formula_ < formulas_.size() && PlaceOf(formulas_[formula_], text_) == at) {
      return at + formulas_[formula_].size();
    }
    const char c = text_[at];
    if (c == '\\') {
      return StepCommand(at);
    }
    if (IsDigit(c)) {
      return at + NumberLength(text_, at);
    }
    if (IsLetter(c)) {
      return StepWord(at);
    }
    if (!IsAscii(c)) {
      return StepBeyondAscii(at);
    }
    const char next = At(text_, at + 1);
    const bool at_end = next == '\0' || IsSpace(next);
    switch (c) {
      case '.':
      case '?':
        return at_end || c == '?' ? at : at + 1;
      case '!':
        return at_end ? at : at + 1;
      case ':':
        return IsDigit(next) ? at + 1 : at;
      case ',':
      case ';':
        return ContinuesList(at + 1) ? at + 1 : at;
      case '\'':
        return at > 0 && IsLetter(text_[at - 1]) ? at + 1 : at;
      case '"':
      case '`':
      case '#':
      case '@':
        return at;
      default:
        return at + 1;
    }
  }

  size_t StepCommand(size_t at) {
    const size_t end = AfterCommand(text_, at);
    const std::string_view command = Slice(text_, at, end);
    const bool words = command.starts_with("\\text") || IsOneOf(command, kWordCommands);
    constexpr size_t kLongest = 256;  // longer arguments are no part of an expression
    const size_t close = words && At(text_, end) == '{'
                             ? ClosingBrace(text_.substr(0, end + kLongest), end)
                             : std::string_view::npos;
    return close == std::string_view::npos ? end : close + 1;
  }

  size_t StepBeyondAscii(size_t at) const {
    if (IsMathCharacter(text_, at)) {
      return at + CharacterLength(text_, at);
    }
    if (const size_t digits = NumberLength(text_, at); digits > 0) {
      return at + digits;
    }
    if (StandsAt(text_, at, kChineseShare) && at > 0 && IsDigit(text_[at - 1]) &&
        IsDigit(At(text_, at + kChineseShare.size()))) {
      return at + kChineseShare.size();
    }
    const size_t sign = SignLength(text_, at);  // "负"
    const size_t numeral = AnnouncedNumeralLength(text_, at + sign);
    return numeral > 0 || (sign > 0 && NumberLength(text_, at + sign) > 0) ? at + sign + numeral
                                                                           : at;
  }

  size_t StepWord(size_t at) {
    const size_t sign = SignLength(text_, at);
    const char signed_value = At(text_, at + sign);
    if (sign > 0 && (IsDigit(signed_value) || signed_value == '$' || signed_value == '\\')) {
      return at + sign;
    }
    size_t end = at;
    while (end < text_.size() && IsLetter(text_[end])) {
      ++end;
    }
    const std::string_view word = Slice(text_, at, end);
    if (word.size() > 1) {
      return IsOneOf(word, kMathWords) ? end : at;
    }
    const bool may_be_word = EqualsAnyCase(word, "a") || word == "I";
    const bool word_follows = At(text_, end) == ' ' && IsLetter(At(text_, end + 1));
    return may_be_word && (word_follows || At(text_, end) == '\'') ? at : end;
  }

  // Whether after a comma a list goes on rather than the sentence: no word of the language comes.
  bool ContinuesList(size_t at) {
    at = SkipSpace(text_, at);
    if (at >= text_.size()) {
      return false;
    }
    return !IsLetter(text_[at]) || StepWord(at) != at;
  }

  std::string_view text_;
  std::vector<std::string_view> formulas_;
  size_t formula_ = 0;
  size_t end_ = 0;
  size_t depth_ = 0;
  size_t unclosed_ = 0;
};

bool HasDigit(std::string_view text) { return std::any_of(text.begin(), text.end(), IsDigit); }

}  // namespace

std::optional<Value> ReadWhole(std::string_view text, AnswerKind kind) {
  Value value{text, Normal(text, kind)};
  const bool number_needed = kind == AnswerKind::kInteger;
  if (IsPlaceholder(value.normal) || (number_needed && !HasDigit(value.normal))) {
    return std::nullopt;
  }
  return value;
}

std::string Normal(std::string_view raw, AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kInteger:
      return NormalInteger(raw);
    case AnswerKind::kMath:
      return NormalMath(raw);
    case AnswerKind::kChoice:
    case AnswerKind::kText:
      break;
  }
  return NormalText(raw);
}

std::string_view LeadingMath(std::string_view text) {
  const size_t end = ExpressionReader(text).End();
  return TrimSpace(text.substr(0, end));
}

}  // namespace hyper::extract
