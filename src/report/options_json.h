// Options of a question out of JSON, as C callers and requests give them: the flags' names without
// dashes in front, values of the option's own type.
#pragma once

#include <string>

#include "hyper/ask.h"
#include "src/report/json.h"
#include "src/report/member_reader.h"

namespace hyper {

// What `hyper_ask` takes: the options of a question, and what its report shows.
struct AskRequest {
  AskOptions options;
  bool timing = false;
};

// Reads an object of options; one that nobody takes is an error, and so is null.
class OptionReader : public MemberReader<Error> {
 public:
  explicit OptionReader(const Json& object);

  // The first trouble; a member that was never taken is one.
  Status Finish();
};

// The object in a text; an empty text is an empty one. Errors: kInvalidArgument.
Result<Json> ParseOptionObject(const std::string& text);

// Reads an object such as {"method": "sc", "preset": "short", "width": 16, "seed": 7}. Members:
// the options of a question and of its method (docs/options.md), and `timing`.
// Errors: kInvalidArgument (an unknown member, a value of another type or out of its range),
// kNotFound (no such preset). Pure.
Result<AskRequest> ParseAskOptions(const Json& object);

// The same out of a text. Errors: also those of ParseOptionObject. Pure.
Result<AskRequest> ParseAskOptions(const std::string& text);

// Takes the option's member into its field, where there is one; a value of another type or out of
// range is the reader's error. Returns whether the option was given a value.
bool TakeOption(OptionReader& reader, Option& option);

// An option's value in its own JSON type; lists and rules are strings.
Json OptionJson(const Option& option);

}  // namespace hyper
