// Accuracies that the paper prints, to stand beside ours. They were measured on other models and
// data sets than the bundled ones: compare the order of the rows, not the numbers.
#pragma once

#include <optional>
#include <string_view>

namespace hyper::eval {

struct PaperAccuracy {
  const char* table;   // "trees", "dense", "ablation", "votes", "main"
  const char* method;  // or vote rule, by the names used here
  const char* place;   // data set
  double percent = 0;
  double tokens = 0;  // normalised by SC; 0: not given
};

// The entry of a table's method on a data set, or nothing. Pure.
std::optional<PaperAccuracy> PaperNumber(std::string_view table, std::string_view method,
                                         std::string_view place);

// A row of the paper's accounting (App. I), on Qwen3-30B.
struct PaperAccounting {
  const char* method;  // by the names used here
  const char* place;   // data set
  double percent = 0;
  double sc_norm = 0;  // effective tokens over those of SC
  double abs_tokens = 0;
  double effective_tokens = 0;
  double latency_ms = 0;  // of a question
  double peak_paths = 0;
  double mean_paths = 0;
  double peak_kv_gb = 0;
};

// The accounting of a method on a data set, or nothing. Pure.
std::optional<PaperAccounting> PaperAccountingOf(std::string_view method, std::string_view place);

// A data set of the paper's main table, and the model whose numbers are kept here.
struct PaperPlace {
  const char* place;
  const char* model;
};

// The data set of a suite; AIME24, the paper's first, for suites that the paper does not have.
// Pure.
PaperPlace PaperPlaceOf(std::string_view suite);

}  // namespace hyper::eval
