#include "src/extract/normal.h"

#include <array>
#include <utility>

#include "src/extract/numbers.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// Wrappers inside each other beyond this many are left: no text needs them, and it keeps the cost
// linear.
constexpr int kMaxWrappers = 8;

constexpr std::array<std::string_view, 12> kWrapperCommands = {
    "\\boxed",  "\\fbox", "\\framebox", "\\text",   "\\textbf",        "\\textit",
    "\\textrm", "\\mbox", "\\mathrm",   "\\mathbf", "\\displaystyle ", "\\bf "};

// Takes `open` and `close` off both ends of `text`; they may not stand in between.
void TakeOff(std::string_view& text, std::string_view open, std::string_view close) {
  if (text.size() < open.size() + close.size()) {
    return;
  }
  if (!text.starts_with(open) || !text.ends_with(close)) {
    return;
  }
  const std::string_view inner = Slice(text, open.size(), text.size() - close.size());
  if (inner.find(open) == std::string_view::npos) {
    text = inner;
  }
}

// Takes \text{...} and its like, or bare braces, off the whole of `text`.
void TakeOffCommand(std::string_view& text) {
  for (std::string_view command : kWrapperCommands) {
    if (!text.starts_with(command)) {
      continue;
    }
    if (command.back() == ' ') {
      text.remove_prefix(command.size());
      return;
    }
    if (At(text, command.size()) == '{' && ClosingBrace(text, command.size()) == text.size() - 1) {
      text = Slice(text, command.size() + 1, text.size() - 1);
      return;
    }
  }
  if (text.starts_with('{') && ClosingBrace(text, 0) == text.size() - 1) {
    text = Slice(text, 1, text.size() - 1);
  }
}

void TakeOffSpace(std::string_view& text) {
  text = TrimSpace(text);
  for (std::string_view space : {"\\,", "\\;", "\\!", "\\ ", "\\quad", "\\qquad", "~"}) {
    if (text.starts_with(space)) {
      text.remove_prefix(space.size());
    }
    // "\\" and then a blank is a line break, not a space.
    if (text.ends_with(space) && !text.ends_with("\\\\ ")) {
      text.remove_suffix(space.size());
    }
  }
}

void TakeOffEnd(std::string_view& text) {
  if (text.ends_with("..") || text.ends_with("\\.")) {
    return;
  }
  for (std::string_view mark : {".", ",", ";", "。", "．", "，"}) {
    if (text.ends_with(mark)) {
      text.remove_suffix(mark.size());
      return;
    }
  }
}

void TakeOffQuotes(std::string_view& text) {
  // Bold that only opens or only closes here is no part of the answer either.
  if (text.starts_with("**")) {
    text.remove_prefix(2);
  }
  if (text.ends_with("**")) {
    text.remove_suffix(2);
  }
  for (std::string_view mark : {"__", "*", "_", "`", "\""}) {
    TakeOff(text, mark, mark);
  }
  TakeOff(text, "“", "”");
  for (std::string_view tag : {"b>", "i>", "u>", "em>", "strong>"}) {
    TakeOff(text, "<" + std::string(tag), "</" + std::string(tag));
  }
}

void TakeOffMath(std::string_view& text) {
  TakeOff(text, "$$", "$$");
  TakeOff(text, "$", "$");
  TakeOff(text, "\\(", "\\)");
  TakeOff(text, "\\[", "\\]");
}

std::string_view TakeOffAll(std::string_view text) {
  for (int round = 0; round < kMaxWrappers; ++round) {
    const size_t before = text.size();
    TakeOffSpace(text);
    TakeOffEnd(text);
    TakeOffQuotes(text);
    TakeOffMath(text);
    TakeOffCommand(text);
    if (text.size() == before) {
      break;
    }
  }
  return TrimSpace(text);
}

// Copy without math delimiters and currency signs that are left inside, blanks in runs made one.
std::string WithoutDelimiters(std::string_view text) {
  std::string copy;
  copy.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = At(text, i + 1);
    if (text[i] == '\\' &&
        (next == '$' || next == '(' || next == ')' || next == '[' || next == ']')) {
      ++i;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      copy += text[i];
      copy += text[++i];
    } else if (IsSpace(text[i])) {
      if (!copy.empty() && copy.back() != ' ') {
        copy += ' ';
      }
    } else if (text[i] != '$') {
      copy += text[i];
    }
  }
  while (!copy.empty() && copy.back() == ' ') {
    copy.pop_back();
  }
  return copy;
}

// Commands that stand between equations of a list, and relations that make no chain of equalities.
constexpr std::array<std::string_view, 10> kJoints = {"\\text",  "\\mbox", "\\quad", "\\qquad",
                                                      "\\\\",    "\\lor",  "\\land", "\\vee",
                                                      "\\wedge", "\\begin"};
constexpr std::array<std::string_view, 11> kOrders = {"\\le",  "\\leq",      "\\leqslant", "\\ge",
                                                      "\\geq", "\\geqslant", "\\lt",       "\\gt",
                                                      "\\ne",  "\\neq",      "\\in"};

// Places of the equality signs of `text` that stand outside brackets. `list`: they are no chain,
// since a comma, "and" or the like stands between them, or another relation.
struct Equalities {
  std::vector<size_t> places;
  bool list = false;
};

// Reads a text from left to right.
class EqualityFinder {
 public:
  explicit EqualityFinder(std::string_view text) : text_(text) {}

  Equalities Find() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\') {
        const size_t end = AfterCommand(text_, i);
        Command(Slice(text_, i, end));
        i = end - 1;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if (c == ')' || c == ']' || c == '}') {
        --depth_;
      } else if (depth_ == 0) {
        Outside(i);
      }
    }
    return std::move(found_);
  }

 private:
  void Command(std::string_view name) {
    if (name == "\\{") {
      ++depth_;
    }
    if (name == "\\}") {
      --depth_;
    }
    if (depth_ != 0) {
      return;
    }
    if (IsOneOf(name, kJoints)) {
      joint_ = true;
    }
    if (IsOneOf(name, kOrders)) {
      found_.list = true;
    }
  }

  // The character at `i`, outside brackets.
  void Outside(size_t i) {
    const char c = text_[i];
    const char before = i == 0 ? '\0' : text_[i - 1];
    const bool order = c == '<' || (c == '>' && before != '=' && before != '-');
    if (order || StandsAt(text_, i, ", ") || StandsAt(text_, i, "; ") ||
        StandsAt(text_, i, " and ") || StandsAt(text_, i, " or ")) {
      found_.list = true;
    } else if (c == ',' || c == ';') {
      // "1,000" has a comma, too; only an equation behind it makes it one between equations.
      joint_ = true;
    } else if (c == '=') {
      const bool relation = before == '<' || before == '>' || before == '!' || before == ':' ||
                            before == '=' || At(text_, i + 1) == '=';
      if (relation) {
        return;
      }
      found_.list = found_.list || joint_;
      found_.places.push_back(i);
    }
  }

  std::string_view text_;
  int depth_ = 0;
  bool joint_ = false;
  Equalities found_;
};

Equalities FindEqualities(std::string_view text) { return EqualityFinder(text).Find(); }

// Whether `rest`, what follows a number, only names its unit or its thing: "cm", "\text{ cm}^2",
// "%", "^\circ", "apples".
bool IsUnit(std::string_view rest) {
  rest = TrimSpace(rest);
  while (rest.starts_with("\\ ") || rest.starts_with("\\,") || rest.starts_with("\\;")) {
    rest = TrimSpace(rest.substr(2));
  }
  for (std::string_view sign : {"^\\circ", "^{\\circ}", "\\%", "%", "\\degree", "°"}) {
    if (rest == sign) {
      return true;
    }
  }
  if (rest.starts_with("\\text") || rest.starts_with("\\mathrm") || rest.starts_with("\\mbox")) {
    return true;
  }
  if (rest.empty() || !IsLetter(rest.front())) {
    return false;
  }
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    const bool power = c == '^' && IsDigit(At(rest, i + 1)) && IsLetter(rest[i - 1]);
    const bool exponent = IsDigit(c) && rest[i - 1] == '^';
    if (!IsLetter(c) && c != ' ' && c != '/' && c != '.' && c != '-' && !power && !exponent) {
      return false;
    }
  }
  return true;
}

// The one number of a sentence such as "the answer is 42"; empty if there are several or if the
// text has anything that could change a number (an operator, a command).
std::string_view OnlyNumber(std::string_view text) {
  const std::vector<std::string_view> numbers = FindNumbers(text);
  if (numbers.size() != 1) {
    return {};
  }
  const auto begin = static_cast<size_t>(numbers[0].data() - text.data());
  const std::string_view rest = text.substr(begin + numbers[0].size());
  if (!TrimSpace(rest).empty() && !IsUnit(rest)) {
    return {};
  }
  for (const char c : text.substr(0, begin)) {
    if (!IsLetter(c) && c != ' ' && c != ':' && c != ',' && c != '\'' && IsAscii(c)) {
      return {};
    }
  }
  return numbers[0];
}

}  // namespace

std::string NormalMath(std::string_view raw) {
  // Twice, since a delimiter without its partner hides what is to be taken off inside it.
  const std::string bare = WithoutDelimiters(TakeOffAll(raw));
  std::string normal(TakeOffAll(bare));
  const Equalities equalities = FindEqualities(normal);
  if (equalities.places.size() >= 2 && !equalities.list) {
    normal = std::string(TakeOffAll(std::string_view(normal).substr(equalities.places.back() + 1)));
  }
  if (std::optional<std::string> number = CanonicalNumber(normal)) {
    return *number;
  }
  const size_t sign = SignLength(normal, 0);
  if (sign > 1 && sign < normal.size()) {
    normal = "-" + normal.substr(sign);
  }
  return normal;
}

std::string NormalInteger(std::string_view raw) {
  const std::string normal = NormalMath(raw);
  std::string_view value = normal;
  const Equalities equalities = FindEqualities(value);
  if (!equalities.places.empty()) {
    value = TrimSpace(value.substr(equalities.places.back() + 1));
  }
  value = TakeOffAll(value);
  if (std::optional<std::string> number = CanonicalNumber(value, {.drop_percent = true})) {
    return *number;
  }
  if (const std::string_view only = OnlyNumber(value); !only.empty()) {
    if (std::optional<std::string> number = CanonicalNumber(only)) {
      return *number;
    }
  }
  return std::string(value);
}

std::string NormalText(std::string_view raw) {
  const std::string_view text = TakeOffAll(raw);
  std::string normal;
  normal.reserve(text.size());
  for (const char c : text) {
    if (!IsSpace(c)) {
      normal += c;
    } else if (!normal.empty() && normal.back() != ' ') {
      normal += ' ';
    }
  }
  return normal;
}

bool LacksArgument(std::string_view text) {
  constexpr std::array<std::string_view, 22> kNeedy = {
      "\\boxed",    "\\fbox",   "\\framebox",     "\\frac",   "\\dfrac",  "\\tfrac",
      "\\binom",    "\\sqrt",   "\\text",         "\\textbf", "\\textit", "\\mbox",
      "\\mathrm",   "\\mathbf", "\\left",         "\\right",  "\\begin",  "\\end",
      "\\overline", "\\hat",    "\\operatorname", "\\"};
  const size_t command = text.rfind('\\');
  if (command == std::string_view::npos) {
    return false;
  }
  const size_t end = AfterCommand(text, command);
  if (end == text.size()) {
    return IsOneOf(text.substr(command), kNeedy);
  }
  const bool fraction = text.starts_with("\\frac{") || text.starts_with("\\dfrac{") ||
                        text.starts_with("\\tfrac{") || text.starts_with("\\binom{");
  return fraction && ClosingBrace(text, text.find('{')) == text.size() - 1;
}

bool IsPlaceholder(std::string_view normal) {
  static constexpr std::array<std::string_view, 12> kPlaceholders = {"...",
                                                                     "\\ldots",
                                                                     "\\dots",
                                                                     "\\cdots",
                                                                     "answer",
                                                                     "your answer",
                                                                     "final answer",
                                                                     "the answer",
                                                                     "your answer here",
                                                                     "your final answer",
                                                                     "final_answer",
                                                                     "…"};
  return normal.empty() || IsOneOf(normal, kPlaceholders) || LacksArgument(normal);
}

}  // namespace hyper::extract
