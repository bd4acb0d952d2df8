// Names by which people point at a part of a study.
#pragma once

#include <string>

#include "src/store/store.h"

namespace hyper::eval {

// The run that `name` means: the label of its row, or "#3" for the run of number 3.
// Errors: kNotFound with the rows there are; kInvalidArgument where several runs have that label.
Result<StoredRun> FindRun(Store& store, const std::string& name);

// The question that `name` means: its name, "#3" for the question of number 3, or a part of the
// name that no other question has.
// Errors: kNotFound; kInvalidArgument where several questions fit.
Result<StoredQuestion> FindQuestion(Store& store, const std::string& name);

}  // namespace hyper::eval
