// A report of studies: figures, tables, settings and the commands that make them again. All
// functions here are pure.
#pragma once

#include <string>
#include <vector>

#include "src/eval/figures/figure.h"
#include "src/eval/figures/material.h"
#include "src/eval/tables/table.h"

namespace hyper::eval {

// A figure as a report shows it.
struct ReportFigure {
  std::string number;  // in the paper; "-": not there
  std::string title;
  std::string missing;  // why there is none; then only this and the above are set
  Figure figure;
  std::string svg;      // the picture; empty: none could be drawn
  std::string picture;  // its file, for Markdown
  std::string numbers;  // the file of its numbers, for Markdown
  std::string command;  // that draws it
};

struct ReportStudy {
  std::string name;  // its file
  std::vector<ReportFigure> figures;
  std::vector<Table> tables;  // results first
  std::vector<Table> settings;
  std::vector<std::string> commands;  // that run it again
};

// One HTML page that needs no other file: several studies stand side by side, figure by figure.
// Tables are sorted by a click on a head.
std::string ReportHtml(const std::vector<ReportStudy>& studies);

// The same as Markdown; pictures are links.
std::string ReportMarkdown(const std::vector<ReportStudy>& studies);

// What the rows of a study are: a table of their names, suites, models and the settings in which
// they differ, and one of the settings that all share.
std::vector<Table> SettingsTables(const std::vector<StoredRun>& runs);

// The questions that rows answer differently: the share of right answers of each row over its
// repeats, at most 100 questions, those with the largest difference first. A row that has a
// question undecided or failed has no share there. A study with one row gives a table without
// lines.
Table DisagreementTable(const StudyMaterial& material);

}  // namespace hyper::eval
