#include "src/server/run_routes.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "src/server/field_reader.h"
#include "src/server/reply_format.h"

namespace hyper {
namespace {

using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr size_t kLinesAtOnce = 512;
constexpr std::chrono::milliseconds kLook{50};

void Send(Response& response, int status, const Json& body) {
  response.status = status;
  response.set_content(DumpJson(body), "application/json");
}

void SendUnknown(Response& response, const std::string& id) {
  Send(response, 404,
       ApiError{404, "not_found_error", "run_not_found", "",
                "run '" + id + "' is not kept; GET /v1/runs lists those that are"}
           .ToJson());
}

Json SummaryJson(const RunOverview& run) {
  return {{"id", run.id},
          {"object", "hyper.run"},
          {"status", run.status},
          {"method", run.method},
          {"question", run.question},
          {"created", run.created_s},
          {"answer", run.answer.empty() ? Json() : Json(run.answer)},
          {"tokens", run.tokens},
          {"paths", run.paths},
          {"running", run.running},
          {"cells", run.cells}};
}

// GET /v1/runs/ID: the summary with the records, those of tokens left out.
void SendRun(const Scheduler& scheduler, const std::string& id, Response& response) {
  const std::optional<RunOverview> summary = scheduler.Find(id);
  const std::shared_ptr<const RunLog> log = scheduler.Log(id);
  if (!summary || log == nullptr) {
    SendUnknown(response, id);
    return;
  }
  Json body = SummaryJson(*summary);
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
    SendUnknown(response, id);
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
    Send(response, error->status, error->ToJson());
  } else {
    Send(response, 200, {{"id", id}, {"object", "hyper.run"}, {"done", true}});
  }
}

void ControlPath(Scheduler& scheduler, const Request& request, Response& response) {
  RunCommand command;
  constexpr size_t kMostDigits = 6;
  const std::string number = request.matches[2];
  command.path = number.size() <= kMostDigits ? std::stoi(number) : -1;
  const std::string action = request.matches[3];
  if (action == "grant") {
    command.kind = RunCommand::Kind::kGrant;
    const Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const Json object = body.is_object() ? body : Json::object();
    FieldReader fields(object);
    if (!fields.TakeWithin("tokens", 1, 1 << 20, command.tokens)) {
      const ApiError error = fields.error().value_or(
          BadField("tokens", "'tokens' is missing; it takes the number of tokens to grant"));
      Send(response, error.status, error.ToJson());
      return;
    }
  } else {
    command.kind = action == "fork" ? RunCommand::Kind::kFork : RunCommand::Kind::kPrune;
  }
  Control(scheduler, request.matches[1], command, response);
}

}  // namespace

void AddRunRoutes(httplib::Server& server, Scheduler& scheduler, double heartbeat_s) {
  server.Get("/v1/runs", [&scheduler](const Request& /*request*/, Response& response) {
    Json runs = Json::array();
    for (const RunOverview& run : scheduler.Runs()) {
      runs.push_back(SummaryJson(run));
    }
    Send(response, 200, {{"object", "list"}, {"data", std::move(runs)}});
  });
  server.Get(R"(/v1/runs/(\w+))", [&scheduler](const Request& request, Response& response) {
    SendRun(scheduler, request.matches[1], response);
  });
  server.Get(R"(/v1/runs/(\w+)/events)",
             [&scheduler, heartbeat_s](const Request& request, Response& response) {
               SendEvents(scheduler, request.matches[1], heartbeat_s, response);
             });
  server.Post(R"(/v1/runs/(\w+)/cancel)", [&scheduler](const Request& request, Response& response) {
    Control(scheduler, request.matches[1], RunCommand{}, response);
  });
  server.Post(R"(/v1/runs/(\w+)/paths/(\d+)/(fork|prune|grant))",
              [&scheduler](const Request& request, Response& response) {
                ControlPath(scheduler, request, response);
              });
}

}  // namespace hyper
