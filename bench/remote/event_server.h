// A server that streams events rendered beforehand, as fast as they are taken: what it costs is
// little against what its client does with them.
#pragma once

#include <string>
#include <vector>

namespace hyper::bench {

// Serves on `listeners` (listening sockets, not blocking) in this thread until the process is
// killed. A request for a stream is answered with `events`, one after another and again from the
// first, as many as its max_tokens; any other completion with `completion`.
void ServeEvents(const std::vector<int>& listeners, const std::vector<std::string>& events,
                 const std::string& completion);

// A listening socket on a free loopback port; its number comes out. Ends the program on failure.
int ListenOnLoopback(int& port);

}  // namespace hyper::bench
