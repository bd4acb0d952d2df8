#include "src/eval/data/rows.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A parsed value, or a discarded one where the text is no JSON or no UTF-8.
json ParseQuietly(std::string_view text) {
  return json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
}

Result<std::vector<DataRow>> RowsOfArray(const json& array, const std::string& source) {
  std::vector<DataRow> rows;
  for (const json& entry : array) {
    const int number = static_cast<int>(rows.size()) + 1;
    // The hub's pages wrap each row together with its index.
    const bool wrapped = entry.is_object() && entry.contains("row") && entry.contains("row_idx");
    const json& value = wrapped ? entry["row"] : entry;
    if (!value.is_object()) {
      return Broken(source, number, "the entry is not a JSON object");
    }
    rows.push_back({number, value});
  }
  return rows;
}

Result<std::vector<DataRow>> RowsOfLines(std::string_view text, const std::string& source,
                                         const RowsOptions& options) {
  std::vector<DataRow> rows;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(kWhiteSpace) == std::string_view::npos) {
      continue;
    }
    json value = ParseQuietly(line);
    if (value.is_discarded()) {
      const bool cut_off = end == std::string_view::npos;
      if (cut_off && options.allow_partial_last_line) {
        break;
      }
      return Broken(source, number,
                    cut_off ? "broken JSON in the last line; the file may be cut off"
                            : "broken JSON (or bytes that are not UTF-8)");
    }
    if (!value.is_object()) {
      return Broken(source, number, "the line is not a JSON object");
    }
    rows.push_back({number, std::move(value)});
  }
  return rows;
}

}  // namespace

Error Broken(const std::string& source, int line, const std::string& reason) {
  return {ErrorCode::kDataLoss, source + " line " + std::to_string(line) + ": " + reason};
}

Result<std::vector<DataRow>> ParseRows(std::string_view text, const std::string& source,
                                       const RowsOptions& options) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) {
    return Error{ErrorCode::kDataLoss, source + " is empty; it should hold one JSON object a line"};
  }
  // A whole-file value is tried only where it can be one: an array, or an object with "rows".
  const bool array = text[first] == '[';
  const bool maybe_pages = text[first] == '{' && text.find("\"rows\"") != std::string_view::npos;
  if (array || maybe_pages) {
    const json value = ParseQuietly(text);
    if (value.is_array()) {
      return RowsOfArray(value, source);
    }
    if (value.is_object() && value.contains("rows") && value["rows"].is_array()) {
      return RowsOfArray(value["rows"], source);
    }
    if (array) {
      return Broken(source, 1, "a JSON array that is broken or cut off");
    }
  }
  return RowsOfLines(text, source, options);
}

Result<std::string> ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error{ErrorCode::kNotFound, path + " is a directory; give a file"};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{ErrorCode::kNotFound, path + " cannot be opened; check the path"};
  }
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad()) {
    return Error{ErrorCode::kDataLoss, path + " cannot be read to its end"};
  }
  return std::move(bytes).str();
}

}  // namespace hyper::eval
