#include "src/store/store.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "src/store/item_parts.h"
#include "src/store/rows.h"
#include "src/store/schema.h"

namespace hyper {
namespace {

using nlohmann::json;

constexpr const char* kNow = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

// One field of an identity: the length makes texts that hold line breaks unambiguous.
std::string Field(const std::string& name, const std::string& value) {
  return name + " " + std::to_string(value.size()) + " " + value + "\n";
}

// For people and for reading back; bytes that are no UTF-8 become U+FFFD, the identity keeps them.
std::string SettingsText(const std::map<std::string, std::string>& settings) {
  return json(settings).dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

ItemStatus ParseItemStatus(const std::string& name) {
  for (const ItemStatus status : {ItemStatus::kDone, ItemStatus::kPartial}) {
    if (name == NameOf(status)) {
      return status;
    }
  }
  return ItemStatus::kFailed;
}

// What an earlier, failed attempt at `key` has cost; nothing where a finished item is there.
struct Predecessor {
  bool finished = false;
  LostWork lost;
};

Result<Predecessor> TakePredecessor(Database& database, const ItemKey& key) {
  const Result<std::optional<Statement>> row =
      FirstRow(database,
               "SELECT i.id, i.status, i.lost_attempts, i.lost_tokens, "
               "l.generated + l.extra_routes + l.probe + l.judge + l.value, "
               "coalesce(i.lost_generated, i.lost_tokens) + l.generated, i.reason "
               "FROM items i JOIN ledgers l ON l.item = i.id "
               "WHERE i.run = ? AND i.question = ? AND i.repeat = ?",
               key.run, key.question, key.repeat);
  if (!row) {
    return row.error();
  }
  Predecessor predecessor;
  if (!*row) {
    return predecessor;
  }
  const Statement& found = **row;
  predecessor.finished = ParseItemStatus(found.Text(1)) != ItemStatus::kFailed;
  if (predecessor.finished) {
    return predecessor;
  }
  predecessor.lost.attempts =
      static_cast<int>(found.Int(2)) + (found.Text(6) == kInterrupted ? 0 : 1);
  predecessor.lost.effective_tokens = found.Int(3) + found.Int(4);
  predecessor.lost.generated_tokens = found.Int(5);
  const Status removed = RunOnce(database, "DELETE FROM items WHERE id = ?", found.Int(0));
  return removed ? Result<Predecessor>(predecessor) : removed.error();
}

}  // namespace

std::string RunIdentity(const StoredRun& run) {
  std::string identity = Field("method", run.method) + Field("suite", run.suite) +
                         Field("model", run.model) + Field("model_hash", run.model_hash) +
                         Field("engine", run.engine) + Field("version", run.version) +
                         Field("seed", std::to_string(run.seed));
  for (const auto& [name, value] : run.settings) {
    identity += Field("setting", name) + Field("value", value);
  }
  return identity;
}

Result<Store> Store::Open(const std::string& path, DatabaseMode mode) {
  Result<Database> database = Database::Open(path, mode);
  if (!database) {
    return database.error();
  }
  if (Status status = PrepareSchema(*database, mode); !status) {
    const std::string& reason = status.error().message;
    const bool named = reason.find(path) != std::string::npos;
    return Error{status.error().code, named ? reason : path + ": " + reason};
  }
  const Result<bool> lost_generated = HasLostGenerated(*database);
  if (!lost_generated) {
    return lost_generated.error();
  }
  return Store(std::move(*database), *lost_generated);
}

// In WAL mode the log is then synchronized where it goes into the database, and no more at each
// commit.
Status Store::DoNotAwaitDisk() { return database_.Execute("PRAGMA synchronous = NORMAL"); }

Result<int64_t> Store::AddRun(const StoredRun& run) {
  return FirstNumber(
      database_,
      std::string("INSERT INTO runs(identity, label, method, suite, model, model_hash, engine, "
                  "version, seed, settings, created_at) VALUES (?,?,?,?,?,?,?,?,?,?,") +
          kNow + ") ON CONFLICT(identity) DO UPDATE SET label = label RETURNING id",
      RunIdentity(run), run.label, run.method, run.suite, run.model, run.model_hash, run.engine,
      run.version, std::to_string(run.seed), SettingsText(run.settings));
}

Result<int64_t> Store::AddQuestion(const StoredQuestion& question) {
  return FirstNumber(
      database_,
      "INSERT INTO questions(suite, name, text, prompt, gold, kind, labels, \"group\") "
      "VALUES (?,?,?,?,?,?,?,?) ON CONFLICT(suite, name, prompt, kind, labels) DO UPDATE SET "
      "text = excluded.text, gold = excluded.gold, \"group\" = excluded.\"group\" RETURNING id",
      question.suite, question.name, question.text, question.prompt, question.gold, question.kind,
      question.labels, question.group);
}

Result<bool> Store::SaveItem(const StoredItem& item) {
  Result<Transaction> transaction = Transaction::Begin(database_);
  if (!transaction) {
    return transaction.error();
  }
  const Result<bool> inserted = InsertItem(item.key, item);
  if (!inserted) {
    return inserted.error();
  }
  const Status status = transaction->Commit();
  return status ? *inserted : Result<bool>(status.error());
}

Status Store::SaveItems(std::span<const NewItem> items) {
  Result<Transaction> transaction = Transaction::Begin(database_);
  if (!transaction) {
    return transaction.error();
  }
  for (const NewItem& item : items) {
    const Result<int64_t> run = AddRun(item.run);
    const Result<int64_t> question = run ? AddQuestion(item.question) : run;
    if (!question) {
      return question.error();
    }
    const Result<bool> inserted = InsertItem({*run, *question, item.item.key.repeat}, item.item);
    if (!inserted) {
      return inserted.error();
    }
  }
  return transaction->Commit();
}

Result<bool> Store::InsertItem(const ItemKey& key, const StoredItem& item) {
  const Result<Predecessor> predecessor = TakePredecessor(database_, key);
  if (!predecessor) {
    return predecessor.error();
  }
  if (predecessor->finished) {
    return false;
  }
  const Status inserted = RunOnce(
      database_,
      std::string("INSERT INTO items(run, question, repeat, status, reason, answer, vote_rule, "
                  "voting_paths, lost_attempts, lost_tokens, lost_generated, stored_at) "
                  "VALUES (?,?,?,?,?,?,?,?,?,?,?,") +
          kNow + ")",
      key.run, key.question, key.repeat, NameOf(item.status), item.reason, item.answer,
      item.vote_rule, item.voting_paths, predecessor->lost.attempts,
      predecessor->lost.effective_tokens, predecessor->lost.generated_tokens);
  if (!inserted) {
    return inserted.error();
  }
  if (Status status = InsertItemParts(database_, database_.LastInsertId(), item); !status) {
    return status.error();
  }
  return true;
}

Status Store::SaveGrade(const StoredGrade& grade) {
  Status inserted =
      RunOnce(database_,
              "INSERT OR REPLACE INTO grades(item, verdict, gold, grader, note) "
              "SELECT id, ?, ?, ?, ? FROM items WHERE run = ? AND question = ? AND repeat = ?",
              NameOf(grade.verdict), grade.gold, grade.grader, grade.note, grade.key.run,
              grade.key.question, grade.key.repeat);
  if (!inserted) {
    return inserted;
  }
  if (database_.ChangedRows() == 0) {
    return Error{ErrorCode::kNotFound, "there is no such item to grade"};
  }
  return {};
}

Result<std::vector<ItemKey>> Store::Unfinished(int64_t run, std::span<const int64_t> questions,
                                               int repeats) {
  const Result<std::vector<ItemSummary>> items = Items(run);
  if (!items) {
    return items.error();
  }
  std::set<ItemKey> finished;
  for (const ItemSummary& item : *items) {
    if (item.status != ItemStatus::kFailed) {
      finished.insert(item.key);
    }
  }
  std::vector<ItemKey> unfinished;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const int64_t question : questions) {
      const ItemKey key{run, question, repeat};
      if (finished.count(key) == 0) {
        unfinished.push_back(key);
      }
    }
  }
  return unfinished;
}

}  // namespace hyper
