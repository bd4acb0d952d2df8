// Stored items and their parts as flat lines of CSV: what `hyper export --csv` prints. Numbers are
// in full precision, unknown ones empty, texts quoted where they have to be. All functions are
// pure.
#pragma once

#include <string>
#include <vector>

#include "src/eval/tables/item_context.h"

namespace hyper::eval {

// Names of all settings of these runs, each once, in alphabetical order.
std::vector<std::string> SettingNames(const std::vector<StoredRun>& runs);

// The head of an export and the line of an item, each ending in a line break.
//   settings  a column each, behind the others; empty where the run has none of that name
std::string ItemCsvHead(const std::vector<std::string>& settings);
std::string ItemCsvLine(const ItemContext& context, const std::vector<std::string>& settings);

// The same of an item's paths, a line each; with a verdict on each path's own answer.
std::string PathCsvHead(const std::vector<std::string>& settings);
std::string PathCsvLine(const ItemContext& context, const StoredPath& path, StoredVerdict verdict,
                        const std::vector<std::string>& settings);

// The same of an item's decisions, a line each: scores by action, statistics as read and
// normalised.
std::string DecisionCsvHead();
std::string DecisionCsvLines(const ItemContext& context, const StoredItem& item);

// The same of the values of all series of an item, a line each, in long form. A fork has the values
// from where it left its parent; series of the whole pool have no path.
std::string SeriesCsvHead();
std::string SeriesCsvLines(const ItemContext& context, const StoredItem& item);

}  // namespace hyper::eval
