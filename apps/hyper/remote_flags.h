// Servers as the engine: flags that run, eval, serve and probe share.
#pragma once

#include <string>
#include <vector>

#include "hyper/remote_engine.h"
#include "hyper/result.h"

namespace CLI {
class App;
}

namespace hyper::app {

struct RemoteFlags {
  std::string api_key_file;
  std::vector<std::string> headers;
  std::string ca_file;
  std::string chat_template_file;
  std::string connect_timeout = "10";
  std::string timeout = "300";
  std::string retries = "4";
  std::string max_streams = "8192";
  std::string grant = "0";
  int max_lanes = 0;          // set by the command; 0: the engine's own limit
  int waiting_tokens = 128;   // set by the command out of the method's options
  int stream_tokens = 32768;  // likewise

  // Adds the flags to `app`, which reads into this object.
  void AddTo(CLI::App& app);
};

// The limits among an engine's options: times, tries, streams, grants. Errors: kInvalidArgument.
Result<RemoteOptions> RemoteLimitsOf(const RemoteFlags& flags);

// Whether a value of --engine names servers.
bool IsRemote(const std::string& engine);

// The engine's options for `engine`, URLs with commas between; `model` as --model gives it. The key
// comes from --engine-key-file, else from HYPER_ENGINE_KEY, else from OPENAI_API_KEY; else there is
// none.
Result<RemoteOptions> RemoteOptionsOf(const RemoteFlags& flags, const std::string& engine,
                                      const std::string& model);

}  // namespace hyper::app
