// Tables of plugins (hyper/evaluation.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyper/evaluation.h"
#include "src/store/store.h"

namespace hyper::eval {

// The rows of a study, as such tables get them.
//   runs    their numbers; empty: all
//   groups  only questions of these groups; empty: all
// Errors: those of the store and of graders.
Result<std::vector<EvaluatedRow>> StudyRows(Store& store, const std::vector<int64_t>& runs,
                                            const std::vector<std::string>& groups);

// The table of these rows. Errors: the spec's own; kInvalidArgument (a row that is not as long as
// the columns are many).
Result<Table> MakeOwnTable(const TableSpec& spec, const std::vector<EvaluatedRow>& rows);

}  // namespace hyper::eval
