#include "src/server/http/run_routes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/server/api/reply_format.h"
#include "src/server/http/model_choice.h"
#include "src/server/http/run_lookup.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr size_t kLinesAtOnce = 512;

// GET /v1/runs?limit=N: those in memory, then those that are stored only.
void SendRuns(const RunBook& book, const Client& client, const Request& request,
              Response& response) {
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
  std::vector<RunOverview> runs = book.Runs();
  std::erase_if(runs, [&client](const RunOverview& run) { return !MaySee(client, run.client); });
  if (const RunArchive* archive = book.archive()) {
    const Result<std::vector<RunOverview>> stored = archive->Newest(limit, client);
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
void SendStudies(const RunBook& book, Result<Json> (RunArchive::*read)() const,
                 Response& response) {
  Json studies = Json::array();
  if (const RunArchive* archive = book.archive()) {
    Result<Json> stored = (archive->*read)();
    if (!stored) {
      SendError(response, FromError(stored.error()));
      return;
    }
    studies = std::move(*stored);
  }
  Send(response, 200, {{"object", "list"}, {"data", std::move(studies)}});
}

// The overview of a run that is stored only; nothing, after a reply, where there is none that the
// client may see.
std::optional<RunOverview> FindStored(const RunBook& book, const Client& client,
                                      const std::string& id, Response& response) {
  const RunArchive* archive = book.archive();
  const Result<std::optional<RunOverview>> run =
      archive != nullptr ? archive->Find(id) : std::optional<RunOverview>();
  if (!run) {
    SendError(response, FromError(run.error()));
  } else if (!*run || !MaySee(client, (*run)->client)) {
    SendUnknownRun(response, id);
  } else {
    return *run;
  }
  return std::nullopt;
}

// As SendRun and SendEvents, of a run that is stored only.
void SendStored(const RunBook& book, const Client& client, const std::string& id, bool events,
                Response& response) {
  const std::optional<RunOverview> run = FindStored(book, client, id, response);
  if (!run) {
    return;
  }
  const Result<std::vector<Json>> records = book.archive()->Records(id);
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
void SendRun(const RunBook& book, const Client& client, const std::string& id, Response& response) {
  const std::optional<RunOverview> summary = FindInMemory(book, client, id);
  const std::shared_ptr<const RunLog> log = book.Log(id);
  if (!summary || log == nullptr) {
    SendStored(book, client, id, /*events=*/false, response);
    return;
  }
  Json body = OverviewJson(*summary);
  body["records"] = Json::array();
  for (Json& record : RecordsIn(*log)) {
    if (record.value("record", "") != "token") {
      body["records"].push_back(std::move(record));
    }
  }
  Send(response, 200, body);
}

// GET /v1/runs/ID/events: all records from the first, live ones as they come.
void SendEvents(const RunBook& book, const Client& client, const std::string& id,
                double heartbeat_s, Response& response) {
  const std::shared_ptr<const RunLog> log = book.Log(id);
  if (log == nullptr || !FindInMemory(book, client, id)) {
    SendStored(book, client, id, /*events=*/true, response);
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

// DELETE /v1/runs/ID: a run that has ended, from memory and from the store.
void DeleteRun(ModelHost& host, const Client& client, const std::string& id, Response& response) {
  RunBook& book = host.book();
  RunArchive* archive = book.archive();
  const std::optional<RunOverview> kept = FindInMemory(book, client, id);
  if (!kept && !FindStored(book, client, id, response)) {
    return;
  }
  if (kept) {
    const std::optional<ModelLease> model = LoadedModelOf(host, *kept);
    const std::optional<ApiError> error = model ? model->scheduler().Forget(id) : book.Forget(id);
    // Newer runs may have taken its place in memory meanwhile.
    const bool gone = error && error->code == NoSuchRun(id).code;
    if (error && !gone) {
      SendError(response, *error);
      return;
    }
    if (gone && !FindStored(book, client, id, response)) {
      return;
    }
  }
  const Status deleted = archive != nullptr ? archive->Delete(id) : Status();
  if (!deleted) {
    SendError(response, FromError(deleted.error()));
    return;
  }
  Send(response, 200, {{"id", id}, {"object", "hyper.run"}, {"deleted", true}});
}

}  // namespace

void AddRunRoutes(Routes& routes, ModelHost& host, double heartbeat_s) {
  const RunBook& book = host.book();
  routes.Get("/v1/runs", [&book](const Request& request, Response& response) {
    SendRuns(book, ClientOf(response), request, response);
  });
  routes.Get("/v1/studies", [&book](const Request& /*request*/, Response& response) {
    SendStudies(book, &RunArchive::Studies, response);
  });
  routes.Get("/v1/studies/figures", [&book](const Request& /*request*/, Response& response) {
    SendStudies(book, &RunArchive::Figures, response);
  });
  routes.Get("/v1/runs/{run}", [&book](const Request& request, Response& response) {
    SendRun(book, ClientOf(response), request.path_params.at("run"), response);
  });
  routes.Delete("/v1/runs/{run}", [&host](const Request& request, Response& response) {
    DeleteRun(host, ClientOf(response), request.path_params.at("run"), response);
  });
  routes.Get(
      "/v1/runs/{run}/events", [&book, heartbeat_s](const Request& request, Response& response) {
        SendEvents(book, ClientOf(response), request.path_params.at("run"), heartbeat_s, response);
      });
}

}  // namespace hyper::server
