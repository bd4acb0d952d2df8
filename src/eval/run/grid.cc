#include "src/eval/run/grid.h"

#include <algorithm>
#include <sstream>

namespace hyper::eval {
namespace {

// The values of "8,16,32".
std::vector<std::string> ValuesOf(const std::string& text) {
  std::vector<std::string> values;
  std::istringstream parts(text);
  for (std::string value; std::getline(parts, value, ',');) {
    std::replace(value.begin(), value.end(), '+', ',');
    values.push_back(value);
  }
  return values;
}

}  // namespace

Result<std::vector<GridAxis>> ParseGrid(const std::string& text) {
  std::vector<GridAxis> axes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    GridAxis axis{word.substr(0, equals), {}};
    axis.values = equals < word.size() ? ValuesOf(word.substr(equals + 1)) : axis.values;
    const bool empty = std::find(axis.values.begin(), axis.values.end(), "") != axis.values.end();
    if (axis.option.empty() || axis.values.empty() || empty) {
      return InvalidArgument("--grid '" + word +
                             "' is no option with its values, such as interval=8,16,32");
    }
    const bool twice = std::any_of(axes.begin(), axes.end(), [&axis](const GridAxis& other) {
      return other.option == axis.option;
    });
    if (twice) {
      return InvalidArgument("--grid has " + axis.option +
                             " twice; give all its values in one list");
    }
    axes.push_back(std::move(axis));
  }
  if (axes.empty()) {
    return InvalidArgument(
        "--grid is empty; it takes options with their values, such as "
        "\"interval=8,16,32 eta=0.2,0.4\"");
  }
  return axes;
}

std::vector<OptionValues> GridPoints(const std::vector<GridAxis>& axes, GridKind kind) {
  std::vector<OptionValues> points = {{}};
  for (const GridAxis& axis : axes) {
    std::vector<OptionValues> next;
    if (kind == GridKind::kOne) {
      next = points;
      points = {{}};
    }
    for (const OptionValues& point : points) {
      for (const std::string& value : axis.values) {
        next.push_back(point);
        next.back().emplace_back(axis.option, value);
      }
    }
    points = std::move(next);
  }
  return points;
}

std::string GridLabel(const OptionValues& point) {
  std::string label;
  for (const OptionValue& value : point) {
    label += (label.empty() ? "" : " ") + value.name + "=" + value.text;
  }
  return label;
}

}  // namespace hyper::eval
