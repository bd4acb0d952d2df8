// Writing and reading the rows that belong to one item; both sides of the tables stand together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hyper/result.h"
#include "src/store/records.h"
#include "src/store/sqlite.h"

namespace hyper {

// The value of that name. Errors: kDataLoss where there is none.
template <class Enum>
Status ParseName(const std::string& name, Enum& value) {
  if (const std::optional<Enum> found = ValueOf<Enum>(name)) {
    value = *found;
    return {};
  }
  return Error{ErrorCode::kDataLoss, "the study holds the unknown name '" + name + "'"};
}

// Inserts everything of `item` except its row in `items`, which has the number `id`.
// Call inside a transaction.
Status InsertItemParts(Database& database, int64_t id, const StoredItem& item);

// Fills everything of `item` except the columns of `items`.
Status LoadItemParts(Database& database, int64_t id, StoredItem& item);

// The settings of a run, from their column; nothing where that is broken.
std::optional<std::map<std::string, std::string>> ReadSettings(const std::string& text);

// The columns of a ledger in the order in which ReadLedger takes them, each with the prefix "l.".
extern const char* const kLedgerColumns;
Ledger ReadLedger(const Statement& row, int first_column);
inline constexpr int kLedgerColumnCount = 18;

}  // namespace hyper
