#include "apps/hyper/flags/serve_flags.h"

namespace hyper::app {
namespace {

constexpr int kMost = 1 << 20;

std::vector<Option> NetworkOptions(ServeFlags& flags) {
  return {
      {flags.http.host, {.name = "host", .help = "address to listen on", .group = kNetwork}},
      {flags.http.port,
       {.name = "port",
        .help = "port to listen on; 0: any free one, which is printed",
        .bounds = Between(0, 65535),
        .group = kNetwork}},
      {flags.api_key_file,
       {.name = "api-key-file",
        .help = "file with the key that clients must give; else the variable HYPER_API_KEY",
        .group = kNetwork}},
      {flags.keys_file,
       {.name = "keys-file",
        .help = "file with the keys of several clients, their limits and what they see",
        .group = kNetwork}},
      {flags.http.allowed_hosts,
       {.name = "allowed-host",
        .help = "names by which clients call this server, as behind a proxy; empty: those of the "
                "loopback there, elsewhere any",
        .group = kNetwork}},
      {flags.http.cors_origin,
       {.name = "cors-origin",
        .help = "origin of other sites' pages that may call; *: any",
        .group = kNetwork}},
      {flags.http.most_connections,
       {.name = "connections",
        .help = "connections served at once",
        .bounds = Between(1, 4096),
        .group = kNetwork}},
      {flags.http.most_per_address,
       {.name = "connections-per-address",
        .help = "of these, connections of one client's address; 0: all on the loopback, half of "
                "them elsewhere",
        .bounds = Between(0, 4096),
        .group = kNetwork}},
  };
}

// What is decoded, and how much at once.
std::vector<Option> PoolOptions(ServeFlags& flags) {
  return {
      {flags.name,
       {.name = "name",
        .help = "name of the model for clients; empty: the file's",
        .group = kServing}},
      {flags.limits.plain_names,
       {.name = "plain-name",
        .help = "other names of the model, for plain decoding: for clients that ask for titles and "
                "tags",
        .group = kServing}},
      {flags.limits.default_method,
       {.name = "method", .help = "method if the model's name gives none", .group = kServing}},
      {flags.limits.preset,
       {.name = "preset", .help = "auto, paper or short; empty: auto", .group = kServing}},
      {flags.lanes,
       {.name = "lanes",
        .help = "paths that all requests may decode at once; 0: automatic",
        .bounds = Between(0, 4096),
        .group = kServing}},
      {flags.scheduler.plain_lanes,
       {.name = "plain-lanes",
        .help =
            "lanes beside --lanes, and with them a quarter of the KV cells, that pools leave to "
            "plain decoding; none for a remote engine with --lanes",
        .bounds = Between(0, 4096),
        .group = kServing}},
      {flags.queue_mb,
       {.name = "queue-mb",
        .help = "memory of requests that wait, in MiB; further ones get a 429",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.scheduler.pools,
       {.name = "pools",
        .help = "pools that share the KV cells, each with its part; 1: each has what its paths may "
                "need",
        .bounds = Between(1, 4096),
        .group = kServing}},
      {flags.scheduler.most_prompts,
       {.name = "prompt-cache",
        .help =
            "prompts whose KV is kept for requests that begin in the same way, while there is room",
        .bounds = Between(0, 4096),
        .group = kServing}},
  };
}

// Several models.
std::vector<Option> ModelsOptions(ServeFlags& flags) {
  constexpr const char* kSeveral = "Several models";
  return {
      {flags.models_file,
       {.name = "models",
        .help = "file with a section [NAME] for each of several models, which are loaded on demand",
        .group = kSeveral}},
      {flags.host.most_loaded,
       {.name = "most-models",
        .help = "models of --models that are loaded at once; fewer where memory is short",
        .bounds = Between(1, 4096),
        .group = kSeveral}},
      {flags.host.idle_s,
       {.name = "idle-unload",
        .help = "time after which a model that nobody uses is unloaded; 0: only when another needs "
                "its place",
        .bounds = From(0),
        .group = kSeveral,
        .seconds = true}},
      {flags.host.wait_s,
       {.name = "load-wait",
        .help = "time that a request waits for its model to be loaded; then it gets a 503",
        .bounds = From(1),
        .group = kSeveral,
        .seconds = true}},
  };
}

// Finished runs.
std::vector<Option> KeptOptions(ServeFlags& flags) {
  return {
      {flags.book.most_kept,
       {.name = "keep",
        .help = "finished runs that are kept in memory for the page",
        .bounds = Between(0, kMost),
        .group = kServing}},
      {flags.archive.path,
       {.name = "store",
        .help = "also keep all runs, from their start, in this study, which hyper inspect and "
                "export read",
        .group = kServing}},
      {flags.archive.most_runs,
       {.name = "store-max-runs",
        .help = "runs that the study keeps, the newest",
        .bounds = Between(1, 1 << 30),
        .group = kServing}},
      {flags.archive.most_age_s,
       {.name = "store-max-age",
        .help = "age of runs that it keeps; 0: any",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
  };
}

std::vector<Option> LimitOptions(ServeFlags& flags) {
  return {
      {flags.limits.most_tokens,
       {.name = "max-tokens",
        .help = "tokens of one path at most",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.limits.plain_tokens,
       {.name = "plain-tokens",
        .help = "tokens of plain decoding if a request gives no limit",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.limits.most_time_s,
       {.name = "time",
        .help = "time of one request at most; 0: no limit",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
      {flags.grace_s,
       {.name = "grace",
        .help = "time to finish running requests at the end",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
  };
}

}  // namespace

std::vector<Option> ServeOptions(ServeFlags& flags) {
  std::vector<Option> all;
  for (const std::vector<Option>& part :
       {NetworkOptions(flags), PoolOptions(flags), ModelsOptions(flags), KeptOptions(flags),
        LimitOptions(flags)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace hyper::app
