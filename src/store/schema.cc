#include "src/store/schema.h"

#include <string>

#include "hyper/records.h"
#include "src/store/rows.h"

namespace hyper {
namespace {

constexpr int kApplicationId = 0x48795045;  // "HyPE", in the header of every study file

// The columns of the statistics, which appear twice in a decision: raw and normalised by X_max.
std::string StatisticsColumns(const std::string& prefix) {
  std::string columns;
  const PoolStatistics any;
  PoolStatistics::ForEach(
      any, [&](const char* name, double) { columns += prefix + "_" + name + " REAL, "; });
  return columns;
}

// Computed where it is read, so that no row can contradict its own lanes.
constexpr const char* kActedColumn =
    "acted INTEGER GENERATED ALWAYS AS (lanes_after > paths_before) VIRTUAL";

std::string WarmupsTable() {
  std::string columns;
  const MaxStatistics any;
  MaxStatistics::ForEach(any, [&](const char* name, const Maximum&) {
    const std::string column = std::string(", max_") + name;
    columns += column + " REAL" + column + "_position INTEGER" + column + "_paths INTEGER";
  });
  return "CREATE TABLE warmups("
         "item INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE, threshold REAL" +
         columns + ")";
}

std::string DecisionsTable() {
  return "CREATE TABLE decisions("
         "item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, step INTEGER NOT NULL, "
         "position INTEGER NOT NULL, action TEXT NOT NULL, expansion INTEGER NOT NULL, "
         "paths_before INTEGER NOT NULL, paths_after INTEGER NOT NULL, "
         "lanes_after INTEGER NOT NULL, note TEXT NOT NULL, " +
         StatisticsColumns("raw") + StatisticsColumns("normalised") +
         "score_none REAL, score_single_token REAL, score_multi_token REAL, score_branch REAL, "
         "allowed INTEGER NOT NULL, " +
         kActedColumn + ", UNIQUE(item, step))";
}

constexpr const char* kTables[] = {
    R"(CREATE TABLE runs(
         id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, label TEXT NOT NULL,
         method TEXT NOT NULL, suite TEXT NOT NULL, model TEXT NOT NULL, model_hash TEXT NOT NULL,
         engine TEXT NOT NULL, version TEXT NOT NULL, seed TEXT NOT NULL, settings TEXT NOT NULL,
         created_at TEXT NOT NULL))",
    R"(CREATE TABLE questions(
         id INTEGER PRIMARY KEY, suite TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
         prompt TEXT NOT NULL, gold TEXT NOT NULL, kind TEXT NOT NULL, labels TEXT NOT NULL,
         "group" TEXT NOT NULL, UNIQUE(suite, name, prompt, kind, labels)))",
    R"(CREATE TABLE items(
         id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(id),
         question INTEGER NOT NULL REFERENCES questions(id), repeat INTEGER NOT NULL,
         status TEXT NOT NULL, reason TEXT NOT NULL, answer TEXT, vote_rule TEXT NOT NULL,
         voting_paths INTEGER NOT NULL, lost_attempts INTEGER NOT NULL,
         lost_tokens INTEGER NOT NULL, lost_generated INTEGER, stored_at TEXT NOT NULL,
         UNIQUE(run, question, repeat)))",
    R"(CREATE TABLE ledgers(
         item INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE,
         generated INTEGER NOT NULL, refined INTEGER NOT NULL, extra_routes INTEGER NOT NULL,
         prefilled INTEGER NOT NULL, recomputed INTEGER NOT NULL, probe INTEGER NOT NULL,
         judge INTEGER NOT NULL, value INTEGER NOT NULL, lanes_opened INTEGER NOT NULL,
         lanes_peak INTEGER NOT NULL, positions INTEGER NOT NULL, cells_peak INTEGER NOT NULL,
         bytes_per_cell REAL, stalls INTEGER NOT NULL, wall_s REAL, engine_s REAL, sampler_s REAL,
         statistics_s REAL))",
    R"(CREATE TABLE paths(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, path INTEGER NOT NULL,
         parent INTEGER NOT NULL, fork_position INTEGER NOT NULL, warmup INTEGER NOT NULL,
         kind TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, kept INTEGER NOT NULL, key TEXT NOT NULL,
         tokens INTEGER NOT NULL, mean_confidence REAL, lowest_window REAL, text TEXT NOT NULL,
         answer TEXT, answer_raw TEXT NOT NULL, tentative INTEGER NOT NULL, UNIQUE(item, path)))",
    R"(CREATE TABLE series(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, path INTEGER NOT NULL,
         name TEXT NOT NULL, first INTEGER NOT NULL, type TEXT NOT NULL, data BLOB NOT NULL,
         UNIQUE(item, path, name)))",
    R"(CREATE TABLE refinements(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, number INTEGER NOT NULL,
         path INTEGER NOT NULL, position INTEGER NOT NULL, routes INTEGER NOT NULL,
         UNIQUE(item, number)))",
    R"(CREATE TABLE votes(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, rule TEXT NOT NULL,
         answer TEXT, tie INTEGER NOT NULL, clipped INTEGER NOT NULL, UNIQUE(item, rule)))",
    R"(CREATE TABLE tallies(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, rule TEXT NOT NULL,
         place INTEGER NOT NULL, answer TEXT NOT NULL, score REAL, share REAL,
         paths INTEGER NOT NULL, candidate INTEGER NOT NULL, UNIQUE(item, rule, place)))",
    R"(CREATE TABLE notices(
         item INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE, number INTEGER NOT NULL,
         text TEXT NOT NULL, UNIQUE(item, number)))",
    R"(CREATE TABLE grades(
         item INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE, verdict TEXT NOT NULL,
         gold TEXT NOT NULL, grader TEXT NOT NULL, note TEXT NOT NULL))",
};

Result<int64_t> Pragma(Database& database, const std::string& name) {
  return FirstNumber(database, "PRAGMA " + name);
}

Status MakeTables(Database& database) {
  for (const char* table : kTables) {
    if (Status status = database.Execute(table); !status) {
      return status;
    }
  }
  for (const std::string& table : {WarmupsTable(), DecisionsTable()}) {
    if (Status status = database.Execute(table); !status) {
      return status;
    }
  }
  return database.Execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                          "; PRAGMA user_version = " + std::to_string(kStoreSchemaVersion));
}

Result<bool> HasColumn(Database& database, const std::string& table, const std::string& column) {
  const Result<int64_t> count = FirstNumber(
      database, "SELECT count(*) FROM pragma_table_xinfo(?) WHERE name = ?", table, column);
  return count ? Result<bool>(*count > 0) : count.error();
}

// A column that the first files of this version lack. Programs of that time go on with a file that
// has it: they name their columns, and leave this one unknown or to SQLite.
struct LaterColumn {
  const char* table;
  const char* name;
  const char* definition;
};
constexpr LaterColumn kLaterColumns[] = {
    {"items", "lost_generated", "lost_generated INTEGER"},
    {"decisions", "acted", kActedColumn},
};

Result<bool> HasLaterColumns(Database& database) {
  for (const LaterColumn& column : kLaterColumns) {
    if (Result<bool> there = HasColumn(database, column.table, column.name); !there || !*there) {
      return there;
    }
  }
  return true;
}

Status AddLaterColumns(Database& database) {
  for (const LaterColumn& column : kLaterColumns) {
    const Result<bool> there = HasColumn(database, column.table, column.name);
    if (!there) {
      return there.error();
    }
    const std::string add =
        std::string("ALTER TABLE ") + column.table + " ADD COLUMN " + column.definition;
    if (Status status = *there ? Status() : database.Execute(add); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Result<bool> HasLostGenerated(Database& database) {
  return HasColumn(database, "items", "lost_generated");
}

Status PrepareSchema(Database& database, DatabaseMode mode) {
  // FULL: a finished item outlives even a loss of power. (Store::DoNotAwaitDisk gives that up.)
  if (Status status = database.Execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
      !status) {
    return status;
  }
  if (mode != DatabaseMode::kReadOnly) {
    if (Status status = database.Execute("PRAGMA journal_mode = WAL"); !status) {
      return status;
    }
  }
  // The check and the making are one transaction: two programs may open a new file at once.
  std::optional<Transaction> transaction;
  const Result<bool> complete = HasLaterColumns(database);
  if (!complete) {
    return complete.error();
  }
  if (mode == DatabaseMode::kCreate || (mode == DatabaseMode::kExisting && !*complete)) {
    Result<Transaction> begun = Transaction::Begin(database);
    if (!begun) {
      return begun.error();
    }
    transaction.emplace(std::move(*begun));
  }
  const Result<int64_t> application = Pragma(database, "application_id");
  if (!application) {
    return application.error();
  }
  const Result<int64_t> version = Pragma(database, "user_version");
  if (!version) {
    return version.error();
  }
  const Result<int64_t> schema_changes = Pragma(database, "schema_version");
  if (!schema_changes) {
    return schema_changes.error();
  }
  const bool empty = *application == 0 && *version == 0 && *schema_changes == 0;
  if (empty && mode == DatabaseMode::kCreate) {
    if (Status status = MakeTables(database); !status) {
      return status;
    }
  } else if (*application != kApplicationId) {
    return InvalidArgument("the file is not a study of hyper; give another one");
  } else if (*version != kStoreSchemaVersion) {
    return InvalidArgument("the study has schema version " + std::to_string(*version) +
                           ", this program reads version " + std::to_string(kStoreSchemaVersion) +
                           "; use the program that wrote it");
  } else if (transaction) {
    if (Status status = AddLaterColumns(database); !status) {
      return status;
    }
  }
  return transaction ? transaction->Commit() : Status();
}

}  // namespace hyper
