#include "src/core/action_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace hyper {
namespace {

Error MalformedValues(std::string_view entry) {
  return InvalidArgument(
      fmt::format("the action's values '{}' are not ACTION=COST,INTERCEPT and {} slopes with an "
                  "action other than none and a cost above 0",
                  entry, kStatisticCount));
}

// The numbers of a list; nothing where one is no finite number.
std::vector<double> FiniteNumbers(std::string_view list) {
  std::vector<double> numbers;
  while (true) {
    const size_t comma = list.find(',');
    const std::string text(list.substr(0, comma));
    char* end = nullptr;
    numbers.push_back(std::strtod(text.c_str(), &end));
    if (text.empty() || *end != '\0' || !std::isfinite(numbers.back())) {
      return {};
    }
    if (comma == std::string_view::npos) {
      return numbers;
    }
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<ActionValues> ParseActionValues(std::string_view text) {
  ActionValues values;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::optional<Action> action = ValueOf<Action>(entry.substr(0, equals));
    const std::vector<double> numbers =
        FiniteNumbers(entry.substr(std::min(equals + 1, entry.size())));
    if (!action || *action == Action::kNone || numbers.size() != 2 + kStatisticCount ||
        numbers[0] <= 0) {
      return MalformedValues(entry);
    }
    ActionValue& value = values[static_cast<size_t>(*action)];
    value.cost = numbers[0];
    value.intercept = numbers[1];
    std::copy(numbers.begin() + 2, numbers.end(), value.slopes.begin());
  }
  return values;
}

Action ChooseByValue(const ActionValues& values, const PoolStatistics& statistics,
                     ActionSet allowed) {
  Action best = Action::kNone;
  double most = 0;  // gain per token
  for (size_t i = 1; i < values.size(); ++i) {
    const ActionValue& value = values[i];
    double gain = value.intercept;
    size_t slope = 0;
    PoolStatistics::ForEach(statistics, [&](const char*, double statistic) {
      gain += value.slopes[slope++] * statistic;
    });
    const auto action = static_cast<Action>(i);
    if (value.cost > 0 && allowed.Has(action) && gain / value.cost > most) {
      most = gain / value.cost;
      best = action;
    }
  }
  return best;
}

}  // namespace hyper
