// Rows of data files: JSONL as it is met in the wild, JSON arrays, and the hub's paged rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"

namespace hyper::eval {

// What separates words in data files.
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

// The error of a line that is not what it should be.
Error Broken(const std::string& source, int line, const std::string& reason);

// One JSON object of a data file.
struct DataRow {
  int number = 0;  // line of a JSONL file, or place in an array, from 1
  nlohmann::json value;
};

struct RowsOptions {
  // Leave out a last line that is cut off in the middle (a record file whose writer was killed).
  bool allow_partial_last_line = false;
};

// The objects of a text, in order.
//   text    JSONL, a JSON array of objects, or {"rows": [{"row": {...}}, ...]}; a UTF-8 byte order
//           mark, CRLF, blank lines and a missing final line break are all accepted
//   source  name for messages
// Errors: kDataLoss with the line for anything else (broken JSON or UTF-8, a value that is no
// object, an empty text). Pure; linear in the text.
Result<std::vector<DataRow>> ParseRows(std::string_view text, const std::string& source,
                                       const RowsOptions& options = {});

// The bytes of a file. Errors: kNotFound (missing, a directory), kDataLoss (unreadable).
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace hyper::eval
