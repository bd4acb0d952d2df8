#include "src/server/http/run_routes.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/server/api/body_json.h"
#include "src/server/api/field_reader.h"
#include "src/server/api/reply_format.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr size_t kLinesAtOnce = 512;

void SendUnknown(Response& response, const std::string& id) {
  SendError(response, {404, "not_found_error", "run_not_found", "",
                       "run '" + id + "' is not kept; GET /v1/runs lists those that are"});
}

// A number from 0; nothing where the text is none.
std::optional<int> WholeNumber(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

// GET /v1/runs?limit=N: those in memory, then those that are stored only.
void SendRuns(const Scheduler& scheduler, const Request& request, Response& response) {
  constexpr int kMost = 1000;
  int limit = 100;
  if (request.has_param("limit")) {
    const std::optional<int> given = WholeNumber(request.get_param_value("limit"));
    if (!given || *given < 1 || *given > kMost) {
      SendError(response, BadField("limit", "'limit' takes 1 to 1000"));
      return;
    }
    limit = *given;
  }
  std::vector<RunOverview> runs = scheduler.Runs();
  if (const RunArchive* archive = scheduler.archive()) {
    const Result<std::vector<RunOverview>> stored = archive->Newest(limit);
    if (!stored) {
      SendError(response, FromError(stored.error()));
      return;
    }
    std::set<std::string> seen;
    for (const RunOverview& run : runs) {
      seen.insert(run.id);
    }
    std::copy_if(stored->begin(), stored->end(), std::back_inserter(runs),
                 [&seen](const RunOverview& run) { return seen.count(run.id) == 0; });
  }
  runs.resize(std::min(runs.size(), static_cast<size_t>(limit)));
  Json list = Json::array();
  for (const RunOverview& run : runs) {
    list.push_back(OverviewJson(run));
  }
  Send(response, 200, {{"object", "list"}, {"data", std::move(list)}});
}

// GET /v1/studies, GET /v1/studies/figures: the evaluations in the same file.
void SendStudies(const Scheduler& scheduler, Result<Json> (RunArchive::*read)() const,
                 Response& response) {
  Json studies = Json::array();
  if (const RunArchive* archive = scheduler.archive()) {
    Result<Json> stored = (archive->*read)();
    if (!stored) {
      SendError(response, FromError(stored.error()));
      return;
    }
    studies = std::move(*stored);
  }
  Send(response, 200, {{"object", "list"}, {"data", std::move(studies)}});
}

// The overview of a run that is stored only; nothing, after a reply, where there is none.
std::optional<RunOverview> FindStored(const Scheduler& scheduler, const std::string& id,
                                      Response& response) {
  const RunArchive* archive = scheduler.archive();
  const Result<std::optional<RunOverview>> run =
      archive != nullptr ? archive->Find(id) : std::optional<RunOverview>();
  if (!run) {
    SendError(response, FromError(run.error()));
  } else if (!*run) {
    SendUnknown(response, id);
  } else {
    return *run;
  }
  return std::nullopt;
}

// As SendRun and SendEvents, of a run that is stored only.
void SendStored(const Scheduler& scheduler, const std::string& id, bool events,
                Response& response) {
  const std::optional<RunOverview> run = FindStored(scheduler, id, response);
  if (!run) {
    return;
  }
  const Result<std::vector<Json>> records = scheduler.archive()->Records(id);
  if (!records) {
    SendError(response, FromError(records.error()));
    return;
  }
  if (events) {
    std::string bytes;
    for (const Json& record : *records) {
      bytes += ServerSentEvent("", record);
    }
    response.set_content(bytes, "text/event-stream");
    return;
  }
  Json body = OverviewJson(*run);
  body["records"] = Json::array();
  for (const Json& record : *records) {
    if (record.value("record", "") != "token") {
      body["records"].push_back(record);
    }
  }
  Send(response, 200, body);
}

// GET /v1/runs/ID: the summary with the records, those of tokens left out.
void SendRun(const Scheduler& scheduler, const std::string& id, Response& response) {
  const std::optional<RunOverview> summary = scheduler.Find(id);
  const std::shared_ptr<const RunLog> log = scheduler.Log(id);
  if (!summary || log == nullptr) {
    SendStored(scheduler, id, /*events=*/false, response);
    return;
  }
  Json body = OverviewJson(*summary);
  body["records"] = Json::array();
  size_t at = 0;
  while (true) {
    const RunLog::Page page = log->Read(at, kLinesAtOnce, std::chrono::milliseconds(0));
    for (const std::string& line : page.lines) {
      Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!record.is_discarded() && record.value("record", "") != "token") {
        body["records"].push_back(std::move(record));
      }
    }
    if (page.lines.empty()) {
      break;
    }
    at = page.next;
  }
  Send(response, 200, body);
}

// GET /v1/runs/ID/events: all records from the first, live ones as they come.
void SendEvents(const Scheduler& scheduler, const std::string& id, double heartbeat_s,
                Response& response) {
  const std::shared_ptr<const RunLog> log = scheduler.Log(id);
  if (log == nullptr) {
    SendStored(scheduler, id, /*events=*/true, response);
    return;
  }
  response.set_header("Cache-Control", "no-cache");
  response.set_chunked_content_provider(
      "text/event-stream", [log, heartbeat_s, at = size_t{0}, last = Clock::now()](
                               size_t /*offset*/, httplib::DataSink& sink) mutable {
        const RunLog::Page page = log->Read(at, kLinesAtOnce, kLook);
        std::string bytes;
        for (const std::string& line : page.lines) {
          bytes += "data: " + line + "\n\n";
        }
        if (bytes.empty() && Clock::now() - last >= std::chrono::duration<double>(heartbeat_s)) {
          bytes = ": heartbeat\n\n";
        }
        at = page.next;
        if (!bytes.empty()) {
          last = Clock::now();
          if (!sink.write(bytes.data(), bytes.size())) {
            return false;
          }
        } else if (!sink.is_writable()) {
          return false;
        }
        if (page.closed) {
          sink.done();
        }
        return true;
      });
}

void Control(Scheduler& scheduler, const std::string& id, const RunCommand& command,
             Response& response) {
  if (!scheduler.Find(id)) {
    SendUnknown(response, id);
    return;
  }
  const std::optional<ApiError> error = scheduler.Control(id, command);
  if (error) {
    SendError(response, *error);
  } else {
    Send(response, 200, {{"id", id}, {"object", "hyper.run"}, {"done", true}});
  }
}

void ControlPath(Scheduler& scheduler, const Request& request, RunCommand command,
                 Response& response) {
  const std::optional<int> number = WholeNumber(request.path_params.at("path"));
  if (!number) {
    SendError(response, BadField("path", "'path' takes the number of a path, from 0"));
    return;
  }
  command.path = *number;
  Control(scheduler, request.path_params.at("run"), command, response);
}

void GrantPath(Scheduler& scheduler, const Request& request, Response& response) {
  RunCommand command;
  command.kind = RunCommand::Kind::kGrant;
  const std::variant<Json, ApiError> body = ParseBody(request.body);
  if (const auto* error = std::get_if<ApiError>(&body)) {
    SendError(response, *error);
    return;
  }
  FieldReader fields(std::get<Json>(body));
  if (!fields.TakeWithin("tokens", 1, 1 << 20, command.tokens)) {
    SendError(response,
              fields.error().value_or(BadField(
                  "tokens", "'tokens' is missing; it takes the number of tokens to grant")));
    return;
  }
  ControlPath(scheduler, request, command, response);
}

}  // namespace

void AddRunRoutes(Routes& routes, Scheduler& scheduler, double heartbeat_s) {
  routes.Get("/v1/runs", [&scheduler](const Request& request, Response& response) {
    SendRuns(scheduler, request, response);
  });
  routes.Get("/v1/studies", [&scheduler](const Request& /*request*/, Response& response) {
    SendStudies(scheduler, &RunArchive::Studies, response);
  });
  routes.Get("/v1/studies/figures", [&scheduler](const Request& /*request*/, Response& response) {
    SendStudies(scheduler, &RunArchive::Figures, response);
  });
  routes.Get("/v1/runs/{run}", [&scheduler](const Request& request, Response& response) {
    SendRun(scheduler, request.path_params.at("run"), response);
  });
  routes.Get("/v1/runs/{run}/events",
             [&scheduler, heartbeat_s](const Request& request, Response& response) {
               SendEvents(scheduler, request.path_params.at("run"), heartbeat_s, response);
             });
  routes.Post("/v1/runs/{run}/cancel", [&scheduler](const Request& request, Response& response) {
    Control(scheduler, request.path_params.at("run"), RunCommand{}, response);
  });
  const std::string path = "/v1/runs/{run}/paths/{path}/";
  routes.Post(path + "fork", [&scheduler](const Request& request, Response& response) {
    ControlPath(scheduler, request, {RunCommand::Kind::kFork}, response);
  });
  routes.Post(path + "prune", [&scheduler](const Request& request, Response& response) {
    ControlPath(scheduler, request, {RunCommand::Kind::kPrune}, response);
  });
  routes.Post(path + "grant", [&scheduler](const Request& request, Response& response) {
    GrantPath(scheduler, request, response);
  });
}

}  // namespace hyper::server
