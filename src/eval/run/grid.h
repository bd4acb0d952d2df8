// Grids of option values: the rows of a sweep.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hyper/names.h"
#include "hyper/option.h"
#include "hyper/result.h"

namespace hyper::eval {

// Values to try of one option.
struct GridAxis {
  std::string option;
  std::vector<std::string> values;  // at least one
};

// How the axes combine.
enum class GridKind {
  kOne,   // one option at a time, all others as they are
  kFull,  // every combination
};

}  // namespace hyper::eval

namespace hyper {
template <>
inline constexpr std::array kNamesOf<eval::GridKind> = {"one", "full"};
}  // namespace hyper

namespace hyper::eval {

// Reads "interval=8,16,32 eta=0.2,0.4" (in a value, '+' stands for ','). Options are not looked up.
// Errors: kInvalidArgument (an axis without a name or a value, an option named twice, no axis).
Result<std::vector<GridAxis>> ParseGrid(const std::string& text);

// The points of a grid in the order of its axes, the last one running fastest; kOne begins with the
// point that changes nothing. Pure.
std::vector<OptionValues> GridPoints(const std::vector<GridAxis>& axes, GridKind kind);

// "interval=8 eta=0.2"; empty where nothing is changed. Pure.
std::string GridLabel(const OptionValues& point);

}  // namespace hyper::eval
