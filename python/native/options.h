// The option tables for Python: signatures, docstrings and types are made from them.
#pragma once

#include <string>

#include "hyper/remote_engine.h"
#include "hyper/result.h"

namespace hyper::python {

// {"question": [...], "model": [...], "server": [...]}: the options of ask, of an engine in this
// process and of one over servers, in the order of the tables. Each is an object of name, help,
// group, symbol, type ("integer", "number", "switch", "word", "text", "list"), words, takes,
// default (as text; of preset `paper`), repeated, automatic and read_by (the methods; empty: all).
// Pure.
std::string OptionTablesJson();

// Reads the options of an engine over servers: an object such as {"retries": 2}. A repeated option
// may be an array. Errors: kInvalidArgument.
Result<RemoteOptions> ParseServerOptions(const std::string& text);

}  // namespace hyper::python
