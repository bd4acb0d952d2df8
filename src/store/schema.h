// The tables of a study file, written down in docs/store.md.
#pragma once

#include "hyper/result.h"
#include "src/store/sqlite.h"

namespace hyper {

inline constexpr int kStoreSchemaVersion = 1;

// Makes the tables in an empty file, or checks that the file is a study of a version that this
// program reads. Errors: kInvalidArgument (another program's database, a newer version).
Status PrepareSchema(Database& database, DatabaseMode mode);

}  // namespace hyper
