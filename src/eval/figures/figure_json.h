// A figure as JSON, for the page.
#pragma once

#include "src/eval/figures/figure.h"
#include "src/eval/figures/figure_list.h"
#include "src/report/json.h"

namespace hyper::eval {

// {"number", "name", "title", "finding", "notes", "csv", "panels"}, with the CSV of FigureCsv and
// each panel's axes, categories and series of points. Numbers that are not known are null. A figure
// that the study cannot give: {"number", "name", "title", "missing": the reason}. Pure.
Json FigureJson(const FigureSpec& spec, const Result<Figure>& figure);

}  // namespace hyper::eval
