// The engine that decodes on servers with an OpenAI API: vLLM, SGLang, llama-server. They run the
// model, HyPER controls the paths; there is no token refinement (App. G: controller only).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/option.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// What a remote engine is made from.
struct RemoteOptions {
  std::vector<std::string> urls;     // base URL of each replica, such as "http://host:8000/v1"
  std::string model;                 // as the servers name it; empty: the first they list
  std::string api_key;               // bearer token; never part of a message or record
  std::vector<std::string> headers;  // "Name: value", sent with every request
  std::string ca_file;               // certificates to trust; empty: the system's
  std::string chat_template;         // Jinja source in place of the servers' own; empty: theirs
  double connect_timeout_s = 10;     // > 0, or 0: no limit
  double timeout_s = 300;            // of a stream without a token, the first included; 0: no limit
  int retries = 4;                   // of a lane without a token in between, >= 0
  int max_streams = 8192;            // over all replicas, >= 1; further lanes queue
  int max_lanes = 16384;             // lanes that may be open, >= 1
  int waiting_tokens = 128;          // of a lane, kept beyond its grant before its stream is held
  int grant_tokens = 0;              // > 0: closed requests of so many tokens; 0: open streams
  int stream_tokens = 32768;         // longest text of a lane
};

// The table of these options; see hyper/option.h. Not in it: where the servers are, the key, and
// what a run sets by itself.
std::vector<Option> OptionsOf(RemoteOptions& options);

// One line of what a probe found.
struct ServerFinding {
  std::string name;   // such as "top log-probabilities"
  std::string value;  // such as "20"
};

// What a server can do, in words.
struct ServerReport {
  std::string url;
  std::string model;
  std::vector<ServerFinding> findings;
  std::vector<std::string> workarounds;  // what had to be worked around, a sentence each
};

// Finds out what the server at `url` can do by about twenty short requests.
// Errors: kInvalidArgument (a URL or header that is none), kUnavailable (no answer, or a refusal,
// with the server's words), kUnsupported (no completions).
Result<ServerReport> ProbeServer(const std::string& url, const RemoteOptions& options);

// An engine over the replicas in `options.urls`, each probed first; those that do not answer now
// are tried again later, as long as one does. Errors: as ProbeServer.
// Thread rule: as Engine.
Result<std::unique_ptr<Engine>> MakeRemoteEngine(const RemoteOptions& options);

}  // namespace hyper
#pragma GCC visibility pop
