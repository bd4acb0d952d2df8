#include "src/eval/tables/paper_numbers.h"

#include <array>

namespace hyper::eval {
namespace {

// Tables "main-results" (Qwen3-30B, and OLMoE from GSM8K on), "ablation-components",
// "ablation-voting" with "voting_ablation" (App. E), "non-moe-demo" (App. G) and "tot-thinking"
// (App. H).
constexpr auto kNumbers = std::to_array<PaperAccuracy>({
    {"main", "sc", "AIME24", 88.0, 1.00},
    {"main", "self-certainty", "AIME24", 83.3, 0.94},
    {"main", "deepconf", "AIME24", 92.7, 0.46},
    {"main", "roe-late", "AIME24", 88.7, 1.38},
    {"main", "hyper", "AIME24", 94.0, 0.54},
    {"main", "sc", "AIME25", 86.0, 1.00},
    {"main", "self-certainty", "AIME25", 80.0, 1.13},
    {"main", "deepconf", "AIME25", 90.7, 0.67},
    {"main", "roe-late", "AIME25", 84.7, 1.64},
    {"main", "hyper", "AIME25", 95.3, 0.71},
    {"main", "sc", "HMMT25", 69.4, 1.00},
    {"main", "self-certainty", "HMMT25", 68.7, 1.03},
    {"main", "deepconf", "HMMT25", 74.0, 0.84},
    {"main", "roe-late", "HMMT25", 71.3, 1.78},
    {"main", "hyper", "HMMT25", 78.7, 0.77},
    {"main", "sc", "HLE", 6.5, 1.00},
    {"main", "self-certainty", "HLE", 2.5, 1.15},
    {"main", "deepconf", "HLE", 11.5, 0.91},
    {"main", "roe-late", "HLE", 7.0, 3.55},
    {"main", "hyper", "HLE", 13.5, 0.81},
    {"main", "sc", "GSM8K", 75.4, 1.00},
    {"main", "self-certainty", "GSM8K", 76.1, 1.20},
    {"main", "deepconf", "GSM8K", 77.6, 0.41},
    {"main", "roe-late", "GSM8K", 76.3, 1.64},
    {"main", "hyper", "GSM8K", 80.3, 0.48},
    {"main", "sc", "MATH500", 37.3, 1.00},
    {"main", "self-certainty", "MATH500", 37.9, 1.09},
    {"main", "deepconf", "MATH500", 43.7, 0.55},
    {"main", "roe-late", "MATH500", 38.2, 2.35},
    {"main", "hyper", "MATH500", 46.7, 0.73},
    {"main", "sc", "ARC-C", 63.3, 1.00},
    {"main", "self-certainty", "ARC-C", 66.4, 0.76},
    {"main", "deepconf", "ARC-C", 68.7, 0.32},
    {"main", "roe-late", "ARC-C", 65.2, 1.67},
    {"main", "hyper", "ARC-C", 70.1, 0.68},
    {"main", "sc", "ARC-E", 80.1, 1.00},
    {"main", "self-certainty", "ARC-E", 82.2, 0.88},
    {"main", "deepconf", "ARC-E", 84.7, 0.25},
    {"main", "roe-late", "ARC-E", 83.8, 2.04},
    {"main", "hyper", "ARC-E", 86.5, 0.36},
    {"ablation", "sc", "AIME25", 86.7, 1.00},
    {"ablation", "single-token-only", "AIME25", 93.3, 1.81},
    {"ablation", "multi-token-only", "AIME25", 90.0, 1.87},
    {"ablation", "manual", "AIME25", 93.3, 1.78},
    {"ablation", "hyper", "AIME25", 96.7, 1.62},
    {"ablation", "sc", "HMMT25", 66.7, 1.00},
    {"ablation", "single-token-only", "HMMT25", 70.0, 1.77},
    {"ablation", "multi-token-only", "HMMT25", 66.7, 1.82},
    {"ablation", "manual", "HMMT25", 76.7, 1.87},
    {"ablation", "hyper", "HMMT25", 76.7, 1.54},
    {"votes", "majority", "AIME25", 86.7, 0},
    {"votes", "majority", "HMMT25", 73.3, 0},
    {"votes", "length", "AIME24", 90.0, 0},
    {"votes", "length", "AIME25", 93.3, 0},
    {"votes", "length", "HMMT25", 73.3, 0},
    {"votes", "confidence", "AIME24", 93.3, 0},
    {"votes", "confidence", "AIME25", 90.0, 0},
    {"votes", "confidence", "HMMT25", 73.3, 0},
    {"votes", "length_confidence", "AIME24", 96.7, 0},
    {"votes", "length_confidence", "AIME25", 96.7, 0},
    {"votes", "length_confidence", "HMMT25", 76.7, 0},
    {"dense", "sc", "HMMT25", 71.3, 0},
    {"dense", "deepconf", "HMMT25", 74.0, 0},
    {"dense", "hyper", "HMMT25", 78.7, 0},
    {"trees", "sc", "AIME24", 83.3, 0},
    {"trees", "rebase 8", "AIME24", 80.0, 0},
    {"trees", "rebase 16", "AIME24", 83.3, 0},
    {"trees", "ets", "AIME24", 73.3, 0},
    {"trees", "mcts", "AIME24", 73.3, 0},
});

// Table "abs_compute" (App. I).
constexpr auto kAccounting = std::to_array<PaperAccounting>({
    {"sc", "AIME24", 88.0, 1.00, 3.87e6, 3.87e6, 9.12e6, 120, 30.0, 22.0},
    {"self-certainty", "AIME24", 83.3, 0.94, 3.64e6, 3.64e6, 8.57e6, 120, 28.5, 20.7},
    {"deepconf", "AIME24", 92.7, 0.46, 1.78e6, 1.78e6, 4.32e6, 120, 13.4, 10.1},
    {"roe-late", "AIME24", 88.7, 1.38, 2.54e6, 5.34e6, 7.19e6, 80, 15.2, 14.4},
    {"hyper", "AIME24", 94.0, 0.54, 1.55e6, 2.09e6, 4.09e6, 80, 12.6, 12.45},
    {"sc", "AIME25", 86.0, 1.00, 4.22e6, 4.22e6, 9.98e6, 120, 33.0, 24.0},
    {"deepconf", "AIME25", 90.7, 0.67, 2.83e6, 2.83e6, 6.89e6, 120, 21.1, 16.1},
    {"roe-late", "AIME25", 84.7, 1.64, 3.30e6, 6.92e6, 9.35e6, 80, 23.4, 18.8},
    {"hyper", "AIME25", 95.3, 0.71, 2.22e6, 3.00e6, 5.88e6, 88, 20.4, 18.48},
    {"sc", "HMMT25", 69.4, 1.00, 5.75e6, 5.75e6, 13.58e6, 120, 36.0, 32.7},
    {"self-certainty", "HMMT25", 68.7, 1.03, 5.92e6, 5.92e6, 13.97e6, 120, 37.2, 33.7},
    {"deepconf", "HMMT25", 74.0, 0.84, 4.83e6, 4.83e6, 11.44e6, 120, 32.8, 27.5},
    {"roe-late", "HMMT25", 71.3, 1.78, 4.88e6, 10.24e6, 13.48e6, 80, 37.5, 35.6},
    {"hyper", "HMMT25", 78.7, 0.77, 3.14e6, 4.43e6, 8.38e6, 104, 36.8, 28.4},
    {"sc", "HLE", 6.5, 1.00, 6.75e6, 6.75e6, 15.92e6, 120, 41.0, 38.4},
    {"self-certainty", "HLE", 2.5, 1.15, 7.76e6, 7.76e6, 18.31e6, 120, 43.0, 44.2},
    {"deepconf", "HLE", 11.5, 0.91, 6.14e6, 6.14e6, 14.55e6, 120, 39.2, 35.0},
    {"roe-late", "HLE", 7.0, 3.55, 10.65e6, 23.96e6, 24.86e6, 80, 47.0, 54.6},
    {"hyper", "HLE", 13.5, 0.81, 3.90e6, 5.47e6, 10.01e6, 92, 45.4, 34.9},
});

// Our suites by the paper's names of them, each with the model of its rows above.
struct SuitePlace {
  std::string_view suite;
  PaperPlace place;
};
constexpr auto kSuitePlaces = std::to_array<SuitePlace>({
    {"aime24", {"AIME24", "Qwen3-30B"}},
    {"aime25", {"AIME25", "Qwen3-30B"}},
    {"hmmt25", {"HMMT25", "Qwen3-30B"}},
    {"hle", {"HLE", "Qwen3-30B"}},
    {"gsm8k", {"GSM8K", "OLMoE"}},
    {"math500", {"MATH500", "OLMoE"}},
    {"arc-c", {"ARC-C", "OLMoE"}},
    {"arc-e", {"ARC-E", "OLMoE"}},
});

}  // namespace

PaperPlace PaperPlaceOf(std::string_view suite) {
  for (const SuitePlace& known : kSuitePlaces) {
    if (known.suite == suite) return known.place;
  }
  return kSuitePlaces.front().place;
}

std::optional<PaperAccuracy> PaperNumber(std::string_view table, std::string_view method,
                                         std::string_view place) {
  for (const PaperAccuracy& number : kNumbers) {
    if (table == number.table && method == number.method && place == number.place) return number;
  }
  return std::nullopt;
}

std::optional<PaperAccounting> PaperAccountingOf(std::string_view method, std::string_view place) {
  for (const PaperAccounting& row : kAccounting) {
    if (method == row.method && place == row.place) return row;
  }
  return std::nullopt;
}

}  // namespace hyper::eval
