// Fields that would change the text and that this server does not serve: tools, grammars, and what
// other servers take beside the OpenAI API.
#pragma once

#include "src/server/api/field_reader.h"

namespace hyper::server {

// Refuses each such field by its name, unless its value changes nothing: null, what is empty, the
// value that stands for "off". Fields that change no text are ignored as before.
void RefuseUnserved(FieldReader& fields);

}  // namespace hyper::server
