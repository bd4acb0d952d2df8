// The tables of a study by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyper/evaluation.h"
#include "src/eval/tables/table.h"
#include "src/store/store.h"

namespace hyper::app {

struct TablesRequest {
  std::vector<std::string> names;   // of TableNames
  std::vector<std::string> groups;  // only questions of these groups; empty: all
  eval::TableForm form = eval::TableForm::kTerminal;
};

// What --table takes: the built-in ones in the order of the paper, then those of plugins.
std::vector<std::string> TableNames();

// The names of the tables of plugins.
std::vector<std::string> OwnTableNames();

// Adds the table of a plugin. Errors: those of PluginRegistry::Add (hyper/plugin.h).
Status AddTable(TableSpec spec);

// The tables over the given runs, over all of the study where there are none, in the order of the
// names. Errors: those of the store and of graders and tables of plugins.
Result<std::vector<eval::Table>> MakeStudyTables(const TablesRequest& request, Store& store,
                                                 const std::vector<int64_t>& runs);

// These, rendered one after another. Errors: the same.
Result<std::string> StudyTables(const TablesRequest& request, Store& store,
                                const std::vector<int64_t>& runs);

}  // namespace hyper::app
