// The numbers that the paper prints (suites/paper/numbers.json), to stand beside runs of its own
// models on its own data sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/records.h"

namespace hyper::eval {

// What the paper calls a model and a data set.
struct PaperPlace {
  std::string model;
  std::string data_set;

  friend bool operator==(const PaperPlace&, const PaperPlace&) = default;
};

// The paper's names for the model and the suite of a run; nothing where it has not measured both.
// Pure, as all functions here.
std::optional<PaperPlace> PaperPlaceOf(const StoredRun& run);

// A number of a table of the file: "main", "ablation", "votes", "dense", "trees", "accounting".
//   method  or vote rule, by the names used here
//   column  a head of the table, such as "accuracy" or "tokens"
// NaN where the paper has none.
double PaperNumber(std::string_view table, const PaperPlace& place, std::string_view method,
                   std::string_view column);

// Whether a table has that method anywhere.
bool PaperNames(std::string_view table, std::string_view method);

// The cells of Table 1 for a method, from its granularity on; empty where the paper has no such
// line.
std::vector<std::string> PaperChecklist(std::string_view method);

// The text of the file.
std::string_view PaperNumbersText();

}  // namespace hyper::eval
