// A suite, a grader and a table of your own as a plugin: answers known to the nearest ten.
//   hyper eval --plugin ./libown_evaluation.so --suite estimates --table results,spending
#include <hyper/evaluation.h>
#include <hyper/plugin.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

using hyper::Cell;

constexpr const char* kSuite = R"({
  "name": "estimates", "title": "Sums to the nearest ten", "answer": "integer",
  "prompt": "{question}", "preset": "short"})";

hyper::Result<std::string> Questions() {
  std::string lines;
  for (int n = 12; n < 18; ++n) {
    const std::string gold = std::to_string(10 * std::lrint((n + 7) * 5 / 10.0));
    lines += R"({"question": "Start with )" + std::to_string(n) +
             R"(, add 7, multiply by 5. What is the result?", "answer": )" + gold + "}\n";
  }
  return lines;
}

// Right where the answer is at most 5 from the gold.
hyper::Result<hyper::EqualResult> NearestTen(const hyper::GradeRequest& asked) {
  char* end = nullptr;
  const double answer = std::strtod(asked.answer.c_str(), &end);
  if (end == asked.answer.c_str() || *end != '\0') {
    return hyper::AnswersEqual(asked.gold, asked.answer);
  }
  const bool near = std::abs(answer - std::stod(asked.gold)) <= 5;
  return hyper::EqualResult{near ? hyper::Verdict::kEqual : hyper::Verdict::kNotEqual, ""};
}

// Mean effective tokens of a row's right answers, or of its others.
double Mean(const hyper::EvaluatedRow& row, bool right) {
  double sum = 0;
  int count = 0;
  for (const hyper::StudyAnswer& answer : row.answers) {
    if ((answer.outcome == hyper::Outcome::kRight) == right) {
      sum += static_cast<double>(answer.ledger.effective());
      ++count;
    }
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

hyper::Result<hyper::Table> Spending(const std::vector<hyper::EvaluatedRow>& rows) {
  hyper::Table table;
  table.title = "Effective tokens of an answer";
  table.columns = {{"Row"}, {"Right"}, {"Other"}};
  for (const hyper::EvaluatedRow& row : rows) {
    table.rows.push_back({Cell::Text(row.label), Cell::Number(Mean(row, true), 1),
                          Cell::Number(Mean(row, false), 1)});
  }
  return table;
}

HYPER_PLUGIN(registry) {
  hyper::Status status = registry.Add(hyper::SuiteSpec{kSuite, Questions});
  if (status) {
    status = registry.Add(hyper::GraderSpec{"nearest-ten", 1, {"estimates"}, NearestTen});
  }
  return status ? registry.Add(hyper::TableSpec{"spending", Spending}) : status;
}
