// A run as /v1/runs lists it.
#pragma once

#include <cstdint>
#include <string>

#include "src/report/json.h"

namespace hyper::server {

struct RunOverview {
  std::string id;
  std::string client;  // whose run it is; empty: the operator's
  std::string model;   // of several; empty where the server has only one
  std::string method;
  std::string status;  // waiting, running, done, partial, cancelled or failed
  std::string question;
  std::string answer;
  int64_t created_s = 0;  // Unix time
  int width = 0;          // paths of a pool, or choices; 0: not known
  uint64_t seed = 0;
  double seconds = 0;  // of decoding, so far
  int64_t tokens = 0;
  int paths = 0;    // opened so far
  int running = 0;  // of these, still running
  int64_t cells = 0;
};

inline Json OverviewJson(const RunOverview& run) {
  Json json = {{"id", run.id},
               {"object", "hyper.run"},
               {"status", run.status},
               {"method", run.method},
               {"question", run.question},
               {"client", run.client.empty() ? Json() : Json(run.client)},
               {"created", run.created_s},
               {"width", run.width > 0 ? Json(run.width) : Json()},
               {"seed", run.seed},
               {"seconds", run.seconds},
               {"answer", run.answer.empty() ? Json() : Json(run.answer)},
               {"tokens", run.tokens},
               {"paths", run.paths},
               {"running", run.running},
               {"cells", run.cells}};
  if (!run.model.empty()) {
    json["model"] = run.model;
  }
  return json;
}

}  // namespace hyper::server
