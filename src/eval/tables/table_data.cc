// Tables as programs read them: CSV and JSON.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/eval/tables/table_forms.h"

namespace hyper::eval {
namespace {

using Json = nlohmann::ordered_json;

std::string FullNumber(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{}", *value) : std::string();
}

// What CSV and JSON hold of a column: the cells themselves, spreads, ranges.
struct Parts {
  bool plain = false;
  bool spread = false;
  bool range = false;
};

std::vector<Parts> PartsOf(const Table& table) {
  std::vector<Parts> parts(table.columns.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const auto& row : table.rows) {
      const Cell& cell = row[i];
      parts[i].spread = parts[i].spread || cell.spread;
      parts[i].range = parts[i].range || cell.low;
      parts[i].plain = parts[i].plain || cell.value || !cell.text.empty();
    }
    parts[i].plain = parts[i].plain || !parts[i].range;
  }
  return parts;
}

Json NumberOrNull(const std::optional<double>& value) {
  return Known(value) ? Json(*value) : Json(nullptr);
}

// The number of a cell, or its text. Counts are whole numbers.
Json PlainJson(const Cell& cell) {
  if (!cell.value) {
    return cell.low ? Json(nullptr) : Json(cell.text);
  }
  const bool count =
      cell.decimals == 0 && Known(cell.value) && *cell.value == std::rint(*cell.value);
  return count ? Json(static_cast<int64_t>(*cell.value)) : NumberOrNull(cell.value);
}

}  // namespace

std::string CsvForm(const Table& table) {
  const std::vector<Parts> parts = PartsOf(table);
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      text += (i == 0 ? "" : ",") + CsvField(fields[i]);
    }
    text += "\n";
  };
  std::vector<std::string> heads;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = FlatName(table.columns[i]);
    if (parts[i].plain) {
      heads.push_back(name);
    }
    if (parts[i].spread) {
      heads.push_back(name + " std");
    }
    if (parts[i].range) {
      heads.insert(heads.end(), {name + " low", name + " high"});
    }
  }
  add_line(heads);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Cell& cell = row[i];
      if (parts[i].plain) {
        fields.push_back(cell.value ? FullNumber(cell.value) : cell.text);
      }
      if (parts[i].spread) {
        fields.push_back(FullNumber(cell.spread));
      }
      if (parts[i].range) {
        fields.insert(fields.end(), {FullNumber(cell.low), FullNumber(cell.high)});
      }
    }
    add_line(fields);
  }
  return text;
}

std::string JsonForm(const Table& table) {
  const std::vector<Parts> parts = PartsOf(table);
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string name = FlatName(table.columns[i]);
      if (parts[i].plain) {
        object[name] = PlainJson(row[i]);
      }
      if (row[i].spread) {
        object[name + " std"] = NumberOrNull(row[i].spread);
      }
      if (row[i].low) {
        object[name + " low"] = NumberOrNull(row[i].low);
        object[name + " high"] = NumberOrNull(row[i].high);
      }
    }
    rows.push_back(std::move(object));
  }
  const Json value = {
      {"name", table.name}, {"title", table.title}, {"rows", rows}, {"notes", table.notes}};
  return value.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') {
      quoted += '"';
    }
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace hyper::eval
