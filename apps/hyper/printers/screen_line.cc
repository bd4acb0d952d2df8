#include "apps/hyper/printers/screen_line.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "src/base/utf8.h"

namespace hyper::app {
namespace {

constexpr std::array kCodes = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[36m"};
constexpr const char* kReset = "\x1b[0m";

int WidthOf(const base::Character& character) {
  return std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(character.code)));
}

}  // namespace

int ColumnsOf(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) {
    const base::Character character = base::CharacterAt(text, at);
    columns += WidthOf(character);
    at += std::max<size_t>(1, character.length);
  }
  return columns;
}

std::string_view FirstColumns(std::string_view text, int columns) {
  size_t at = 0;
  while (at < text.size()) {
    const base::Character character = base::CharacterAt(text, at);
    columns -= WidthOf(character);
    if (columns < 0) {
      break;
    }
    at += std::max<size_t>(1, character.length);
  }
  return text.substr(0, at);
}

std::string_view LastColumns(std::string_view text, int columns) {
  int spare = ColumnsOf(text) - columns;
  size_t at = 0;
  while (at < text.size() && spare > 0) {
    const base::Character character = base::CharacterAt(text, at);
    spare -= WidthOf(character);
    at += std::max<size_t>(1, character.length);
  }
  return text.substr(at);
}

ScreenLine& ScreenLine::Add(std::string_view text, Style style) {
  const std::string_view fits = FirstColumns(text, most_ - columns_);
  if (!fits.empty()) {
    columns_ += ColumnsOf(fits);
    if (parts_.empty() || parts_.back().first != style) {
      parts_.emplace_back(style, "");
    }
    parts_.back().second += fits;
  }
  return *this;
}

ScreenLine& ScreenLine::To(int column) {
  return Add(std::string(static_cast<size_t>(std::max(0, column - columns_)), ' '));
}

ScreenLine& ScreenLine::Add(const ScreenLine& line) {
  for (const auto& [style, text] : line.parts_) {
    Add(text, style);
  }
  return *this;
}

std::string ScreenLine::Text(bool colour) const {
  std::string line;
  for (const auto& [style, text] : parts_) {
    const bool coloured = colour && style != Style::kPlain;
    line += coloured ? kCodes[static_cast<size_t>(style)] + text + kReset : text;
  }
  return line;
}

}  // namespace hyper::app
