// Lists over all runs of a file, and what makes room in it.
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "src/store/item_parts.h"
#include "src/store/rows.h"
#include "src/store/store.h"

namespace hyper {
namespace {

std::string Selected(const char* rest) {
  return std::string(
             "SELECT i.id, i.run, i.question, i.repeat, q.suite, q.name, q.text, r.method, "
             "i.status, i.answer, l.generated, l.lanes_opened, "
             "CAST(strftime('%s', i.stored_at) AS INTEGER), i.reason, r.seed, r.settings, l.wall_s "
             "FROM items i "
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
  item.seed = std::strtoull(row.Text(14).c_str(), nullptr, 10);
  item.settings = ReadSettings(row.Text(15)).value_or(std::map<std::string, std::string>());
  item.wall_s = row.Double(16);
  return item;
}

Result<std::optional<ListedItem>> Read(const Result<std::optional<Statement>>& row) {
  if (!row) {
    return row.error();
  }
  return *row ? std::optional(ReadListed(**row)) : std::nullopt;
}

template <class... Values>
Result<std::vector<ListedItem>> ReadMany(Database& database, const char* rest,
                                         const Values&... values) {
  Result<Statement> rows = database.Prepare(Selected(rest));
  if (!rows) {
    return rows.error();
  }
  rows->BindAll(values...);
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

// What only dropped items of the suite had.
Status DropOrphans(Database& database, const std::string& suite) {
  for (const char* orphans :
       {"DELETE FROM questions WHERE suite = ? AND id NOT IN (SELECT question FROM items)",
        "DELETE FROM runs WHERE suite = ? AND id NOT IN (SELECT run FROM items)"}) {
    if (Status status = RunOnce(database, orphans, suite); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ListedItem>> Store::Newest(int count) {
  return ReadMany(database_, "ORDER BY i.id DESC LIMIT ?", count);
}

Result<std::vector<ListedItem>> Store::Newest(int count, const std::string& setting,
                                              const std::string& value) {
  return ReadMany(database_,
                  "WHERE EXISTS (SELECT 1 FROM json_each(r.settings) s WHERE s.key = ? AND "
                  "s.value = ?) ORDER BY i.id DESC LIMIT ?",
                  setting, value, count);
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

Result<uint64_t> Store::Fingerprint(const std::string& left_out_suite) {
  Result<Statement> rows = database_.Prepare(
      "SELECT i.id, i.stored_at, q.gold, q.\"group\", r.label, coalesce(g.verdict, ''), "
      "coalesce(g.gold, ''), coalesce(g.grader, '') FROM items i "
      "JOIN questions q ON q.id = i.question JOIN runs r ON r.id = i.run "
      "LEFT JOIN grades g ON g.item = i.id WHERE r.suite != ? ORDER BY i.id");
  if (!rows) {
    return rows.error();
  }
  rows->BindAll(left_out_suite);
  // Fowler, Noll and Vo's, 1a; each text ends with a byte that none has.
  constexpr uint64_t kPrime = 1099511628211ULL;
  uint64_t hash = 14695981039346656037ULL;
  const Status status = rows->ForEach([&hash](const Statement& row) -> Status {
    constexpr int kColumns = 8;
    for (int column = 0; column < kColumns; ++column) {
      for (const char c : row.Text(column) + '\xFF') {
        hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
      }
    }
    return {};
  });
  return status ? Result<uint64_t>(hash) : Result<uint64_t>(status.error());
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
  if (Status status = DropOrphans(database_, suite); !status) {
    return status.error();
  }
  if (Status status = transaction->Commit(); !status) {
    return status.error();
  }
  return dropped;
}

Result<bool> Store::DropItem(const std::string& suite, const std::string& name) {
  Result<Transaction> transaction = Transaction::Begin(database_);
  if (!transaction) {
    return transaction.error();
  }
  Status status = RunOnce(database_,
                          "DELETE FROM items WHERE question IN (SELECT id FROM questions "
                          "WHERE suite = ? AND name = ?)",
                          suite, name);
  const bool dropped = status.ok() && database_.ChangedRows() > 0;
  if (status) {
    status = DropOrphans(database_, suite);
  }
  if (status) {
    status = transaction->Commit();
  }
  return status ? Result<bool>(dropped) : Result<bool>(status.error());
}

}  // namespace hyper
