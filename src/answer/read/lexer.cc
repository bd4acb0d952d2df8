#include "src/answer/read/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "src/answer/read/names.h"

namespace hyper::answer {
namespace {

// Spacing, sizing and fonts; the first are single characters.
constexpr std::string_view kDroppedSigns = ",;:! ()[]/";
constexpr std::string_view kDropped[] = {
    "quad",   "qquad",     "thinspace", "hspace",      "left",     "right",        "middle",
    "mleft",  "mright",    "big",       "Big",         "bigg",     "Bigg",         "bigl",
    "bigr",   "Bigl",      "Bigr",      "biggl",       "biggr",    "displaystyle", "textstyle",
    "limits", "rm",        "bf",        "scriptstyle", "nolimits", "it",           "boldsymbol",
    "bm",     "centering", "nonumber",  "noindent"};

constexpr std::string_view kTextCommands[] = {
    "text",       "mbox",         "hbox",          "textbf", "textit", "textrm",
    "textnormal", "textsf",       "texttt",        "mathrm", "mathit", "mathsf",
    "mathtt",     "operatorname", "operatorname*", "mathop", "emph"};

// Commands without an argument that may stand before the braces of a set.
constexpr std::string_view kOperators[] = {"cup", "cap",  "setminus", "backslash", "in",   "notin",
                                           "to",  "land", "lor",      "wedge",     "vee",  "neq",
                                           "ne",  "leq",  "geq",      "approx",    "equiv"};

// Longer contents of \\text{...} are no answer; the bound keeps nested ones linear.
constexpr size_t kMaxTextBytes = 2000;

bool Digit(char c) { return c >= '0' && c <= '9'; }
// Bytes of letters outside ASCII count as letters: words of other languages stay words.
bool Letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

class Lexer {
 public:
  Lexer(std::string_view text, size_t max_tokens) : text_(text), max_tokens_(max_tokens) {
    // A lone dollar sign is money; a pair of them delimits mathematics. "\\$" is money always.
    size_t delimiters = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '$') {
        ++delimiters;
      }
    }
    money_ = delimiters % 2 == 1;
  }

  Tokens Run() {
    while (at_ < text_.size()) {
      if (out_.tokens.size() >= max_tokens_) {
        out_.error = "too long";
        break;
      }
      Next();
    }
    return std::move(out_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool StartsWith(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }

  void Emit(TokenKind kind, std::string text) {
    out_.tokens.push_back({kind, std::move(text), space_});
    space_ = false;
    after_command_ = false;
  }

  void Next() {
    const char c = Peek();
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '~') {
      space_ = true;
      ++at_;
    } else if (Digit(c) || (c == '.' && (Digit(Peek(1)) || RepeatsAt(at_ + 1)))) {
      Number();
    } else if (Letter(c)) {
      size_t end = at_;
      while (end < text_.size() && Letter(text_[end])) {
        ++end;
      }
      Emit(TokenKind::kName, std::string(text_.substr(at_, end - at_)));
      at_ = end;
    } else if (c == '\\') {
      Command();
    } else if (c == '$') {
      if (money_) {
        Emit(TokenKind::kCommand, "$");
      }
      space_ = true;
      ++at_;
    } else {
      Punctuation(c);
    }
  }

  void Punctuation(char c) {
    // "**" is a power in the notation of programs; "<=", ">=", "!=" and "==" are relations.
    static constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
        {"<=", "leq"}, {">=", "geq"}, {"!=", "neq"}, {"...", "ldots"}, {"->", "to"}};
    for (const auto& [plain, command] : kPairs) {
      if (StartsWith(plain)) {
        Emit(TokenKind::kCommand, std::string(command));
        at_ += plain.size();
        return;
      }
    }
    if (StartsWith("**") || StartsWith("==")) {
      Emit(TokenKind::kPunct, c == '*' ? "^" : "=");
      at_ += 2;
      return;
    }
    if (c == '(' || c == '[' || (c == '{' && OpensSet())) {
      ++brackets_;
    }
    if (c == '{') {
      sets_.push_back(OpensSet());
    }
    bool closes = c == ')' || c == ']';
    if (c == '}' && !sets_.empty()) {
      closes = sets_.back();
      sets_.pop_back();
    }
    if (closes && brackets_ > 0) {
      --brackets_;
    }
    Emit(TokenKind::kPunct, std::string(1, c));
    ++at_;
  }

  // Whether the brace at this place encloses elements: it is the argument neither of a command nor
  // of "^" or "_".
  bool OpensSet() const {
    if (after_command_) {
      return false;
    }
    if (out_.tokens.empty()) {
      return true;
    }
    const Lexeme& last = out_.tokens.back();
    if (last.kind == TokenKind::kCommand) {
      return IsOneOf(last.text, kOperators);
    }
    return last.kind != TokenKind::kPunct ||
           std::string_view("^_}]").find(last.text[0]) == std::string_view::npos;
  }

  // Where a group of exactly three digits starts behind a separator at `at`; 0 if none does.
  size_t GroupAfterSeparator(size_t at) const {
    static constexpr std::string_view kSeparators[] = {",\\!", "{,}", "\\,", ","};
    for (const std::string_view separator : kSeparators) {
      if (text_.substr(at, separator.size()) != separator) {
        continue;
      }
      // In brackets a bare comma separates elements; none of them is written "000".
      const bool zero = sets_.empty() ? false : text_.substr(at + 1, 1) == "0";
      if (separator == "," && brackets_ > 0 && !zero) {
        return 0;
      }
      size_t start = at + separator.size();
      while (separator == ",\\!" && start < text_.size() && text_[start] == ' ') {
        ++start;
      }
      return ThreeDigits(start) ? start : 0;
    }
    if (text_.substr(at, 1) == " " && ThreeDigits(at + 1)) {
      return at + 1;
    }
    return 0;
  }
  bool ThreeDigits(size_t at) const {
    if (at + 3 > text_.size()) {
      return false;
    }
    if (!Digit(text_[at]) || !Digit(text_[at + 1]) || !Digit(text_[at + 2])) {
      return false;
    }
    return at + 3 == text_.size() || !Digit(text_[at + 3]);
  }

  // The digits at `at`, in braces or a single one; `at` is then behind them. Empty: none.
  std::string DigitArgument(size_t& at) const {
    size_t end = at;
    while (end < text_.size() && text_[end] == ' ') {
      ++end;
    }
    const bool group = end < text_.size() && text_[end] == '{';
    if (group) {
      ++end;
    }
    std::string digits;
    while (end < text_.size() && Digit(text_[end]) && (group || digits.empty())) {
      digits += text_[end++];
    }
    if (group && (end >= text_.size() || text_[end++] != '}')) {
      return {};
    }
    if (!digits.empty()) {
      at = end;
    }
    return digits;
  }

  // Digits that repeat for ever behind a decimal point: \overline{3}, \bar{3}, \dot{3},
  // \dot{1}4285\dot{7}; directly behind the point (3), too, which elsewhere is a factor.
  std::string Repetend(size_t& at, bool at_point) const {
    static constexpr std::string_view kBars[] = {"\\overline", "\\bar", "\\dot"};
    for (const std::string_view bar : kBars) {
      if (text_.substr(at, bar.size()) != bar) {
        continue;
      }
      size_t end = at + bar.size();
      std::string digits = DigitArgument(end);
      if (digits.empty()) {
        return {};
      }
      at = end;
      std::string between;
      while (end < text_.size() && Digit(text_[end])) {
        between += text_[end++];
      }
      if (bar != "\\dot" || text_.substr(end, bar.size()) != bar) {
        return digits;
      }
      end += bar.size();
      const std::string last = DigitArgument(end);
      if (last.empty()) {
        return digits;
      }
      at = end;
      return digits.append(between).append(last);
    }
    if (!at_point || text_.substr(at, 1) != "(") {
      return {};
    }
    size_t end = at + 1;
    while (end < text_.size() && Digit(text_[end])) {
      ++end;
    }
    if (end == at + 1 || text_.substr(end, 1) != ")") {
      return {};
    }
    std::string digits(text_.substr(at + 1, end - at - 1));
    at = end + 1;
    return digits;
  }
  bool RepeatsAt(size_t at) const { return !Repetend(at, true).empty(); }

  // 0xFF: the digits, a subscript sign and the base.
  bool Hexadecimal() {
    if (Peek() != '0' || (Peek(1) != 'x' && Peek(1) != 'X')) {
      return false;
    }
    size_t end = at_ + 2;
    while (end < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[end])) != 0) {
      ++end;
    }
    if (end == at_ + 2 || (end < text_.size() && Letter(text_[end]))) {
      return false;
    }
    Emit(TokenKind::kNumber, std::string(text_.substr(at_ + 2, end - at_ - 2)));
    Emit(TokenKind::kPunct, "_");
    Emit(TokenKind::kNumber, "16");
    at_ = end;
    return true;
  }

  void Number() {
    if (Hexadecimal()) {
      return;
    }
    std::string number;
    while (Digit(Peek())) {
      number += text_[at_++];
    }
    if (!number.empty() && number.size() <= 3 && number[0] != '0') {
      for (size_t start = GroupAfterSeparator(at_); start != 0; start = GroupAfterSeparator(at_)) {
        number += text_.substr(start, 3);
        at_ = start + 3;
      }
    }
    if (Peek() == '.' && (Digit(Peek(1)) || RepeatsAt(at_ + 1))) {
      number += text_[at_++];
      const bool at_point = !Digit(Peek());
      while (Digit(Peek())) {
        number += text_[at_++];
      }
      // The token keeps the notation of LaTeX: "0.1\\overline{6}".
      if (const std::string repetend = Repetend(at_, at_point); !repetend.empty()) {
        return Emit(TokenKind::kNumber, number + "\\overline{" + repetend + '}');
      }
    } else if (Peek() == '.' && Peek(1) != '.' && !number.empty()) {
      ++at_;  // "5." is 5
    }
    const size_t sign = Peek(1) == '-' || Peek(1) == '+' ? 1 : 0;
    if ((Peek() == 'e' || Peek() == 'E') && Digit(Peek(1 + sign))) {
      number += 'e';
      ++at_;
      if (sign == 1) {
        number += text_[at_++];
      }
      while (Digit(Peek())) {
        number += text_[at_++];
      }
    }
    Emit(TokenKind::kNumber, std::move(number));
  }

  void Command() {
    size_t end = at_ + 1;
    while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end])) != 0) {
      ++end;
    }
    if (end == at_ + 1 && end < text_.size()) {
      ++end;
    }
    std::string name(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
    if (name == "operatorname" && Peek() == '*') {
      ++at_;
    }
    if ((name.size() == 1 && kDroppedSigns.find(name) != std::string_view::npos) ||
        IsOneOf(name, kDropped)) {
      // "\left." and "\right." are invisible brackets.
      if ((name == "left" || name == "right") && Peek() == '.') {
        ++at_;
      }
      space_ = true;
      // \bf{1,234}: the brace belongs to the font.
      after_command_ = name.size() > 1 && name != "quad" && name != "qquad";
      return;
    }
    if (IsOneOf(name, kTextCommands) && BracedText()) {
      return;
    }
    if (name == "{" || name == "lbrace" || name == "langle") {
      ++brackets_;
    }
    if ((name == "}" || name == "rbrace" || name == "rangle") && brackets_ > 0) {
      --brackets_;
    }
    Emit(TokenKind::kCommand, std::move(name));
  }

  // The contents of a brace group at this place as one kText token.
  bool BracedText() {
    size_t start = at_;
    while (start < text_.size() && text_[start] == ' ') {
      ++start;
    }
    if (start >= text_.size() || text_[start] != '{') {
      return false;
    }
    int depth = 0;
    const size_t limit = std::min(text_.size(), start + kMaxTextBytes);
    for (size_t i = start; i < limit; ++i) {
      if (text_[i] == '{') {
        ++depth;
      }
      if (text_[i] == '}' && --depth == 0) {
        Emit(TokenKind::kText, std::string(text_.substr(start + 1, i - start - 1)));
        at_ = i + 1;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t max_tokens_;
  size_t at_ = 0;
  int brackets_ = 0;
  std::vector<bool> sets_;      // of each open brace, whether it is counted in brackets_
  bool after_command_ = false;  // a dropped command came last
  bool money_ = false;
  bool space_ = false;
  Tokens out_;
};

}  // namespace

Tokens Tokenize(std::string_view text, size_t max_tokens) {
  std::string folded;
  if (!FoldUnicode(text, folded)) {
    Tokens failed;
    failed.error = "not readable text (broken UTF-8 or control characters)";
    return failed;
  }
  return Lexer(folded, max_tokens).Run();
}

std::string NormalisedText(const std::vector<Lexeme>& tokens) {
  std::string text;
  for (const Lexeme& token : tokens) {
    // Two tokens that would run together keep a space between them.
    const bool word = token.kind == TokenKind::kNumber || token.kind == TokenKind::kName;
    if (word && !text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) != 0)) {
      text += ' ';
    }
    if (token.kind == TokenKind::kCommand) {
      text += '\\';
    }
    text += token.kind == TokenKind::kText ? "\"" + token.text + "\"" : token.text;
  }
  return text;
}

}  // namespace hyper::answer
