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
  std::string_view spellings;  // separated by spaces, with one at either end
};

constexpr Unit kUnits[] = {
    {"degree", "angle", 1, 180, " deg circ "},  // in half turns
    {"radian", "radian", 1, 1, " rad "},
    {"percent", "part", 1, 100, " percentage "},
    {"millimeter", "length", 1, 1000, " mm millimetre "},
    {"centimeter", "length", 1, 100, " cm centimetre "},
    {"meter", "length", 1, 1, " m metre "},
    {"kilometer", "length", 1000, 1, " km kilometre "},
    {"inch", "length", 254, 10000, " in inches "},
    {"foot", "length", 3048, 10000, " ft feet "},
    {"yard", "length", 9144, 10000, " yd "},
    {"mile", "length", 1609344, 1000, " mi "},
    {"second", "time", 1, 1, " s sec "},
    {"minute", "time", 60, 1, " min "},
    {"hour", "time", 3600, 1, " h hr "},
    {"day", "time", 86400, 1, " "},
    {"week", "time", 604800, 1, " "},
    {"milligram", "mass", 1, 1000000, " mg "},
    {"gram", "mass", 1, 1000, " g "},
    {"kilogram", "mass", 1, 1, " kg "},
    {"pound", "mass", 45359237, 100000000, " lb lbs "},
    {"ounce", "mass", 45359237, 1600000000, " oz "},
    {"dollar", "money", 1, 1, " usd buck "},
    {"cent", "money", 1, 100, " "},
    {"euro", "euro", 1, 1, " eur "},
    {"liter", "length^3", 1, 1000, " l litre "},
    {"milliliter", "length^3", 1, 1000000, " ml millilitre "},
    {"newton", "length mass time^-2", 1, 1, " n "},
    {"joule", "length^2 mass time^-2", 1, 1, " j "},
    {"watt", "length^2 mass time^-3", 1, 1, " w "},
    {"pascal", "length^-1 mass time^-2", 1, 1, " pa "},
    {"hertz", "time^-1", 1, 1, " hz "},
    {"ampere", "current", 1, 1, " a amp "},
    {"volt", "current^-1 length^2 mass time^-3", 1, 1, " v "},
    {"ohm", "current^-2 length^2 mass time^-3", 1, 1, " omega "},
    {"coulomb", "current time", 1, 1, " "},
    {"kelvin", "temperature", 1, 1, " k "},
    {"celsius", "celsius", 1, 1, " "},
    {"fahrenheit", "fahrenheit", 1, 1, " "},
    {"mole", "amount", 1, 1, " mol "},
};

// Letters that are a unit behind a number. Single ones are names of variables as well.
constexpr std::string_view kBareUnits =
    " m s g h l N J W V A K L C F T Pa Hz kHz MHz GHz kN kJ MJ kW MW kV mV mA kPa MPa eV keV MeV "
    "nm mol mmol kmol mi in ft yd lb lbs oz cm mm km dm kg mg ms ns hr hrs min mins sec secs mL ml "
    "cc rpm mph kph dB ha gal qt pt kWh Nm rad deg usd USD EUR Omega ";
constexpr std::string_view kPlainUnits =
    " cm mm km kg mg ft yd hr hrs lb lbs oz ml mph kph rad usd sec mins min deg USD EUR mL ";

bool Lists(std::string_view list, std::string_view word) {
  const std::string spaced = " " + std::string(word) + " ";
  return word.find(' ') == word.npos && list.find(spaced) != list.npos;
}

const Unit* FindUnit(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                         [&](const Unit& unit) { return unit.name == name; });
  return found == std::end(kUnits) ? nullptr : found;
}

// The unit that one word in lower case means; nullptr for a word that is none.
const Unit* UnitOfWord(std::string_view word) {
  for (const bool plural : {false, true}) {
    if (plural && (word.size() < 3 || word.back() != 's')) {
      return nullptr;
    }
    if (plural) {
      word.remove_suffix(1);
    }
    if (const Unit* unit = FindUnit(word)) {
      return unit;
    }
    const auto* const found =
        std::find_if(std::begin(kUnits), std::end(kUnits),
                     [&](const Unit& unit) { return Lists(unit.spellings, word); });
    if (found != std::end(kUnits)) {
      return found;
    }
  }
  return nullptr;
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

// "square meters per second", "m/s^2" in lower case; false where a word is no known unit.
bool ParseUnit(std::string_view words, UnitProduct& product) {
  long sign = 1;
  long shape = 1;
  bool any = false;
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
    if (word == "per") {
      sign = -1;
    } else if (word == "square" || word == "sq") {
      shape = 2;
    } else if (word == "cubic" || word == "cu") {
      shape = 3;
    } else {
      const std::string_view speed = word == "kph" ? "kilometer" : word == "mph" ? "mile" : "";
      if (!speed.empty()) {
        product.Multiply(speed, sign);
        product.Multiply("hour", -sign);
        any = true;
        continue;
      }
      const long power = TakePower(word);
      const Unit* const unit = UnitOfWord(word);
      if (unit == nullptr || power == 0 || power > 9 || power < -9) {
        return false;
      }
      product.Multiply(unit->name, sign * shape * power);
      shape = 1;
      any = true;
    }
  }
  return any && shape == 1;
}

}  // namespace

std::string UnitName(std::string_view words) {
  const std::string lower = LowerCase(words);
  UnitProduct product;
  if (ParseUnit(lower, product) && !product.empty()) {
    return product.ToString();
  }
  std::string_view singular = lower;
  if (singular.size() > 3 && singular.back() == 's' && singular[singular.size() - 2] != 's') {
    singular.remove_suffix(1);
  }
  return std::string(singular);
}

bool IsBareUnit(std::string_view letters, bool& certain) {
  certain = letters.size() > 1;
  return Lists(kBareUnits, letters);
}

bool IsPlainUnit(std::string_view letters) { return Lists(kPlainUnits, letters); }

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
    const Unit* const unit = FindUnit(factor);
    if (unit == nullptr || power > 9 || power < -9) {
      return std::nullopt;
    }
    const auto size = Rational(unit->numerator, unit->denominator).Power(power, budget);
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
