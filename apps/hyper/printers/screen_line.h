// A line of a screen: text in styles, cut to columns.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyper::app {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kAccent };

// Columns that a text takes: none for a combining character, two for a wide one. Pure.
int ColumnsOf(std::string_view text);

// The first characters of a text that fit into `columns`. Pure.
std::string_view FirstColumns(std::string_view text, int columns);

// The last ones.
std::string_view LastColumns(std::string_view text, int columns);

class ScreenLine {
 public:
  explicit ScreenLine(int columns) : most_(columns) {}

  // Appends as much of `text` as fits; it holds no control characters.
  ScreenLine& Add(std::string_view text, Style style = Style::kPlain);
  // Appends spaces up to a column; nothing where the line is there already.
  ScreenLine& To(int column);
  // Appends another line, all of which fits or is cut.
  ScreenLine& Add(const ScreenLine& line);
  int columns() const { return columns_; }
  // The text, in ANSI colours or without.
  std::string Text(bool colour) const;

 private:
  int most_;
  int columns_ = 0;
  std::vector<std::pair<Style, std::string>> parts_;
};

}  // namespace hyper::app
