// What the figures share: choosing rows, points with errors, words. All functions here are pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/eval/figures/figure.h"
#include "src/eval/figures/material.h"

namespace hyper::eval {

inline constexpr double kToPercent = 100;
inline constexpr const char* kPathsAxis = "number of paths";
inline constexpr const char* kAccuracyAxis = "accuracy (%)";

// Most rows that a figure gives a panel each.
inline constexpr size_t kMostPanels = 4;

// Why a figure is not drawn: what the study lacks, and how to record it.
Error NotInStudy(const std::string& reason);

// A point with the error of its estimate.
FigurePoint PointOf(double x, const Estimate& estimate);

// The estimate over the items of a row, by question and repeat.
//   add  adds an item's values
Estimate EstimateItems(const RunMaterial& run,
                       const std::function<void(const MaterialItem&, ValueSum&)>& add);

// The mean of `value` over all paths of a row for which it is finite.
//   value  of an item and the place of a path in it
Estimate EstimatePaths(const RunMaterial& run,
                       const std::function<double(const MaterialItem&, size_t)>& value);

// "61.2": one decimal; "-" for what is not finite.
std::string Short(double value);

// An option of a row; empty where it has none.
std::string OptionOf(const StoredRun& run, const std::string& name);

// What tells two runs apart: names of options, "method", "suite", "model", "engine", "version",
// "seed". The reservation, which follows from the options, is left out.
std::vector<std::string> Differences(const StoredRun& a, const StoredRun& b);

// The rows of independent paths (HasIndependentPaths), each pool of paths once: a row whose paths
// are all in another row's too is left out.
std::vector<const RunMaterial*> IndependentRows(const StudyMaterial& material);

}  // namespace hyper::eval
