// A stored item as JSON: what `hyper export` and `hyper inspect --json` print (docs/evaluation.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/report/json.h"
#include "src/store/store.h"

namespace hyper::eval {

// An item with what it belongs to.
struct ItemContext {
  const StoredRun& run;
  const StoredQuestion& question;
  const ItemSummary& summary;
};

// One object: run, question, repeat, status, answer, grade, votes, paths, decisions, ledger and
// times; with `series` the per-token series of each path too. Members have the names and meanings
// of docs/json.md. Pure.
Json ItemJson(const ItemContext& context, const StoredItem& item, bool series);

// The head of a CSV export and the line of an item, each ending in a line break: one flat line per
// item, numbers in full precision, unknown ones empty, texts quoted where they have to be. Pure.
std::string CsvHead();
std::string CsvLine(const ItemContext& context);

}  // namespace hyper::eval
