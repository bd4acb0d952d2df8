#include "src/answer/read/names.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "src/answer/read/units.h"

namespace hyper::answer {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr Pair kFunctions[] = {
    {"sin", "sin"},         {"cos", "cos"},         {"tan", "tan"},
    {"cot", "cot"},         {"sec", "sec"},         {"csc", "csc"},
    {"tg", "tan"},          {"ctg", "cot"},         {"cosec", "csc"},
    {"arcsin", "arcsin"},   {"asin", "arcsin"},     {"arccos", "arccos"},
    {"acos", "arccos"},     {"arctan", "arctan"},   {"atan", "arctan"},
    {"arccot", "arccot"},   {"arcsec", "arcsec"},   {"arccsc", "arccsc"},
    {"sinh", "sinh"},       {"cosh", "cosh"},       {"tanh", "tanh"},
    {"coth", "coth"},       {"ln", "ln"},           {"log", "log"},
    {"lg", "lg"},           {"exp", "exp"},         {"sqrt", "sqrt"},
    {"cbrt", "cbrt"},       {"abs", "abs"},         {"floor", "floor"},
    {"ceil", "ceil"},       {"ceiling", "ceil"},    {"gcd", "gcd"},
    {"lcm", "lcm"},         {"max", "max"},         {"min", "min"},
    {"det", "det"},         {"Re", "re"},           {"Im", "im"},
    {"arg", "arg"},         {"binomial", "binom"},  {"factorial", "factorial"},
    {"sgn", "sign"},        {"sign", "sign"},       {"arcsinh", "arcsinh"},
    {"arccosh", "arccosh"}, {"arctanh", "arctanh"}, {"dim", "dim"},
    {"ker", "ker"},         {"tr", "tr"},           {"deg", "deg"},
    {"rank", "rank"},       {"cis", "cis"},
};

constexpr Pair kConstants[] = {
    {"pi", "pi"},
    {"Pi", "pi"},
    {"e", "e"},
    {"i", "i"},
    {"infty", "infinity"},
    {"inf", "infinity"},
    {"infinity", "infinity"},
    {"oo", "infinity"},
    {"Infinity", "infinity"},
    {"imath", "i"},
};

constexpr std::string_view kGreek[] = {
    "alpha", "beta",     "gamma", "delta",   "epsilon", "varepsilon", "zeta",  "eta",
    "theta", "vartheta", "iota",  "kappa",   "lambda",  "mu",         "nu",    "xi",
    "rho",   "sigma",    "tau",   "upsilon", "phi",     "varphi",     "chi",   "psi",
    "omega", "Gamma",    "Delta", "Theta",   "Lambda",  "Xi",         "Sigma", "Phi",
    "Psi",   "Omega",    "ell",   "hbar",    "Upsilon"};

constexpr std::pair<std::string_view, char> kRelations[] = {
    {"=", '='},        {"<", '<'},      {">", '>'},     {"leq", 'l'},   {"le", 'l'},
    {"leqslant", 'l'}, {"leqq", 'l'},   {"geq", 'g'},   {"ge", 'g'},    {"geqslant", 'g'},
    {"geqq", 'g'},     {"lt", '<'},     {"gt", '>'},    {"neq", 'n'},   {"ne", 'n'},
    {"in", 'i'},       {"approx", 'a'}, {"equiv", 'e'}, {"simeq", 'a'}, {"thickapprox", 'a'},
    {"approxeq", 'a'}, {"sim", 'a'},
};

constexpr std::string_view kShortWords[] = {
    "and", "or",  "no",  "yes",  "odd", "all", "any", "the", "is",  "are", "if",  "not",
    "one", "two", "six", "ten",  "for", "to",  "of",  "at",  "by",  "as",  "on",  "it",
    "an",  "per", "day", "win",  "has", "who", "how", "but", "can", "day", "men", "boy",
    "red", "mod", "dne", "none", "way", "new", "low", "top", "set", "man", "mon", "tue",
    "wed", "thu", "fri", "sat",  "sun", "may", "dog", "cat", "cup", "egg", "pen", "box",
    "row", "its", "was", "nor",  "iff", "am",  "pm"};

constexpr std::string_view kStopWords[] = {
    "and",     "or",      "if",        "iff",     "when",  "where",    "for",     "with",
    "such",    "to",      "from",      "through", "is",    "are",      "but",     "than",
    "between", "unless",  "otherwise", "else",    "not",   "as",       "because", "since",
    "only",    "at",      "mod",       "neither", "nor",   "either",   "both",    "the",
    "million", "billion", "thousand",  "hundred", "dozen", "trillion", "plus",    "minus",
    "times",   "squared", "cubed",     "over",    "into"};

constexpr std::string_view kFactorWords[] = {"as", "at", "by"};
constexpr std::string_view kOrdinalEndings[] = {"st", "nd", "rd", "th"};
constexpr std::string_view kTimeWords[] = {"h", "s", "hr", "min", "sec", "hour", "second"};

constexpr Pair kScales[] = {{"dozen", "12"},           {"hundred", "100"},
                            {"thousand", "1000"},      {"million", "1000000"},
                            {"billion", "1000000000"}, {"trillion", "1000000000000"}};

template <class Table>
auto Lookup(const Table& table, std::string_view name) {
  const auto* const found = std::find_if(std::begin(table), std::end(table),
                                         [&](const auto& row) { return row.first == name; });
  using Value = decltype(std::begin(table)->second);
  return found == std::end(table) ? Value{} : Value{found->second};
}

}  // namespace

std::string_view FunctionName(std::string_view name) { return Lookup(kFunctions, name); }
std::string_view ConstantName(std::string_view name) { return Lookup(kConstants, name); }
bool IsGreek(std::string_view name) { return IsOneOf(name, kGreek); }
bool IsIntegerLetter(std::string_view symbol) {
  return symbol.size() == 1 && symbol[0] >= 'k' && symbol[0] <= 'n';
}
char RelationOperator(std::string_view name) { return Lookup(kRelations, name); }

bool IsWord(std::string_view run) {
  if (run.size() < 2) {
    return false;
  }
  const std::string lower = LowerCase(run);
  if (IsOneOf(lower, kShortWords) || IsPlainUnit(run)) {
    return true;
  }
  const bool foreign = std::any_of(run.begin(), run.end(), [](char c) { return (c & 0x80) != 0; });
  const bool vowel = lower.find_first_of("aeiou") != std::string::npos;
  return foreign || (run.size() >= 4 && vowel);
}

bool IsFactorWord(std::string_view word) { return IsOneOf(word, kFactorWords); }
bool IsOrdinalEnding(std::string_view word) { return IsOneOf(word, kOrdinalEndings); }
bool IsTimeWord(std::string_view word) { return IsOneOf(word, kTimeWords); }
std::string_view ScaleOf(std::string_view word) { return Lookup(kScales, word); }
bool IsStopWord(std::string_view word) { return IsOneOf(word, kStopWords); }

long NumberOfWord(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "zero",     "one",     "two",     "three",     "four",     "five",     "six",
      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
  const auto* const found = std::find(std::begin(kWords), std::end(kWords), word);
  return found == std::end(kWords) ? -1 : found - std::begin(kWords);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace hyper::answer
