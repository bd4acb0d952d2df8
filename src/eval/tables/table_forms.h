// The forms of a table, and what they share. Private to tables/; all here is pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/eval/tables/table.h"

namespace hyper::eval {

std::string TerminalForm(const Table& table);
std::string MarkdownForm(const Table& table);
std::string CsvForm(const Table& table);
std::string JsonForm(const Table& table);
std::string LatexForm(const Table& table);

// Whether there is a number: neither nothing nor NaN.
bool Known(const std::optional<double>& value);

std::string Rounded(double value, int decimals);

// "88.0", "88.0 +- 2.0" with `plus_minus` between, "80.0 to 90.0", or the text.
std::string Shown(const Cell& cell, std::string_view plus_minus);

// The name of a column without a head over it: its group's before its own.
std::string FlatName(const Column& column);

// Whether each column is one of numbers, which stand to the right: its first known cell is one.
std::vector<bool> NumberColumns(const Table& table);

bool AnyGroup(const Table& table);

}  // namespace hyper::eval
