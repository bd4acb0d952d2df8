#include "src/answer/read/units.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "src/answer/read/names.h"

namespace hyper::answer {
namespace {

// A unit, its size in the base unit of its dimension, and how else it is written. A dimension of
// its own: it converts into nothing.
struct Unit {
  std::string_view name;
  std::string_view dimension;
  long numerator;
  unsigned long denominator;
  std::string_view spellings;  // in lower case, separated by spaces, with one at either end
  std::string_view symbol;     // of the SI, which takes prefixes; case counts
};

constexpr Unit kUnits[] = {
    {"degree", "angle", 1, 180, " deg circ ", ""},  // in half turns
    {"arcminute", "angle", 1, 10800, " arcmin ", ""},
    {"arcsecond", "angle", 1, 648000, " arcsec ", ""},
    {"radian", "radian", 1, 1, " rad ", ""},
    {"percent", "part", 1, 100, " percentage ", ""},
    {"ppm", "part", 1, 1000000, " ", ""},
    {"meter", "length", 1, 1, " m metre ", "m"},
    {"inch", "length", 254, 10000, " in inches ", ""},
    {"foot", "length", 3048, 10000, " ft feet ", ""},
    {"yard", "length", 9144, 10000, " yd ", ""},
    {"mile", "length", 1609344, 1000, " mi ", ""},
    {"lightyear", "length", 9460730472580800, 1, " ly light-year ", ""},
    {"acre", "length^2", 40468564224, 10000000, " ", ""},
    {"hectare", "length^2", 10000, 1, " ha ", ""},
    {"second", "time", 1, 1, " s sec ", "s"},
    {"minute", "time", 60, 1, " min ", ""},
    {"hour", "time", 3600, 1, " h hr ", ""},
    {"day", "time", 86400, 1, " d ", ""},
    {"week", "time", 604800, 1, " wk ", ""},
    {"month", "month", 1, 1, " mo ", ""},
    {"year", "month", 12, 1, " yr ", ""},
    {"decade", "month", 120, 1, " ", ""},
    {"century", "month", 1200, 1, " centuries ", ""},
    {"gram", "mass", 1, 1000, " g gramme ", "g"},
    {"pound", "mass", 45359237, 100000000, " lb lbs ", ""},
    {"ounce", "mass", 45359237, 1600000000, " oz ", ""},
    {"dollar", "money", 1, 1, " usd buck ", ""},
    {"cent", "money", 1, 100, " ", ""},
    {"euro", "euro", 1, 1, " eur ", ""},
    {"liter", "length^3", 1, 1000, " l litre ", "L"},
    {"gallon", "gallon", 1, 1, " gal ", ""},
    {"quart", "gallon", 1, 4, " qt ", ""},
    {"pint", "gallon", 1, 8, " pt ", ""},
    {"cup", "gallon", 1, 16, " ", ""},
    {"fluidounce", "gallon", 1, 128, " floz ", ""},
    {"tablespoon", "gallon", 1, 256, " tbsp ", ""},
    {"teaspoon", "gallon", 1, 768, " tsp ", ""},
    {"newton", "length mass time^-2", 1, 1, " n ", "N"},
    {"joule", "length^2 mass time^-2", 1, 1, " j ", "J"},
    {"watt", "length^2 mass time^-3", 1, 1, " w ", "W"},
    {"pascal", "length^-1 mass time^-2", 1, 1, " pa ", "Pa"},
    {"hertz", "time^-1", 1, 1, " hz ", "Hz"},
    {"ampere", "current", 1, 1, " a amp ", "A"},
    {"volt", "current^-1 length^2 mass time^-3", 1, 1, " v ", "V"},
    {"ohm", "current^-2 length^2 mass time^-3", 1, 1, " omega ", "Omega"},
    {"henry", "current^-2 length^2 mass time^-2", 1, 1, " henries ", "H"},
    {"farad", "current^2 length^-2 mass^-1 time^4", 1, 1, " ", ""},
    {"tesla", "current^-1 mass time^-2", 1, 1, " ", "T"},
    {"coulomb", "current time", 1, 1, " ", ""},
    {"candela", "candela", 1, 1, " cd ", ""},
    {"lumen", "lumen", 1, 1, " lm ", ""},
    {"lux", "length^-2 lumen", 1, 1, " lx ", ""},
    {"kelvin", "temperature", 1, 1, " k ", "K"},
    {"celsius", "celsius", 1, 1, " ", ""},
    {"fahrenheit", "fahrenheit", 1, 1, " ", ""},
    {"mole", "amount", 1, 1, " mol ", "mol"},
};

// Prefixes of the SI that stand before names and symbols; their powers of ten.
struct UnitPrefix {
  std::string_view name;
  std::string_view symbol;
  int power;
};
constexpr UnitPrefix kPrefixes[] = {{"pico", "p", -12}, {"nano", "n", -9},  {"micro", "u", -6},
                                    {"milli", "m", -3}, {"centi", "c", -2}, {"deci", "d", -1},
                                    {"hecto", "h", 2},  {"kilo", "k", 3},   {"mega", "M", 6},
                                    {"giga", "G", 9},   {"tera", "T", 12}};

// Dimensions of which one converts into another only by a convention: months have 28 to 31 days,
// gallons two sizes, and degrees of temperature two zeros.
constexpr std::string_view kConventions[][3] = {
    {"month", "time", ""}, {"gallon", "length^3", ""}, {"celsius", "fahrenheit", "temperature"}};

// Letters that are a unit behind a number. Single ones are names of variables as well.
constexpr std::string_view kBareUnits =
    " m s g h d l N J W V A K L C F H T u Pa Hz kHz MHz GHz kN kJ MJ kW MW kV mV mA kPa MPa eV keV "
    "MeV nm um mol mmol kmol mi in ft yd lb lbs oz cm mm km dm kg mg ug ms us ns hr hrs min mins "
    "sec secs mL ml cc rpm mph kph dB ha gal qt pt tsp tbsp kWh Nm rad deg usd USD EUR yr yrs "
    "wk wks mo mos psi ppm ppb hp lm lx cd pc ly Omega kOmega MOmega GOmega mOmega ";
constexpr std::string_view kPlainUnits =
    " cm mm km kg mg ft yd hr hrs lb lbs oz ml mph kph rad usd sec mins min deg USD EUR mL ";

bool Lists(std::string_view list, std::string_view word) {
  const std::string spaced = " " + std::string(word) + " ";
  return word.find(' ') == word.npos && list.find(spaced) != list.npos;
}

template <class Match>
const Unit* FindUnit(Match match) {
  const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits), match);
  return found == std::end(kUnits) ? nullptr : found;
}

// A unit and the prefix before it; no unit for a word that is none.
struct Prefixed {
  const Unit* unit = nullptr;
  const UnitPrefix* prefix = nullptr;

  std::string Name() const {
    return std::string(prefix == nullptr ? "" : prefix->name) + std::string(unit->name);
  }
};

// The unit of a canonical name: "kilometer".
Prefixed UnitOfName(std::string_view name) {
  const auto of = [](std::string_view rest) {
    return FindUnit([rest](const Unit& unit) { return unit.name == rest; });
  };
  if (const Unit* const unit = of(name)) {
    return {unit, nullptr};
  }
  for (const UnitPrefix& prefix : kPrefixes) {
    if (name.substr(0, prefix.name.size()) == prefix.name) {
      const Unit* const unit = of(name.substr(prefix.name.size()));
      return {unit != nullptr && !unit->symbol.empty() ? unit : nullptr, &prefix};
    }
  }
  return {};
}

// The unit of a symbol of the SI, whose case counts: "kHz", "um". C and F are mostly degrees.
Prefixed UnitOfSymbol(std::string_view symbol) {
  if (symbol == "pm") {
    return {};  // the half of a day
  }
  const auto of = [](std::string_view rest) {
    return FindUnit([rest](const Unit& unit) {
      return !rest.empty() && (unit.symbol == rest || (rest == "l" && unit.symbol == "L"));
    });
  };
  if (const Unit* const unit = of(symbol)) {
    return {unit, nullptr};
  }
  for (const UnitPrefix& prefix : kPrefixes) {
    if (symbol.substr(0, 1) == prefix.symbol) {
      const Unit* const unit = of(symbol.substr(1));
      return {unit, &prefix};
    }
  }
  return {};
}

// The unit that one word means, as a symbol or in lower case.
Prefixed UnitOfWord(std::string_view written) {
  if (const Prefixed symbol = UnitOfSymbol(written); symbol.unit != nullptr) {
    return symbol;
  }
  const std::string lower = LowerCase(written);
  std::string_view word = lower;
  for (const bool plural : {false, true}) {
    if (plural && (word.size() < 3 || word.back() != 's')) {
      return {};
    }
    if (plural) {
      word.remove_suffix(1);
    }
    if (const Prefixed named = UnitOfName(word); named.unit != nullptr) {
      return named;
    }
    for (const UnitPrefix& prefix : kPrefixes) {
      const bool spelled = word.substr(0, prefix.name.size()) == prefix.name;
      if (spelled && word.size() > prefix.name.size() + 3) {
        const Prefixed rest = UnitOfWord(word.substr(prefix.name.size()));
        if (rest.unit != nullptr && rest.prefix == nullptr && !rest.unit->symbol.empty()) {
          return {rest.unit, &prefix};
        }
      }
    }
    const Unit* const unit =
        FindUnit([word](const Unit& each) { return Lists(each.spellings, word); });
    if (unit != nullptr) {
      return {unit, nullptr};
    }
  }
  return {};
}

// "s^2", "s2" and "s^{-1}" as the name and its power.
long TakePower(std::string_view& word) {
  const size_t end = word.find_first_of("^-0123456789");
  if (end == word.npos || end == 0) {
    return 1;
  }
  std::string digits;
  for (const char c : word.substr(end)) {
    if (c != '^' && c != '{' && c != '}') {
      digits += c;
    }
  }
  long power = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), power);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
    return 0;
  }
  word = word.substr(0, end);
  return power;
}

// 2 for "square", 3 for "cubic", 0 for any other word.
long PowerBefore(std::string_view word) {
  const bool square = word == "square" || word == "sq";
  return square ? 2 : word == "cubic" || word == "cu" ? 3 : 0;
}

// "square meters per second", "m/s^2", "sq. ft"; false where a word is no known unit.
bool ParseUnit(std::string_view words, UnitProduct& product) {
  long sign = 1;
  long shape = 1;
  bool any = false;
  bool fluid = false;
  size_t at = 0;
  while (at < words.size()) {
    if (words[at] == ' ' || words[at] == '/') {
      if (words[at] == '/') {
        sign = -1;
      }
      ++at;
      continue;
    }
    const size_t end = std::min(words.find_first_of(" /", at), words.size());
    std::string_view word = words.substr(at, end - at);
    at = end;
    while (!word.empty() && word.back() == '.') {
      word.remove_suffix(1);
    }
    const std::string lower = LowerCase(word);
    if (lower == "per") {
      sign = -1;
    } else if (const long prefix = PowerBefore(lower); prefix > 0) {
      shape = prefix;
    } else if (lower == "fl" || lower == "fluid") {
      fluid = true;
    } else {
      const std::string_view speed = lower == "kph" ? "kilometer" : lower == "mph" ? "mile" : "";
      if (!speed.empty()) {
        product.Multiply(speed, sign);
        product.Multiply("hour", -sign);
        any = true;
        continue;
      }
      const long power = TakePower(word);
      const Prefixed unit = UnitOfWord(word);
      if (unit.unit == nullptr || power == 0 || power > 9 || power < -9) {
        return false;
      }
      product.Multiply((std::exchange(fluid, false) ? "fluid" : "") + unit.Name(),
                       sign * shape * power);
      shape = 1;
      any = true;
    }
  }
  return any && shape == 1 && !fluid;
}

}  // namespace

std::string UnitName(std::string_view words) {
  const std::string lower = LowerCase(words);
  UnitProduct product;
  if (ParseUnit(words, product) && !product.empty()) {
    return product.ToString();
  }
  std::string_view singular = lower;
  if (singular.size() > 3 && singular.back() == 's' && singular[singular.size() - 2] != 's') {
    singular.remove_suffix(1);
  }
  return std::string(singular);
}

std::string UnitOfCapitals(std::string_view symbol) {
  const bool capital =
      std::any_of(symbol.begin(), symbol.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  const Prefixed unit = capital ? UnitOfSymbol(symbol) : Prefixed{};
  return unit.unit == nullptr ? std::string() : unit.Name();
}

bool IsBareUnit(std::string_view letters, bool& certain) {
  certain = letters.size() > 1;
  return Lists(kBareUnits, letters);
}

bool IsUnitPrefix(std::string_view letters) { return PowerBefore(letters) > 0 || letters == "fl"; }

bool IsPlainUnit(std::string_view letters) { return Lists(kPlainUnits, letters); }

bool ConvertsByConvention(std::string_view dimension, std::string_view other) {
  return std::any_of(std::begin(kConventions), std::end(kConventions), [&](const auto& group) {
    return IsOneOf(dimension, group) && IsOneOf(other, group);
  });
}

void UnitProduct::Multiply(std::string_view canonical, long power) {
  size_t at = 0;
  while (at < canonical.size()) {
    const size_t end = std::min(canonical.find(' ', at), canonical.size());
    std::string_view factor = canonical.substr(at, end - at);
    at = end + 1;
    long own = 1;
    if (const size_t sign = factor.find('^'); sign != factor.npos) {
      std::from_chars(factor.data() + sign + 1, factor.data() + factor.size(), own);
      factor = factor.substr(0, sign);
    }
    const auto place =
        std::lower_bound(factors_.begin(), factors_.end(), factor,
                         [](const Factor& known, auto name) { return known.name < name; });
    if (place == factors_.end() || place->name != factor) {
      factors_.insert(place, {std::string(factor), own * power});
    } else if ((place->power += own * power) == 0) {
      factors_.erase(place);
    }
  }
}

std::string UnitProduct::ToString() const {
  std::string text;
  for (const Factor& factor : factors_) {
    text += (text.empty() ? "" : " ") + factor.name;
    if (factor.power != 1) {
      text += '^' + std::to_string(factor.power);
    }
  }
  return text;
}

std::optional<UnitScale> ScaleOfUnit(std::string_view canonical, Budget& budget) {
  UnitScale scale{Rational(1), ""};
  UnitProduct dimension;
  size_t at = 0;
  while (at < canonical.size()) {
    const size_t end = std::min(canonical.find(' ', at), canonical.size());
    std::string_view factor = canonical.substr(at, end - at);
    at = end + 1;
    long power = 1;
    if (const size_t sign = factor.find('^'); sign != factor.npos) {
      std::from_chars(factor.data() + sign + 1, factor.data() + factor.size(), power);
      factor = factor.substr(0, sign);
    }
    const auto [unit, prefix] = UnitOfName(factor);
    if (unit == nullptr || power > 9 || power < -9) {
      return std::nullopt;
    }
    const Rational own(unit->numerator, unit->denominator);
    const auto ten = Rational(10).Power(prefix == nullptr ? 0 : prefix->power, budget);
    const auto prefixed = ten ? own.Multiply(*ten, budget) : ten;
    const auto size = prefixed ? prefixed->Power(power, budget) : prefixed;
    const auto total = size ? scale.size.Multiply(*size, budget) : size;
    if (!total) {
      return std::nullopt;
    }
    scale.size = *total;
    dimension.Multiply(unit->dimension, power);
  }
  scale.dimension = dimension.ToString();
  return scale;
}

}  // namespace hyper::answer
