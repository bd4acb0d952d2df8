// What a probe finds out about chats.
#pragma once

#include <string>

#include "src/engine/remote/abilities.h"
#include "src/engine/remote/http_loop.h"

namespace hyper::remote {

// Finds who applies the chat template of the server at base URL `base`, and where its answers put
// the reasoning. Throws Json::exception where an answer's members are of other types.
void FindChat(HttpLoop& loop, const std::string& base, Abilities& can);

}  // namespace hyper::remote
