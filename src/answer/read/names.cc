#include "src/answer/read/names.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

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
    {"rank", "rank"},
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
    {"=", '='},    {"<", '<'},   {">", '>'},  {"leq", 'l'},      {"le", 'l'},     {"leqslant", 'l'},
    {"leqq", 'l'}, {"geq", 'g'}, {"ge", 'g'}, {"geqslant", 'g'}, {"geqq", 'g'},   {"lt", '<'},
    {"gt", '>'},   {"neq", 'n'}, {"ne", 'n'}, {"in", 'i'},       {"approx", 'a'}, {"equiv", 'e'},
};

constexpr UnitInfo kUnits[] = {
    {"degree", "angle", 1, 180},  // in half turns
    {"percent", "part", 1, 100},
    {"millimeter", "length", 1, 1000},
    {"centimeter", "length", 1, 100},
    {"meter", "length", 1, 1},
    {"kilometer", "length", 1000, 1},
    {"inch", "length", 254, 10000},
    {"foot", "length", 3048, 10000},
    {"yard", "length", 9144, 10000},
    {"mile", "length", 1609344, 1000},
    {"second", "time", 1, 1},
    {"minute", "time", 60, 1},
    {"hour", "time", 3600, 1},
    {"day", "time", 86400, 1},
    {"week", "time", 604800, 1},
    {"milligram", "mass", 1, 1000000},
    {"gram", "mass", 1, 1000},
    {"kilogram", "mass", 1, 1},
    {"pound", "mass", 45359237, 100000000},
    {"ounce", "mass", 45359237, 1600000000},
    {"dollar", "money", 1, 1},
    {"cent", "money", 1, 100},
    {"liter", "volume", 1, 1},
    {"milliliter", "volume", 1, 1000},
    {"radian", "radian", 1, 1},
    {"euro", "euro", 1, 1},
};

constexpr Pair kUnitWords[] = {
    {"degrees", "degree"},
    {"deg", "degree"},
    {"circ", "degree"},
    {"percentage", "percent"},
    {"mm", "millimeter"},
    {"millimetre", "millimeter"},
    {"cm", "centimeter"},
    {"centimetre", "centimeter"},
    {"m", "meter"},
    {"metre", "meter"},
    {"km", "kilometer"},
    {"kilometre", "kilometer"},
    {"in", "inch"},
    {"inches", "inch"},
    {"ft", "foot"},
    {"feet", "foot"},
    {"yd", "yard"},
    {"mi", "mile"},
    {"s", "second"},
    {"sec", "second"},
    {"min", "minute"},
    {"h", "hour"},
    {"hr", "hour"},
    {"mg", "milligram"},
    {"g", "gram"},
    {"kg", "kilogram"},
    {"lb", "pound"},
    {"lbs", "pound"},
    {"oz", "ounce"},
    {"usd", "dollar"},
    {"buck", "dollar"},
    {"l", "liter"},
    {"litre", "liter"},
    {"ml", "milliliter"},
    {"millilitre", "milliliter"},
    {"rad", "radian"},
    {"hrs", "hour"},
    {"mins", "minute"},
    {"secs", "second"},
    {"km/h", "kph"},
    {"km/hr", "kph"},
    {"mi/h", "mph"},
    {"mi/hr", "mph"},
    {"eur", "euro"},
};

// Units that are written as plain letters, where "cm" could also be c times m.
constexpr std::string_view kPlainUnits[] = {"cm",  "mm",  "km",   "kg",  "mg",  "ft",  "yd",  "hr",
                                            "hrs", "lb",  "lbs",  "oz",  "ml",  "mph", "kph", "rad",
                                            "usd", "sec", "mins", "min", "deg", "USD", "EUR", "mL"};

constexpr std::string_view kShortWords[] = {
    "and", "or",  "no",  "yes",  "odd", "all", "any", "the", "is",  "are", "if",  "not",
    "one", "two", "six", "ten",  "for", "to",  "of",  "at",  "by",  "as",  "on",  "it",
    "an",  "per", "day", "win",  "has", "who", "how", "but", "can", "day", "men", "boy",
    "red", "mod", "dne", "none", "way", "new", "low", "top", "set", "man", "mon", "tue",
    "wed", "thu", "fri", "sat",  "sun", "may", "dog", "cat", "cup", "egg", "pen", "box",
    "row", "its", "was", "nor",  "iff", "am",  "pm"};

constexpr std::string_view kStopWords[] = {
    "and",     "or",       "if",        "iff",     "when",     "where",   "for",   "with",
    "such",    "to",       "from",      "through", "is",       "are",     "but",   "than",
    "between", "unless",   "otherwise", "not",     "as",       "because", "since", "only",
    "at",      "mod",      "neither",   "nor",     "either",   "both",    "the",   "million",
    "billion", "thousand", "hundred",   "dozen",   "trillion", "plus",    "minus", "times",
    "squared", "cubed",    "over",      "into"};

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

template <class List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

std::string_view FunctionName(std::string_view name) { return Lookup(kFunctions, name); }
std::string_view ConstantName(std::string_view name) { return Lookup(kConstants, name); }
bool IsGreek(std::string_view name) { return Contains(kGreek, name); }
char RelationOperator(std::string_view name) { return Lookup(kRelations, name); }

std::string UnitName(std::string_view word) {
  if (const auto name = Lookup(kUnitWords, word); !name.empty()) return std::string(name);
  std::string_view singular = word;
  if (singular.size() > 3 && singular.back() == 's' && singular[singular.size() - 2] != 's') {
    singular.remove_suffix(1);
  }
  if (const auto name = Lookup(kUnitWords, singular); !name.empty()) return std::string(name);
  return std::string(singular);
}

const UnitInfo* FindUnit(std::string_view canonical) {
  const auto* const found =
      std::find_if(std::begin(kUnits), std::end(kUnits),
                   [&](const UnitInfo& unit) { return unit.name == canonical; });
  return found == std::end(kUnits) ? nullptr : found;
}

bool IsWord(std::string_view run) {
  if (run.size() < 2) return false;
  const std::string lower = LowerCase(run);
  if (Contains(kShortWords, lower) || Contains(kPlainUnits, run)) return true;
  const bool foreign = std::any_of(run.begin(), run.end(), [](char c) { return (c & 0x80) != 0; });
  const bool vowel = lower.find_first_of("aeiou") != std::string::npos;
  return foreign || (run.size() >= 4 && vowel);
}

bool IsFactorWord(std::string_view word) { return Contains(kFactorWords, word); }
bool IsOrdinalEnding(std::string_view word) { return Contains(kOrdinalEndings, word); }
bool IsTimeWord(std::string_view word) { return Contains(kTimeWords, word); }
std::string_view ScaleOf(std::string_view word) { return Lookup(kScales, word); }
bool IsStopWord(std::string_view word) { return Contains(kStopWords, word); }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace hyper::answer
