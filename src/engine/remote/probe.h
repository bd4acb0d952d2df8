// Finds out what a server can do.
#pragma once

#include <string>

#include "hyper/result.h"
#include "src/engine/remote/abilities.h"
#include "src/engine/remote/http_loop.h"

namespace hyper::remote {

// Asks the server at base URL `url`; `model` as the user named it, or empty.
Result<Abilities> Probe(HttpLoop& loop, const std::string& url, const std::string& model,
                        const std::string& api_key);

// Asks a further server of the same kind only for what may differ: that it has `first`'s model, and
// how many sequences it decodes at once.
Result<Abilities> ProbeFurther(HttpLoop& loop, const std::string& url, const Abilities& first,
                               const std::string& api_key);

}  // namespace hyper::remote
