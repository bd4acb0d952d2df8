// What a request wants its reply to be, beside text: JSON of a schema, calls of functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hyper/pool.h"
#include "src/server/api/field_reader.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

// Reads `format` of a chat, or of /v1/responses, whose json_schema has its members beside the type.
//   name  of the field, for errors; it stays in the run
void ReadResponseFormat(FieldReader& fields, const char* name, const Json& format, ServedRun& run);

// Reads which functions a chat may call: tools, tool_choice and parallel_tool_calls. With the
// choice "none" there are none.
void ReadTools(FieldReader& fields, ServedRun& run);

// Whether a value names a function or a call: 1 to 64 of A-Z, a-z, 0-9, _, -, . and :. Pure.
bool IsCallName(const Json& name);

// The JSON value of a text as one text that equal values share: members by name, numbers without
// trailing zeros, no white space. Empty where `text` is no JSON. Pure.
std::string CanonicalJson(std::string_view text);

// Reads the answer of a path whose reply is JSON: its canonical text. Only a whole one counts.
AnswerExtractor JsonExtractor();

// Reads the answer of a path that may call functions: the canonical text of its calls, or, where it
// makes none, what `otherwise` reads. `form` has a reader.
AnswerExtractor CallExtractor(std::shared_ptr<const ReplyForm> form, AnswerExtractor otherwise);

}  // namespace hyper::server
