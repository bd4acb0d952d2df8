// What figures are made of: everything that a study holds, read once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/eval/figures/estimate.h"
#include "src/eval/metrics/study_samples.h"
#include "src/eval/metrics/study_summary.h"
#include "src/store/store.h"

namespace hyper::eval {

// Places along a path at which its confidence is kept.
inline constexpr int kCurvePlaces = 20;

struct MaterialItem {
  size_t question = 0;                                // its place in StudyMaterial::questions
  StoredItem item;                                    // without texts of paths and without series
  StoredVerdict verdict = StoredVerdict::kNotGraded;  // of its answer
  std::vector<StoredVerdict> path_verdicts;           // of each path's answer, by place
  // Each path's confidence at kCurvePlaces normalised positions; empty where it is not stored.
  std::vector<std::vector<double>> curves;
};

// A row of a study. Questions that lack a repeat or have a failed one are left out.
struct RunMaterial {
  RunSummary summary;
  int repeats = 0;
  std::vector<SampleCounts> samples;  // of the items below
  std::vector<MaterialItem> items;    // by question, then repeat

  const StoredRun& run() const { return summary.run; }
};

struct StudyMaterial {
  std::vector<StoredQuestion> questions;
  std::vector<RunMaterial> runs;  // those with a whole question
};

// Reads a study: the questions that `options` choose.
// Errors: those of the store, kNotFound (no row has a whole question).
Result<StudyMaterial> LoadMaterial(Store& store, const SummaryOptions& options = {});

// Means of `values` over `places` stretches of equal length, the first at the start; a stretch that
// is shorter than a token takes the token it begins in. NaN where nothing in it is finite. Pure, as
// all below.
std::vector<double> NormalisedCurve(std::span<const float> values, int places);

// A path that answered the question and came to its end by itself or at its limit.
bool IsComplete(const StoredPath& path);

// Whether all paths of a row are complete and were decoded from the prompt on, equally many (at
// least two) for each item: any k of them are what self-consistency of width k would have drawn.
bool HasIndependentPaths(const RunMaterial& run);

// Among the rows that `wanted` says yes to, the first of each method, at most `most`.
std::vector<const RunMaterial*> FirstOfMethods(const StudyMaterial& material, size_t most,
                                               bool (*wanted)(const RunMaterial&));

}  // namespace hyper::eval
