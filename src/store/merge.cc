#include "src/store/merge.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "src/store/rows.h"
#include "src/store/schema.h"

namespace hyper {
namespace {

// Tables whose first column is the item that a row belongs to.
constexpr std::array kItemTables = {"ledgers",     "warmups", "paths",   "series",  "decisions",
                                    "refinements", "votes",   "tallies", "notices", "grades"};

// What two finished attempts at an item must have in common: the same paths and the same answer.
// Times are not compared.
constexpr const char* kOtherAnswer =
    "SELECT o.id FROM other.items o JOIN items m ON m.id = ? WHERE o.id = ? AND "
    "(o.answer IS NOT m.answer OR o.vote_rule != m.vote_rule OR EXISTS ("
    "SELECT path, parent, key, tokens, text, answer FROM other.paths WHERE item = o.id EXCEPT "
    "SELECT path, parent, key, tokens, text, answer FROM main.paths WHERE item = m.id) OR "
    "(SELECT count(*) FROM other.paths WHERE item = o.id) != "
    "(SELECT count(*) FROM main.paths WHERE item = m.id))";

// As SQL: the settings of `row` that `other` has not, as "one with name=value name=value".
std::string OwnSettings(const std::string& row, const std::string& other) {
  return "'one with ' || coalesce((SELECT group_concat(e.key || '=' || e.value, ' ') FROM "
         "json_each(" +
         row + ".settings) e WHERE NOT EXISTS (SELECT 1 FROM json_each(" + other +
         ".settings) f WHERE f.key = e.key AND f.value IS e.value)), 'fewer settings')";
}

// An item of the study that is being read, and the one of the target that has its place.
struct MergedItem {
  int64_t from = 0;
  int64_t run = 0;       // in the target
  int64_t question = 0;  // in the target
  bool failed = false;
  std::optional<int64_t> there;
  bool there_failed = false;
  std::string words;  // "row sc, question q1, repeat 0"
  std::string origin;
};

class Merger {
 public:
  Merger(Database& database, MergeReport& report) : database_(database), report_(report) {}

  Status Prepare() {
    return database_.Execute(
        "CREATE TEMP TABLE run_origins(id INTEGER PRIMARY KEY, source TEXT); "
        "CREATE TEMP TABLE question_origins(id INTEGER PRIMARY KEY, source TEXT); "
        "CREATE TEMP TABLE item_origins(id INTEGER PRIMARY KEY, source TEXT)");
  }

  Status Add(const std::string& source) {
    source_ = source;
    Status status = RunOnce(database_, "ATTACH ? AS other", source);
    if (!status) {
      return status;
    }
    status = AddAttached();
    const Status detached = database_.Execute("DETACH other");
    return status ? detached : status;
  }

 private:
  Status AddAttached() {
    Result<Transaction> transaction = Transaction::Begin(database_);
    if (!transaction) {
      return transaction.error();
    }
    for (const auto step : {&Merger::AddRuns, &Merger::AddQuestions, &Merger::AddItems}) {
      if (Status status = (this->*step)(); !status) {
        return status;
      }
    }
    return transaction->Commit();
  }

  // The first row of `sql`, whose columns are texts, as an error of two sides; nothing where there
  // is none.
  Status RefuseRow(const char* sql, const char* what, const char* remedy) {
    const Result<std::optional<Statement>> row = FirstRow(database_, sql);
    if (!row || !*row) {
      return row ? Status() : Status(row.error());
    }
    const Statement& found = **row;
    return InvalidArgument(what + (" " + found.Text(0)) + " is " + found.Text(1) + " in " +
                           found.Text(3) + " and " + found.Text(2) + " in " + source_ + "; " +
                           remedy);
  }

  Status AddRuns() {
    const std::string sql = "SELECT m.label, " + OwnSettings("m", "o") + ", " +
                            OwnSettings("o", "m") +
                            ", g.source FROM other.runs o JOIN main.runs m USING(label, method, "
                            "suite, model, model_hash, engine, version, seed) JOIN run_origins g "
                            "ON g.id = m.id WHERE o.identity != m.identity "
                            "AND o.identity NOT IN (SELECT identity FROM main.runs)";
    Status status = RefuseRow(sql.c_str(), "the row", "only equal rows become one");
    if (!status) {
      return status;
    }
    status = database_.Execute(
        "INSERT INTO main.runs(identity, label, method, suite, model, model_hash, engine, version, "
        "seed, settings, created_at) SELECT identity, label, method, suite, model, model_hash, "
        "engine, version, seed, settings, created_at FROM other.runs "
        "WHERE identity NOT IN (SELECT identity FROM main.runs) ORDER BY id");
    return status ? NoteOrigins("run_origins", "runs") : status;
  }

  Status AddQuestions() {
    constexpr const char* kSameQuestion =
        "FROM other.questions o JOIN main.questions m USING(suite, name, prompt, kind, labels) ";
    Status status = RefuseRow(
        (std::string("SELECT m.suite || '/' || m.name, 'with gold ' || m.gold || ', group ' || "
                     "m.\"group\", 'with ' || o.gold || ', ' || o.\"group\", g.source ") +
         kSameQuestion +
         "JOIN question_origins g ON g.id = m.id WHERE o.gold != m.gold OR o.\"group\" != "
         "m.\"group\"")
            .c_str(),
        "the question", "correct one of them");
    if (!status) {
      return status;
    }
    status = database_.Execute(
        "INSERT INTO main.questions(suite, name, text, prompt, gold, kind, labels, \"group\") "
        "SELECT suite, name, text, prompt, gold, kind, labels, \"group\" FROM other.questions o "
        "WHERE NOT EXISTS (SELECT 1 FROM main.questions m WHERE m.suite = o.suite AND m.name = "
        "o.name AND m.prompt = o.prompt AND m.kind = o.kind AND m.labels = o.labels) ORDER BY id");
    return status ? NoteOrigins("question_origins", "questions") : status;
  }

  Status NoteOrigins(const std::string& origins, const std::string& table) {
    return RunOnce(database_,
                   "INSERT INTO " + origins + " SELECT id, ? FROM main." + table +
                       " WHERE id NOT IN (SELECT id FROM " + origins + ")",
                   source_);
  }

  Result<std::vector<MergedItem>> ItemsOfOther() {
    Result<Statement> rows = database_.Prepare(
        "SELECT o.id, r.id, q.id, o.status = 'failed', m.id, m.status = 'failed', "
        "'row ' || r.label || ', question ' || q.name || ', repeat ' || o.repeat, g.source "
        "FROM other.items o JOIN other.runs orun ON orun.id = o.run "
        "JOIN main.runs r ON r.identity = orun.identity "
        "JOIN other.questions oq ON oq.id = o.question "
        "JOIN main.questions q ON q.suite = oq.suite AND q.name = oq.name AND q.prompt = oq.prompt "
        "AND q.kind = oq.kind AND q.labels = oq.labels "
        "LEFT JOIN main.items m ON m.run = r.id AND m.question = q.id AND m.repeat = o.repeat "
        "LEFT JOIN item_origins g ON g.id = m.id ORDER BY o.id");
    if (!rows) {
      return rows.error();
    }
    std::vector<MergedItem> items;
    const Status status = rows->ForEach([&](const Statement& row) -> Status {
      MergedItem item{row.Int(0), row.Int(1), row.Int(2),  row.Int(3) != 0,
                      {},         false,      row.Text(6), row.Text(7)};
      if (!row.IsNull(4)) {
        item.there = row.Int(4);
        item.there_failed = row.Int(5) != 0;
      }
      items.push_back(std::move(item));
      return {};
    });
    if (!status) {
      return status.error();
    }
    return items;
  }

  Status AddItems() {
    const Result<std::vector<MergedItem>> items = ItemsOfOther();
    if (!items) {
      return items.error();
    }
    for (const MergedItem& item : *items) {
      Status status = item.there ? Settle(item) : Copy(item);
      if (!status) {
        return status;
      }
    }
    return {};
  }

  // An item that the target has already.
  Status Settle(const MergedItem& item) {
    ++report_.repeated;
    if (!item.failed && !item.there_failed) {
      const Result<std::optional<Statement>> differs =
          FirstRow(database_, kOtherAnswer, *item.there, item.from);
      if (!differs) {
        return differs.error();
      }
      return *differs ? InvalidArgument(item.words + ": " + item.origin + " and " + source_ +
                                        " have different answers or paths; leave one out")
                      : Status();
    }
    // The failed attempt is lost work of the other one.
    const char* study = item.failed ? "other" : "main";
    const Result<Lost> lost = LostIn(study, item.failed ? item.from : *item.there);
    if (!lost) {
      return lost.error();
    }
    if (item.failed) {
      return AddLost(*item.there, *lost);
    }
    Status status =
        database_.Execute("DELETE FROM main.items WHERE id = " + std::to_string(*item.there));
    if (status.ok()) {
      --report_.items;
      status = Copy(item);
    }
    return status ? AddLost(database_.LastInsertId(), *lost) : status;
  }

  struct Lost {
    int64_t attempts = 0;
    int64_t effective = 0;
    int64_t generated = 0;
  };

  // What a failed item of a study has cost, its own lost attempts included.
  Result<Lost> LostIn(const std::string& study, int64_t item) {
    const Result<std::optional<Statement>> cost = FirstRow(
        database_,
        "SELECT f.lost_attempts + 1, f.lost_tokens + l.generated + l.extra_routes + l.probe + "
        "l.judge + l.value, coalesce(f.lost_generated, f.lost_tokens) + l.generated FROM " +
            study + ".items f JOIN " + study + ".ledgers l ON l.item = f.id WHERE f.id = ?",
        item);
    if (!cost) {
      return cost.error();
    }
    return *cost ? Lost{(*cost)->Int(0), (*cost)->Int(1), (*cost)->Int(2)} : Lost{};
  }

  Status AddLost(int64_t item, const Lost& lost) {
    return RunOnce(
        database_,
        "UPDATE main.items SET lost_attempts = lost_attempts + ?, lost_tokens = lost_tokens + ?, "
        "lost_generated = coalesce(lost_generated, lost_tokens) + ? WHERE id = ?",
        lost.attempts, lost.effective, lost.generated, item);
  }

  // Copies an item with all that belongs to it. LastInsertId is then its number.
  Status Copy(const MergedItem& item) {
    const Status inserted = RunOnce(
        database_,
        "INSERT INTO main.items(run, question, repeat, status, reason, answer, vote_rule, "
        "voting_paths, lost_attempts, lost_tokens, lost_generated, stored_at) "
        "SELECT ?, ?, repeat, status, reason, answer, vote_rule, voting_paths, lost_attempts, "
        "lost_tokens, lost_generated, stored_at FROM other.items WHERE id = ?",
        item.run, item.question, item.from);
    if (!inserted) {
      return inserted;
    }
    ++report_.items;
    const int64_t id = database_.LastInsertId();
    for (const char* table : kItemTables) {
      if (Status status = CopyRows(table, item.from, id); !status) {
        return status;
      }
    }
    // Last of all, so that the number of the new row is the item's.
    return RunOnce(database_, "INSERT INTO item_origins VALUES (?, ?)", id, source_);
  }

  Status CopyRows(const std::string& table, int64_t from, int64_t to) {
    const Result<std::optional<Statement>> row =
        FirstRow(database_,
                 "SELECT group_concat('\"' || name || '\"') FROM (SELECT name FROM "
                 "pragma_table_info(?, 'main') WHERE name != 'item' ORDER BY cid)",
                 table);
    if (!row || !*row) {
      return row ? Status() : Status(row.error());
    }
    const std::string columns = (*row)->Text(0);
    return RunOnce(database_,
                   "INSERT INTO main." + table + "(item, " + columns + ") SELECT ?, " + columns +
                       " FROM other." + table + " WHERE item = ? ORDER BY rowid",
                   to, from);
  }

  Database& database_;
  MergeReport& report_;
  std::string source_;
};

Result<int64_t> CountRows(Database& database, const std::string& table) {
  return FirstNumber(database, "SELECT count(*) FROM " + table);
}

Result<MergeReport> MergeAll(const std::vector<std::string>& sources, const std::string& target) {
  Result<Database> database = Database::Open(target, DatabaseMode::kCreate);
  if (!database) {
    return database.error();
  }
  if (Status status = PrepareSchema(*database, DatabaseMode::kCreate); !status) {
    return status.error();
  }
  MergeReport report;
  Merger merger(*database, report);
  if (Status status = merger.Prepare(); !status) {
    return status.error();
  }
  for (const std::string& source : sources) {
    if (Status status = merger.Add(source); !status) {
      return status.error();
    }
  }
  const Result<int64_t> runs = CountRows(*database, "runs");
  const Result<int64_t> questions = CountRows(*database, "questions");
  if (!runs || !questions) {
    return runs ? questions.error() : runs.error();
  }
  report.runs = *runs;
  report.questions = *questions;
  return report;
}

// Opens a study once, so that it is whole and of this version: the column that old files lack is
// added.
Status CheckSource(const std::string& source) {
  Result<Database> database = Database::Open(source, DatabaseMode::kReadOnly);
  if (!database) {
    return database.error();
  }
  Status status = PrepareSchema(*database, DatabaseMode::kReadOnly);
  if (!status) {
    return Error{status.error().code, source + ": " + status.error().message};
  }
  const Result<bool> complete = HasLostGenerated(*database);
  if (!complete) {
    return complete.error();
  }
  return *complete ? Status()
                   : Status(InvalidArgument(source + " is of an earlier program; open it with "
                                                     "hyper grade once, which brings it up to "
                                                     "date"));
}

}  // namespace

Result<MergeReport> MergeStudies(const std::vector<std::string>& sources,
                                 const std::string& target) {
  std::error_code ignored;
  if (std::filesystem::exists(target, ignored)) {
    return InvalidArgument(target + " exists; name a new file for the merged study");
  }
  for (const std::string& source : sources) {
    if (Status status = CheckSource(source); !status) {
      return status.error();
    }
  }
  Result<MergeReport> report = MergeAll(sources, target);
  if (!report) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(target + suffix, ignored);
    }
  }
  return report;
}

}  // namespace hyper
