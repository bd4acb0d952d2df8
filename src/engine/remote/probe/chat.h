// What a probe finds out about chats.
#pragma once

#include <string>

#include "src/base/http/fetch.h"
#include "src/engine/remote/wire/abilities.h"

namespace hyper::remote {

// Finds who applies the chat template of the server at base URL `base`, and where its answers put
// the reasoning. Throws WireJson::exception where an answer's members are of other types.
void FindChat(base::HttpLoop& loop, const std::string& base, Abilities& can);

}  // namespace hyper::remote
