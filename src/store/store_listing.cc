// Lists over all runs of a file, and what makes room in it.
#include <string>
#include <utility>

#include "src/store/rows.h"
#include "src/store/store.h"

namespace hyper {
namespace {

std::string Selected(const char* rest) {
  return std::string(
             "SELECT i.id, i.run, i.question, i.repeat, q.suite, q.name, q.text, r.method, "
             "i.status, i.answer, l.generated, l.lanes_opened, "
             "CAST(strftime('%s', i.stored_at) AS INTEGER), i.reason FROM items i "
             "JOIN questions q ON q.id = i.question JOIN runs r ON r.id = i.run "
             "JOIN ledgers l ON l.item = i.id ") +
         rest;
}

ListedItem ReadListed(const Statement& row) {
  ListedItem item;
  item.item = row.Int(0);
  item.key = {row.Int(1), row.Int(2), static_cast<int>(row.Int(3))};
  item.suite = row.Text(4);
  item.name = row.Text(5);
  item.text = row.Text(6);
  item.method = row.Text(7);
  const std::string status = row.Text(8);
  item.status = status == NameOf(ItemStatus::kDone)      ? ItemStatus::kDone
                : status == NameOf(ItemStatus::kPartial) ? ItemStatus::kPartial
                                                         : ItemStatus::kFailed;
  item.answer = row.OptionalText(9);
  item.generated = row.Int(10);
  item.paths = static_cast<int>(row.Int(11));
  item.stored_at = row.Int(12);
  item.reason = row.Text(13);
  return item;
}

Result<std::optional<ListedItem>> Read(const Result<std::optional<Statement>>& row) {
  if (!row) {
    return row.error();
  }
  return *row ? std::optional(ReadListed(**row)) : std::nullopt;
}

}  // namespace

Result<std::vector<ListedItem>> Store::Newest(int count) {
  Result<Statement> rows = database_.Prepare(Selected("ORDER BY i.id DESC LIMIT ?"));
  if (!rows) {
    return rows.error();
  }
  rows->Bind(count);
  std::vector<ListedItem> items;
  const Status status = rows->ForEach([&](const Statement& row) -> Status {
    items.push_back(ReadListed(row));
    return {};
  });
  if (!status) {
    return status.error();
  }
  return items;
}

Result<std::optional<ListedItem>> Store::FindItem(int64_t item) {
  return Read(FirstRow(database_, Selected("WHERE i.id = ?"), item));
}

Result<std::optional<ListedItem>> Store::FindItem(const std::string& suite,
                                                  const std::string& name) {
  return Read(FirstRow(database_,
                       Selected("WHERE q.suite = ? AND q.name = ? ORDER BY i.id DESC LIMIT 1"),
                       suite, name));
}

Result<int> Store::Prune(const std::string& suite, int64_t most, double most_age_s) {
  Result<Transaction> transaction = Transaction::Begin(database_);
  if (!transaction) {
    return transaction.error();
  }
  const Status surplus =
      RunOnce(database_,
              "DELETE FROM items WHERE id IN (SELECT i.id FROM items i JOIN questions q "
              "ON q.id = i.question WHERE q.suite = ? ORDER BY i.id DESC LIMIT -1 OFFSET ?)",
              suite, most);
  if (!surplus) {
    return surplus.error();
  }
  int dropped = database_.ChangedRows();
  if (most_age_s > 0) {
    const Status old =
        RunOnce(database_,
                "DELETE FROM items WHERE id IN (SELECT i.id FROM items i JOIN questions q "
                "ON q.id = i.question WHERE q.suite = ? AND "
                "(julianday('now') - julianday(i.stored_at)) * 86400.0 > ?)",
                suite, most_age_s);
    if (!old) {
      return old.error();
    }
    dropped += database_.ChangedRows();
  }
  if (dropped == 0) {
    return 0;
  }
  for (const char* orphans :
       {"DELETE FROM questions WHERE suite = ? AND id NOT IN (SELECT question FROM items)",
        "DELETE FROM runs WHERE suite = ? AND id NOT IN (SELECT run FROM items)"}) {
    if (Status status = RunOnce(database_, orphans, suite); !status) {
      return status.error();
    }
  }
  if (Status status = transaction->Commit(); !status) {
    return status.error();
  }
  return dropped;
}

}  // namespace hyper
