// The options of hyper serve but those of the engine.
#pragma once

#include <string>
#include <vector>

#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/models_file.h"
#include "hyper/option.h"
#include "src/server/archive/run_archive.h"
#include "src/server/http/http_server.h"

namespace hyper::app {

struct ServeFlags {
  EngineFlags engine;
  server::BookOptions book;
  server::SchedulerOptions scheduler;
  server::HttpOptions http;
  server::ServerLimits limits;
  server::ArchiveOptions archive;  // no path: none
  std::string api_key_file;
  std::string keys_file;
  std::string name;
  std::string models_file;           // empty: one model
  std::vector<ModelSection> models;  // those in it
  server::HostOptions host;          // of several models
  int lanes = 0;
  int queue_mb = 256;
  double grace_s = 10;
  bool without_key = false;
  bool verbose = false;
};

// Groups of the help.
inline constexpr const char* kNetwork = "Network";
inline constexpr const char* kServing = "Serving";

// The rows of the option table that are read into these fields.
std::vector<Option> ServeOptions(ServeFlags& flags);

}  // namespace hyper::app
