#include "src/eval/tables/paper_numbers.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "src/eval/data/bundled.h"
#include "src/eval/metrics/metrics.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

const json& Numbers() {
  static const json numbers = json::parse(PaperNumbersText());
  return numbers;
}

const json& RowsOf(std::string_view table) { return Numbers()[std::string(table)]["rows"]; }

// Small letters and digits alone: names of files and repositories differ in the rest.
std::string LettersAndDigits(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      plain += static_cast<char>(std::tolower(byte));
    }
  }
  return plain;
}

}  // namespace

std::string_view PaperNumbersText() { return FindBundledFile("paper/numbers.json").value(); }

std::optional<PaperPlace> PaperPlaceOf(const StoredRun& run) {
  PaperPlace place;
  const std::string model = LettersAndDigits(run.model);
  for (const json& row : RowsOf("models")) {
    if (model.find(LettersAndDigits(row[1].get<std::string>())) != std::string::npos) {
      place.model = row[0];
    }
  }
  for (const json& row : RowsOf("data sets")) {
    if (row[1] == run.suite) {
      place.data_set = row[0];
    }
  }
  if (place.model.empty() || place.data_set.empty()) {
    return std::nullopt;
  }
  return place;
}

double PaperNumber(std::string_view table, const PaperPlace& place, std::string_view method,
                   std::string_view column) {
  const json& columns = Numbers()[std::string(table)]["columns"];
  const auto at = std::find(columns.begin(), columns.end(), column);
  for (const json& row : RowsOf(table)) {
    if (row[0] == place.model && row[1] == place.data_set && row[2] == method &&
        at != columns.end()) {
      return row[static_cast<size_t>(at - columns.begin())];
    }
  }
  return kNaN;
}

bool PaperNames(std::string_view table, std::string_view method) {
  const json& rows = RowsOf(table);
  return std::any_of(rows.begin(), rows.end(), [&](const json& row) { return row[2] == method; });
}

std::vector<std::string> PaperChecklist(std::string_view method) {
  for (const json& row : RowsOf("checklist")) {
    if (row[0] == method) {
      return {row.begin() + 1, row.end()};
    }
  }
  return {};
}

}  // namespace hyper::eval
