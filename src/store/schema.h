// The tables of a study file, written down in docs/store.md.
#pragma once

#include "hyper/result.h"
#include "src/store/sqlite.h"

namespace hyper {

inline constexpr int kStoreSchemaVersion = 1;

// Makes the tables in an empty file, or checks that the file is a study of a version that this
// program reads. Errors: kInvalidArgument (another program's database, a newer version).
Status PrepareSchema(Database& database, DatabaseMode mode);

// Whether items know the generated tokens of lost attempts; files that were made before that and
// are opened for reading only do not.
Result<bool> HasLostGenerated(Database& database);

}  // namespace hyper
