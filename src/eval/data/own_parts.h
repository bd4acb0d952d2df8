// The graders, suites and tables that plugins add (hyper/evaluation.h). Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/evaluation.h"
#include "src/eval/data/suite.h"

namespace hyper::eval {

// Errors: those of PluginRegistry::Add (hyper/plugin.h). The names of built-in tables are the
// program's to refuse.
Status AddGrader(GraderSpec spec);
Status AddSuite(SuiteSpec spec);
Status AddTable(TableSpec spec);

// The grader of a suite; null where the rules grade it.
std::shared_ptr<const GraderSpec> OwnGraderOf(std::string_view suite);

// Name and version of a grader, as grades hold it. Pure.
std::string GraderName(const GraderSpec& spec);

// Whether a grade with that grader's name is of a grader that was added, of any version.
bool IsOwnGrader(std::string_view grader);

std::shared_ptr<const Suite> FindOwnSuite(std::string_view name);
std::vector<std::shared_ptr<const Suite>> OwnSuites();

std::shared_ptr<const TableSpec> FindOwnTable(std::string_view name);
std::vector<std::shared_ptr<const TableSpec>> OwnTables();

// Drops all of them. For tests: what a program adds stays.
void ForgetOwnParts();

}  // namespace hyper::eval
