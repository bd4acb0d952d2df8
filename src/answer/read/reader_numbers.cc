// Number literals: decimals, scientific notation, bases, mixed numbers.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

constexpr long kMaxExponent = 100'000;
// From so many significant digits on a decimal may stand for a fraction (docs/answers.md).
constexpr size_t kLongDecimal = 12;

bool AllAlphanumeric(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

int DigitValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const int letter = std::tolower(static_cast<unsigned char>(c));
  return letter >= 'a' && letter <= 'z' ? letter - 'a' + 10 : -1;
}

NodeId Reader::NumberAtom() {
  const bool whole = AllDigits(Peek().text) && !Here(TokenKind::kPunct, "_", 1);
  const NodeId number = Literal();
  return number == kNoNode || !whole ? number : MixedNumber(number);
}

// A number as written, with its base; a fraction behind it is no part of it.
NodeId Reader::Literal() {
  const std::string literal = Peek().text;
  ++at_;
  if (Punct("_") && AllAlphanumeric(literal)) {
    ++at_;
    const std::string subscript = RawGroup();
    if (const long base = NumberOfWord(subscript); base > 0) {
      return BasedNumber(literal, static_cast<int>(base));
    }
    int base = 0;
    const char* const end = subscript.data() + subscript.size();
    const auto parsed = std::from_chars(subscript.data(), end, base);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return Fail("number with a subscript");
    }
    return BasedNumber(literal, base);
  }
  return Number(literal);
}

NodeId Reader::BasedNumber(const std::string& digits, int base) {
  const bool valid =
      base >= 2 && base <= 36 &&
      std::all_of(digits.begin(), digits.end(), [&](char c) { return DigitValue(c) < base; });
  // ff_{16} may be a product of letters with indices.
  const bool letters =
      std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!valid) {
    return Fail("digits do not fit the base");
  }
  const auto value = Rational::FromDigits(digits, 0, 0, base, budget_);
  if (!value) {
    return Fail("number too long");
  }
  const NodeId number = tree_.AddNumber(*value);
  return letters ? Doubtful(number) : number;
}

// "0.1\overline{6}": the digits under the bar repeat for ever.
NodeId Reader::RepeatingDecimal(std::string_view head, std::string_view repetend) {
  const size_t point = head.find('.');
  const std::string digits =
      '0' + std::string(head.substr(0, point)) + std::string(head.substr(point + 1));
  const auto decimals = static_cast<long>(head.size() - point - 1);
  const auto start = Rational::FromDigits(digits, decimals, 0, 10, budget_);
  const auto period = Rational::FromDigits(repetend, decimals, 0, 10, budget_);
  const auto nines = Rational::FromDigits(std::string(repetend.size(), '9'), 0, 0, 10, budget_);
  if (!start || !period || !nines) {
    return Fail("number too long");
  }
  const auto inverse = nines->Power(-1, budget_);
  const auto tail = inverse ? period->Multiply(*inverse, budget_) : inverse;
  const auto value = tail ? start->Add(*tail, budget_) : tail;
  return value ? tree_.AddNumber(*value) : Fail("number too long");
}

NodeId Reader::Number(std::string_view literal) {
  if (const size_t bar = literal.find('\\'); bar != std::string_view::npos) {
    const size_t open = literal.find('{', bar);
    return RepeatingDecimal(literal.substr(0, bar),
                            literal.substr(open + 1, literal.size() - open - 2));
  }
  std::string_view mantissa = literal.substr(0, literal.find('e'));
  long exponent = 0;
  if (mantissa.size() < literal.size()) {
    std::string_view digits = literal.substr(mantissa.size() + 1);
    if (digits.front() == '+') {
      digits.remove_prefix(1);
    }
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc() || exponent > kMaxExponent || exponent < -kMaxExponent) {
      return Fail("exponent too large");
    }
  }
  const size_t point = mantissa.find('.');
  std::string digits(mantissa.substr(0, point));
  long fraction = 0;
  if (point != std::string_view::npos) {
    digits += mantissa.substr(point + 1);
    fraction = static_cast<long>(mantissa.size() - point - 1);
  }
  const bool plain = point == std::string_view::npos && mantissa.size() == literal.size();
  if (plain && options_.base >= 2 && options_.base <= 36 &&
      std::all_of(digits.begin(), digits.end(),
                  [&](char c) { return DigitValue(c) < options_.base; })) {
    return BasedNumber(digits, options_.base);
  }
  auto value = Rational::FromDigits(digits, fraction, exponent, 10, budget_);
  if (!value) {
    return Fail("number too long");
  }
  if (point == std::string_view::npos) {
    return tree_.AddNumber(*value);
  }
  const size_t first = digits.find_first_not_of('0');
  const size_t significant = first == std::string::npos ? 0 : digits.size() - first;
  const long decimals = fraction - exponent;
  if (significant >= kLongDecimal && significant <= 100 && decimals >= 0 && decimals <= 200) {
    value = RationalOfLongDecimal(*value, decimals, budget_);
  }
  return tree_.AddNumber(*value, static_cast<int>(std::max(decimals, 0L)));
}

// Whether "a/b" in plain digits stands here, as in "1 1/2".
bool Reader::PlainFractionHere() const {
  return Peek().kind == TokenKind::kNumber && Peek().space_before && AllDigits(Peek().text) &&
         Here(TokenKind::kPunct, "/", 1) && Peek(2).kind == TokenKind::kNumber &&
         AllDigits(Peek(2).text);
}

// An integer directly before a fraction of two literals is a mixed number: 1\frac{4}{5} is 9/5.
NodeId Reader::MixedNumber(NodeId whole) {
  NodeId fraction = kNoNode;
  if (PlainFractionHere()) {
    const NodeId numerator = Number(Peek().text);
    const NodeId denominator = Number(Peek(2).text);
    if (numerator == kNoNode || denominator == kNoNode) {
      return kNoNode;
    }
    at_ += 3;
    fraction = Times(numerator, Inverse(denominator));
  } else if (Command("frac") || Command("dfrac") || Command("tfrac") || Command("cfrac")) {
    const NodeId next = CommandAtom();
    if (next == kNoNode) {
      return kNoNode;
    }
    const Node& product = tree_.at(next);
    const auto literal = [&](NodeId id) {
      const Node& node = tree_.at(id);
      return node.kind == Kind::kNumber && node.number.IsInteger() && node.number.Sign() > 0;
    };
    const bool mixed = product.args.size() == 2 && literal(product.args[0]) &&
                       tree_.at(product.args[1]).kind == Kind::kPower &&
                       literal(tree_.at(product.args[1]).args[0]);
    if (!mixed) {
      return Times(whole, next);
    }
    fraction = next;
  }
  if (fraction == kNoNode) {
    return whole;
  }
  return tree_.Add(Kind::kSum, {whole, fraction});
}

}  // namespace hyper::answer
