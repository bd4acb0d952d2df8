// A stored answer as the records that its run sent (docs/json.md), so that the page can replay it.
#pragma once

#include <vector>

#include "src/eval/tables/item_json.h"
#include "src/report/json.h"
#include "src/store/records.h"

namespace hyper::server {

// Name of the series that holds how many bytes of a path's text each of its tokens is.
inline constexpr const char* kTokenBytes = "token_bytes";
// The tokens of the prompt, as a series of no path.
inline constexpr const char* kPromptTokens = "prompt_token";

// The records, "run" first and "result" last, in the order of their positions; `id` names the run.
// Where kTokenBytes is not stored there are no token records, and the texts are in "result" only.
// Pure.
std::vector<Json> StoredRecords(const std::string& id, const eval::ItemContext& context,
                                const StoredItem& item);

}  // namespace hyper::server
