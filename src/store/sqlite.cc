#include "src/store/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

namespace hyper {
namespace {

constexpr int kBusyTimeoutMs = 30'000;

ErrorCode CodeOf(int result) {
  switch (result & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
      return ErrorCode::kDataLoss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return ErrorCode::kNotFound;
    case SQLITE_READONLY:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kInternal;
  }
}

// What the user can do, where there is something.
const char* RemedyOf(int result) {
  switch (result & 0xFF) {
    case SQLITE_FULL:
      return "; free some space, then give the same command again";
    case SQLITE_NOTADB:
      return "; name a study, a file that --study or --store made";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "; check the permissions of the file and of its folder";
    default:
      return "";
  }
}

Error ErrorOf(sqlite3* handle, int result) {
  const char* name = handle != nullptr ? sqlite3_db_filename(handle, "main") : nullptr;
  const std::string file = name != nullptr && *name != '\0' ? name : "the database";
  const std::string reason = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(result);
  return {CodeOf(result), file + ": " + reason + RemedyOf(result)};
}

// `path` as a URI for a file that nobody writes to.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

// Why there is no study at `path`; nothing where there is a file, or one may be made.
std::optional<Error> Missing(const std::string& path, DatabaseMode mode) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (std::filesystem::is_directory(status)) {
    return Error{ErrorCode::kNotFound, path + " is a folder; name the file of a study"};
  }
  if (mode != DatabaseMode::kCreate && !std::filesystem::exists(status)) {
    return Error{ErrorCode::kNotFound, path + " does not exist; name the file of a study"};
  }
  return std::nullopt;
}

}  // namespace

Statement& Statement::Bind(int64_t value) {
  sqlite3_bind_int64(statement_.get(), next_++, value);
  return *this;
}

Statement& Statement::Bind(double value) {
  if (std::isfinite(value)) {
    sqlite3_bind_double(statement_.get(), next_++, value);
  } else {
    sqlite3_bind_null(statement_.get(), next_++);
  }
  return *this;
}

Statement& Statement::Bind(std::string_view value) {
  // The data of an empty view may be null, which SQLite would take for NULL.
  const char* data = value.empty() ? "" : value.data();
  sqlite3_bind_text64(statement_.get(), next_++, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(const std::optional<std::string>& value) {
  if (value) {
    return Bind(std::string_view(*value));
  }
  sqlite3_bind_null(statement_.get(), next_++);
  return *this;
}

Statement& Statement::BindBlob(std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  sqlite3_bind_blob64(statement_.get(), next_++, data, bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::Step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) {
    return true;
  }
  if (result == SQLITE_DONE) {
    return false;
  }
  return ErrorOf(sqlite3_db_handle(statement_.get()), result);
}

Status Statement::Run() {
  const Result<bool> row = Step();
  Reset();
  return row ? Status() : row.error();
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::Double(int column) const {
  if (IsNull(column)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(statement_.get(), column);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string Statement::Text(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

std::optional<std::string> Statement::OptionalText(int column) const {
  if (IsNull(column)) {
    return std::nullopt;
  }
  return Text(column);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

int64_t Database::LastInsertId() const { return sqlite3_last_insert_rowid(handle_.get()); }

int Database::ChangedRows() const { return sqlite3_changes(handle_.get()); }

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::Open(const std::string& path, DatabaseMode mode) {
  if (std::optional<Error> missing = Missing(path, mode)) {
    return *std::move(missing);
  }
  int flags = SQLITE_OPEN_READWRITE;
  if (mode == DatabaseMode::kCreate) {
    flags |= SQLITE_OPEN_CREATE;
  }
  if (mode == DatabaseMode::kReadOnly) {
    flags = SQLITE_OPEN_READONLY;
  }
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database(handle);  // closed even where opening failed
  if (result != SQLITE_OK) {
    return Error{CodeOf(result), path + ": " + sqlite3_errstr(result) + RemedyOf(result)};
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  // Readers of a log need a file of their own beside the database. Where they may not make one and
  // nothing is in the log, the file is as it stands.
  if (mode == DatabaseMode::kReadOnly && !database.Execute("SELECT 1 FROM sqlite_master") &&
      !std::filesystem::exists(path + "-wal")) {
    sqlite3* fixed = nullptr;
    const int opened = sqlite3_open_v2(ImmutableUri(path).c_str(), &fixed,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    Database immutable(fixed);
    if (opened == SQLITE_OK && immutable.Execute("SELECT 1 FROM sqlite_master")) {
      return immutable;
    }
  }
  return database;
}

Status Database::Execute(const std::string& sql) {
  const int result = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) {
    return ErrorOf(handle_.get(), result);
  }
  return {};
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
  if (result != SQLITE_OK) {
    return ErrorOf(handle_.get(), result);
  }
  return Statement(statement);
}

Result<Transaction> Transaction::Begin(Database& database) {
  if (Status status = database.Execute("BEGIN IMMEDIATE"); !status) {
    return status.error();
  }
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed rollback means that SQLite has already rolled back by itself.
  if (database_ != nullptr) {
    (void)database_->Execute("ROLLBACK");
  }
}

Status Transaction::Commit() {
  Status status = database_->Execute("COMMIT");
  if (status.ok()) {
    database_ = nullptr;
  }
  return status;
}

}  // namespace hyper
