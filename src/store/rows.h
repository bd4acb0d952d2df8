// A query of one row, and a statement without rows.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "src/store/sqlite.h"

namespace hyper {

// The statement at the first row of `sql` with these parameters; nothing where there is no row.
// Errors: those of Prepare and Step.
template <class... Values>
Result<std::optional<Statement>> FirstRow(Database& database, std::string_view sql,
                                          const Values&... values) {
  Result<Statement> statement = database.Prepare(sql);
  if (!statement) {
    return statement.error();
  }
  const Result<bool> row = statement->BindAll(values...).Step();
  if (!row) {
    return row.error();
  }
  return *row ? std::optional(std::move(*statement)) : std::nullopt;
}

// The first column of the first row of `sql`, which has one. Errors: kInternal (it has none), those
// of FirstRow.
template <class... Values>
Result<int64_t> FirstNumber(Database& database, std::string_view sql, const Values&... values) {
  Result<std::optional<Statement>> row = FirstRow(database, sql, values...);
  if (!row) {
    return row.error();
  }
  if (!*row) {
    return Error{ErrorCode::kInternal, "the store returned no number"};
  }
  const int64_t number = (*row)->Int(0);
  // An INSERT ... RETURNING outside a transaction commits at its end and may fail there.
  const Status ended = (*row)->Run();
  return ended ? Result<int64_t>(number) : ended.error();
}

// Runs `sql` with these parameters. Errors: those of Prepare and Run.
template <class... Values>
Status RunOnce(Database& database, std::string_view sql, const Values&... values) {
  Result<Statement> statement = database.Prepare(sql);
  return statement ? statement->BindAll(values...).Run() : Status(statement.error());
}

}  // namespace hyper
