// The figures that a study can give. Each is one pure function of what the study holds.
#pragma once

#include <span>
#include <string>

#include "src/eval/figures/figure.h"
#include "src/eval/figures/material.h"

namespace hyper::eval {

struct FigureSpec {
  const char* number;  // in the paper; "-": not there
  const char* name;
  const char* title;
  Result<Figure> (*make)(const StudyMaterial&);
};

// All figures, those of the paper first.
std::span<const FigureSpec> FigureSpecs();

// The figure of a number or name; null where there is none. Pure.
const FigureSpec* FindFigure(const std::string& name);

// A figure with its name ("fig01-paths", "roc"), title and notes.
// Errors: kNotFound, the study lacks what it shows; the message says what. Pure, as all below.
Result<Figure> MakeFigure(const FigureSpec& spec, const StudyMaterial& material);

// Figure 1: probability that a right path is among k (pass@k), and accuracy of the majority of k
// (maj@k), both estimated without bias from all paths of each question.
Result<Figure> PathsFigure(const StudyMaterial& material);

// Figure 2: mean confidence of right and of wrong paths along their normalised length.
Result<Figure> DivergenceFigure(const StudyMaterial& material);

// Figure 3: answers of questions where a right path was outvoted, in the row where this happened
// most often, and how many of these cases each vote rule would have saved.
Result<Figure> FailuresFigure(const StudyMaterial& material);

// Figure 4: how many of the long paths are wrong, before pruning and among the survivors.
Result<Figure> LongWrongFigure(const StudyMaterial& material);

// Figure 5: mean confidence against mean diversity of each answer, in rows that allow one action
// alone.
Result<Figure> IsolatedFigure(const StudyMaterial& material);

// Figure 7: lengths of right and wrong paths before pruning and of those that survive it.
Result<Figure> LengthsFigure(const StudyMaterial& material);

// Figure 8: accuracy of each row against its effective tokens, with the frontier.
Result<Figure> BudgetFigure(const StudyMaterial& material);

// Figure 9: decisions along an answer, on an easy and on a hard question.
Result<Figure> TracesFigure(const StudyMaterial& material);

// Figure 10: how often each action changed the pool, by suite and group of questions.
Result<Figure> ActionsFigure(const StudyMaterial& material);

// Figure 11: confidence along paths, and diversity along the decisions, of rows that refine tokens
// by two-pass sampling, by independent draws (RoE), and not at all.
Result<Figure> RefinementFigure(const StudyMaterial& material);

// Figure 12: accuracy and tokens over the values of an option, among rows that differ in it alone.
Result<Figure> SensitivityFigure(const StudyMaterial& material);

// What each action changed in right answers and in tokens, beside None at the same states: rows
// with force-decision and force-action. States that an action left as they were are not counted.
Result<Figure> WorthFigure(const StudyMaterial& material);

// Figure 13: mean lengths of right and of wrong paths by suite, group and temperature.
Result<Figure> LengthBiasFigure(const StudyMaterial& material);

// Effective tokens per question by what they were spent on.
Result<Figure> TokensFigure(const StudyMaterial& material);

// Effective tokens for which each method reaches an accuracy.
Result<Figure> TargetFigure(const StudyMaterial& material);

// How many answers no longer change from a share of the longest path's length on, where paths run
// side by side.
Result<Figure> SettledFigure(const StudyMaterial& material);

// Accuracy of answers by the share of the vote that they won with.
Result<Figure> ReliabilityFigure(const StudyMaterial& material);

// ROC curves of confidences and length as signals of right paths.
Result<Figure> RocFigure(const StudyMaterial& material);

}  // namespace hyper::eval
