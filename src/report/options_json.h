// Options of a question out of JSON, as C callers and requests give them: the flags' names without
// dashes in front, values of the option's own type.
#pragma once

#include <string>

#include "hyper/ask.h"
#include "src/report/json.h"

namespace hyper {

// What `hyper_ask` takes: the options of a question, and what its report shows.
struct AskRequest {
  AskOptions options;
  bool timing = false;
};

// Reads an object such as {"method": "sc", "preset": "short", "width": 16, "seed": 7}; an empty
// text is an empty object. Members: those of docs/c-api.md, which every option of the method is
// one of; `default_preset` holds where "preset" is not given.
// Errors: kInvalidArgument (not JSON, not an object, an unknown member, a value of another type or
// out of its range), kNotFound (no such preset). Pure.
Result<AskRequest> ParseAskOptions(const std::string& text, const std::string& default_preset);

}  // namespace hyper
