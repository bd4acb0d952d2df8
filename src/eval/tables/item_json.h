// A stored item as JSON: what `hyper export` and `hyper inspect --json` print (docs/evaluation.md).
#pragma once

#include "src/eval/tables/item_context.h"
#include "src/report/json.h"

namespace hyper::eval {

// One object: run, question, repeat, status, answer, grade, votes, paths, decisions, ledger and
// times; with `series` the per-token series of each path too. Members have the names and meanings
// of docs/json.md. Pure.
Json ItemJson(const ItemContext& context, const StoredItem& item, bool series);

}  // namespace hyper::eval
