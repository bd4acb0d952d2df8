// The option table of the engine over servers.
#include "hyper/remote_engine.h"

namespace hyper {

std::vector<Option> OptionsOf(RemoteOptions& o) {
  constexpr const char* kServers = "Servers";
  constexpr double kMostInt = 2147483647;
  return {
      {o.headers,
       {.name = "header",
        .help = "'Name: value', sent with every request; may be repeated",
        .group = kServers,
        .takes = "Name: value",
        .repeated = true}},
      {o.ca_file,
       {.name = "ca-file",
        .help = "certificates to trust; empty: the system's",
        .group = kServers,
        .takes = "a file"}},
      {o.chat_template,
       {.name = "chat-template",
        .help = "Jinja chat template in place of the servers' own",
        .group = kServers,
        .takes = "a template",
        .file = true}},
      {o.connect_timeout_s,
       {.name = "connect-timeout",
        .help = "longest wait for a connection; 0: no limit",
        .bounds = From(0),
        .group = kServers,
        .seconds = true}},
      {o.timeout_s,
       {.name = "timeout",
        .help = "longest wait for a token, including the first; 0: no limit",
        .bounds = From(0),
        .group = kServers,
        .seconds = true}},
      {o.retries,
       {.name = "retries",
        .help = "further tries of a lane after a failed one",
        .bounds = Between(0, kMostInt),
        .group = kServers}},
      {o.max_streams,
       {.name = "max-streams",
        .help = "streams at once; further lanes queue",
        .bounds = Between(1, kMostInt),
        .group = kServers}},
      {o.grant_tokens,
       {.name = "grant",
        .help = "one request for each N tokens; 0: streams that stay open",
        .bounds = Between(0, kMostInt),
        .group = kServers}},
  };
}

}  // namespace hyper
