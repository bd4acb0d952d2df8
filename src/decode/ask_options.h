// The options of a question beside those of its method. Flags of run, eval and bench, JSON, the
// OpenAPI description and docs/options.md are made from this table.
#pragma once

#include <vector>

#include "hyper/ask.h"
#include "hyper/option.h"
#include "hyper/result.h"

namespace hyper {

std::vector<Option> OptionsOf(AskOptions& options);

// Makes of the text that `choices` was given the labels that it names: "A-D" is "ABCD".
// Errors: kInvalidArgument.
Status SettleChoices(AskOptions& options);

}  // namespace hyper
