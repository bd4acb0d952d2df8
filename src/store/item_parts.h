// Writing and reading the rows that belong to one item; both sides of the tables stand together.
#pragma once

#include <cstdint>

#include "hyper/result.h"
#include "src/store/records.h"
#include "src/store/sqlite.h"

namespace hyper {

// Inserts everything of `item` except its row in `items`, which has the number `id`.
// Call inside a transaction.
Status InsertItemParts(Database& database, int64_t id, const StoredItem& item);

// Fills everything of `item` except the columns of `items`.
Status LoadItemParts(Database& database, int64_t id, StoredItem& item);

// The columns of a ledger in the order in which ReadLedger takes them, each with the prefix "l.".
extern const char* const kLedgerColumns;
Ledger ReadLedger(const Statement& row, int first_column);
inline constexpr int kLedgerColumnCount = 18;

}  // namespace hyper
