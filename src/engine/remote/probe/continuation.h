// Assistant prefill: a server that applies its chat template only inside /chat/completions, and
// goes on with a message of the assistant there.
#pragma once

#include <string>

#include "hyper/result.h"
#include "src/base/http/fetch.h"
#include "src/engine/remote/wire/abilities.h"

namespace hyper::remote {

// Finds out by a few chats how the server at base URL `base` continues an assistant's message:
// what it writes behind a part of its own greedy text must be what it wrote there before, with the
// same log-probabilities, and reasoning that a message has closed must stay in the prompt.
// `arguments`: JSON object for the template, or empty.
// Errors: kUnavailable (chats are not answered), kUnsupported (they are not continued).
Result<Continuation> FindContinuation(base::HttpLoop& loop, const std::string& base,
                                      const Abilities& can, const std::string& arguments);

}  // namespace hyper::remote
