// Units of measure: their spellings, sizes and dimensions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/answer/numbers/exact.h"

namespace hyper::answer {

// Canonical name of a unit ("inches", "in" are "inch"; "km/h" and "kilometers per hour" are
// "hour^-1 kilometer"); any other word is its own singular, in lower case. `words` as written:
// symbols of the SI differ by case ("mW", "MW").
std::string UnitName(std::string_view words);

// Canonical name of a symbol with a capital, which would be lost in lower case: "MW"; empty for any
// other word.
std::string UnitOfCapitals(std::string_view symbol);

// Whether letters outside \text{...} may be the unit of the number before them, as in 10 N;
// `certain`: they hardly mean anything else. Case counts.
bool IsBareUnit(std::string_view letters, bool& certain);
// Whether a word changes the unit behind it: "sq ft", "cu in", "fl oz".
bool IsUnitPrefix(std::string_view letters);
// Units that plain text writes in letters, where "cm" could also be c times m.
bool IsPlainUnit(std::string_view letters);

// Factors of a unit: "meter second^-2" for canonical units, sorted by name, each name once.
class UnitProduct {
 public:
  // Multiplies by a canonical unit raised to `power`.
  void Multiply(std::string_view canonical, long power);
  bool empty() const { return factors_.empty(); }
  // Canonical text.
  std::string ToString() const;

 private:
  struct Factor {
    std::string name;
    long power = 0;
  };
  std::vector<Factor> factors_;
};

// What a canonical unit is worth: `size` of the base unit of its dimension ("length",
// "length time^-1"). Nothing where a factor is not known.
struct UnitScale {
  Rational size;
  std::string dimension;
};
std::optional<UnitScale> ScaleOfUnit(std::string_view canonical, Budget& budget);
// Whether amounts of two dimensions may be the same by some convention: a year and 365 days.
bool ConvertsByConvention(std::string_view dimension, std::string_view other);

}  // namespace hyper::answer
