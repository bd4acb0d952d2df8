#include "tests/support/answer_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace hyper {

std::vector<nlohmann::json> LoadAnswerCases(const std::string& op) {
  std::ifstream file(HYPER_SOURCE_DIR "/tests/cases/answers.jsonl");
  EXPECT_TRUE(file.is_open());
  std::vector<nlohmann::json> rows;
  std::set<std::string> ids;
  int line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || !row.contains("id") || !row.contains("case") || !row.contains("op")) {
      ADD_FAILURE() << "line " << line_number << " is no row: " << line;
      continue;
    }
    EXPECT_TRUE(ids.insert(row["id"]).second) << "line " << line_number << ": id used twice";
    if (row["op"] == op) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace hyper
