// Notices hosts that vanish: llama.cpp's own sockets wait for them without end.
#pragma once

#include <string>
#include <vector>

namespace hyper::llama {

// Has the system close every connection of this process to one of `addresses` ("host:port") whose
// other end has been silent for about a minute, even to questions whether it is there; a server
// that computes still answers those. Returns the number of connections.
int WatchConnections(const std::vector<std::string>& addresses);

}  // namespace hyper::llama
