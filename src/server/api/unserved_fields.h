// Fields of a request that this server does not serve: tools, grammars, what other servers take
// beside the OpenAI API, and what nobody knows.
#pragma once

#include <span>

#include "src/server/api/field_reader.h"

namespace hyper::server {

// Refuses every field by its name that no reader has looked for, unless it cannot change the text:
// it is known to change none, or its value changes nothing (null, what is empty, what stands for
// "off"). Call last.
void RefuseUnserved(FieldReader& fields);

// Names of the fields that are taken because they change no text, whatever they hold.
std::span<const char* const> HarmlessFields();

}  // namespace hyper::server
