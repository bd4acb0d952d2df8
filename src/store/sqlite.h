// SQLite behind values that close themselves and errors as results.
// Thread rule: a Database and its statements belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hyper/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hyper {

// A compiled statement. Binding failures (out of memory) show up in the next Step.
class Statement {
 public:
  // Parameters are bound in order, from the first on; Reset starts over.
  Statement& Bind(int64_t value);
  Statement& Bind(int value) { return Bind(static_cast<int64_t>(value)); }
  Statement& Bind(bool value) { return Bind(static_cast<int64_t>(value)); }
  Statement& Bind(double value);            // NaN and infinities become NULL
  Statement& Bind(std::string_view value);  // any bytes
  Statement& Bind(const std::string& value) { return Bind(std::string_view(value)); }
  Statement& Bind(const char* value) { return Bind(std::string_view(value)); }
  Statement& Bind(const std::optional<std::string>& value);
  Statement& BindBlob(std::string_view bytes);
  template <class... Values>
  Statement& BindAll(const Values&... values) {
    (Bind(values), ...);
    return *this;
  }

  // Runs on to the next row; false: there is none left.
  Result<bool> Step();
  // Gives each row that is left to `take(row)`, a Status. Errors: those of Step and of `take`.
  template <class Take>
  Status ForEach(Take take) {
    while (true) {
      const Result<bool> more = Step();
      if (!more || !*more) {
        return more ? Status() : Status(more.error());
      }
      if (Status status = take(*this); !status) {
        return status;
      }
    }
  }
  // Runs a statement that gives no rows, and makes it ready for the next parameters.
  Status Run();
  void Reset();

  // Columns of the current row, from 0.
  int64_t Int(int column) const;
  double Double(int column) const;  // NULL: NaN
  bool IsNull(int column) const;
  std::string Text(int column) const;
  std::optional<std::string> OptionalText(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

enum class DatabaseMode { kCreate, kExisting, kReadOnly };

class Database {
 public:
  // Opens a file, waits up to 30 s for another writer. Errors: kNotFound (missing, not a file, no
  // permission), kDataLoss (no SQLite file, damaged).
  static Result<Database> Open(const std::string& path, DatabaseMode mode);

  // Runs one or more statements that give no rows.
  Status Execute(const std::string& sql);
  Result<Statement> Prepare(std::string_view sql);
  int64_t LastInsertId() const;
  int ChangedRows() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}

  std::unique_ptr<sqlite3, Close> handle_;
};

// All or nothing: what is not committed is undone at the end of its life.
class Transaction {
 public:
  // Takes the write lock at once, so that what is read inside cannot be outdated when it writes.
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace hyper
