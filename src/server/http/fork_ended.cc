#include "src/server/http/fork_ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

#include "src/server/http/model_choice.h"
#include "src/server/http/run_lookup.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Response;

ApiError CannotFork(const char* code, std::string message) {
  return {409, "invalid_request_error", code, "path", std::move(message)};
}

const Json* RecordOf(const std::vector<Json>& records, const char* kind, int path) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Json& record) {
    return record["record"] == kind && record["path"] == path;
  });
  return found != records.end() ? &*found : nullptr;
}

struct EndedRun {
  std::vector<Json> records;  // those of tokens too where they are anywhere; empty: no such run
  std::optional<size_t> model;
  std::string model_name;  // as RunOverview::model
};

EndedRun RunOf(const ModelHost& host, const Client& client, const std::string& id) {
  const RunBook& book = host.book();
  if (const RunArchive* archive = book.archive()) {
    const Result<std::optional<RunOverview>> run = archive->Find(id);
    if (run && *run && MaySee(client, (*run)->client)) {
      return {archive->Records(id).value_or({}), ModelOf(host, **run), (*run)->model};
    }
  }
  const std::shared_ptr<const RunLog> log = book.Log(id);
  const std::optional<RunOverview> run = FindInMemory(book, client, id);
  return log != nullptr && run ? EndedRun{RecordsIn(*log), ModelOf(host, *run), run->model}
                               : EndedRun();
}

// What the run's first record says of its model: "name" or "hash".
std::string OfModel(const Json& head, const char* what) {
  const auto model = head.find("model");
  return model != head.end() && model->is_object() ? model->value(what, "") : "";
}

// Tokens mean something to one model only; nothing where it is that one, as far as is known.
std::optional<ApiError> CheckModel(const Json& head, const ModelInfo& model) {
  const std::string hash = OfModel(head, "hash");
  return hash.empty() || model.hash.empty() || hash == model.hash
             ? std::nullopt
             : std::optional(CannotFork(
                   "other_model", fmt::format("the run is of model '{}' with other weights than "
                                              "those that are served; serve that model",
                                              OfModel(head, "name"))));
}

// A run of a server of one model does not say by which name that is served now.
std::optional<size_t> ServedFor(const ModelHost& host, const EndedRun& run, const Json& head) {
  return run.model_name.empty() && !run.model ? host.OfHash(OfModel(head, "hash")) : run.model;
}

ApiError NotServed(const std::string& id, const EndedRun& run, const Json& head) {
  return CannotFork(
      "other_model",
      run.model_name.empty()
          ? fmt::format("run '{}' is of model '{}', which is not among those that were loaded so "
                        "far; if it is served, ask it something first",
                        id, OfModel(head, "name"))
          : fmt::format("run '{}' is of model '{}', which is not served here; serve it under that "
                        "name",
                        id, run.model_name));
}

// What stands in the way of a fork there.
std::optional<ApiError> CheckPlace(const std::vector<Json>& records, const std::string& id,
                                   const RunCommand& command) {
  const Json* end = RecordOf(records, "finish", command.path);
  if (end == nullptr) {
    return CannotFork("path_not_running", fmt::format("{} has no path {}", id, command.path));
  }
  if (!command.at) {
    return CannotFork("path_not_running",
                      fmt::format("run '{}' has ended; 'at' says at which token of path {} a new "
                                  "one goes on",
                                  id, command.path));
  }
  if (const int tokens = (*end)["tokens"]; *command.at > tokens) {
    return BadField(
        "at", fmt::format("'at' is {}; path {} has {} tokens", *command.at, command.path, tokens));
  }
  return std::nullopt;
}

// The request of the new run, as if a client had sent the tokens as a prompt.
ParsedRequest Continuation(const Json& head, const std::vector<Token>& tokens,
                           const RunCommand& command, const ServerLimits& limits) {
  const Json& options = head["options"];
  Json own = {{"width", command.count}, {"launch", "parallel"}, {"token-records", true}};
  for (const char* name : {"temperature", "top-p", "top-k", "min-p", "max-tokens"}) {
    if (options.contains(name)) {
      own[name] = options[name];
    }
  }
  if (command.temperature) {
    own["temperature"] = *command.temperature;
  }
  if (command.seed) {
    own["seed"] = *command.seed;
  }
  const Json body = {
      {"model", limits.model_name + ":sc"}, {"prompt", tokens}, {"hyper", std::move(own)}};
  return ParseCompletionRequest(body.dump(), limits);
}

Result<Json> TokensOfText(Scheduler& scheduler, const std::string& text) {
  return scheduler.AskEngine([&text](Engine& engine) -> Result<Json> {
    const Result<std::vector<Token>> tokens = engine.Tokenize(text, /*parse_special=*/false);
    return tokens ? Result<Json>(Json(*tokens)) : Result<Json>(tokens.error());
  });
}

// Nothing where the run was taken; else why not.
std::optional<ApiError> Refusal(ReplyQueue& reply) {
  std::optional<ReplyEvent> event;
  while (!event) {
    event = reply.Take(kLook);
  }
  reply.Abandon();  // it goes on without a reader
  return event->kind == ReplyEvent::Kind::kError ? std::optional(event->error) : std::nullopt;
}

// What a new run goes on from.
struct ForkPlace {
  const std::string& id;  // of the ended run
  const Json& head;       // its first record
  const std::vector<Token>& written;
  const RunCommand& command;
};

void Start(const ModelLease& model, const Client& client, const ForkPlace& fork,
           Response& response) {
  const RunCommand& command = fork.command;
  Scheduler& scheduler = model.scheduler();
  const Result<Json> given = TokensOfText(scheduler, command.text);
  if (!given) {
    SendError(response, FromError(given.error()));
    return;
  }
  std::vector<Token> tokens = fork.head["prompt_tokens"];
  const size_t begin = tokens.size();
  tokens.insert(tokens.end(), fork.written.begin(), fork.written.end());
  for (const Json& token : *given) {
    tokens.push_back(token);
  }
  ParsedRequest parsed =
      Continuation(fork.head, tokens, command, LimitsFor(model.limits(), client));
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    SendError(response, *error);
    return;
  }
  ServedRun run = std::move(std::get<ApiRequest>(parsed).runs.front());
  run.client = client;
  run.model = model.label();
  run.keep_running = true;
  run.fork =
      ForkStart{begin, fork.head["question"],
                fmt::format("goes on from token {} of path {} of {}{}", *command.at, command.path,
                            fork.id, command.text.empty() ? "" : ", behind a given text")};
  auto reply = std::make_shared<ReplyQueue>(64);
  const Scheduler::Submission submission = scheduler.Submit({std::move(run)}, reply);
  const std::optional<ApiError> refused = submission.error ? submission.error : Refusal(*reply);
  if (refused) {
    SendError(response, *refused);
    return;
  }
  scheduler.book().AwaitStored();
  std::vector<int> paths(static_cast<size_t>(command.count));
  std::iota(paths.begin(), paths.end(), 0);
  response.set_header("X-Hyper-Run", submission.id);
  Send(response, 200,
       {{"id", submission.id},
        {"object", "hyper.run"},
        {"done", true},
        {"paths", paths},
        {"fork_of", {{"run", fork.id}, {"path", command.path}, {"at", *command.at}}}});
}

}  // namespace

std::optional<std::vector<Token>> FirstTokensOf(const std::vector<Json>& records, int path,
                                                int count) {
  std::map<int, Token> written;  // by position: a path's own, then those before its fork
  int end = count;
  for (const Json* at = RecordOf(records, "path", path); at != nullptr && end > 0;) {
    for (const Json& record : records) {
      if (record["record"] == "token" && record["path"] == (*at)["path"] &&
          record["position"] < end && record["position"] >= (*at)["position"]) {
        written[record["position"]] = record["token"];
      }
    }
    end = std::min<int>(end, (*at)["position"]);
    at = (*at)["parent"].is_null() ? nullptr : RecordOf(records, "path", (*at)["parent"]);
  }
  if (static_cast<int>(written.size()) != count) {
    return std::nullopt;
  }
  std::vector<Token> tokens;
  tokens.reserve(written.size());
  for (const auto& [position, token] : written) {
    tokens.push_back(token);
  }
  return tokens;
}

void ForkEnded(ModelHost& host, const Client& client, const std::string& id,
               const RunCommand& command, Response& response) {
  const EndedRun ended = RunOf(host, client, id);
  const std::vector<Json>& records = ended.records;
  if (records.empty()) {
    SendUnknownRun(response, id);
    return;
  }
  if (const std::optional<ApiError> error = CheckPlace(records, id, command)) {
    SendError(response, *error);
    return;
  }
  const Json& head = records.front();
  const std::optional<std::vector<Token>> written =
      FirstTokensOf(records, command.path, *command.at);
  if (!written || !head.contains("prompt_tokens")) {
    SendError(response, CannotFork("tokens_not_kept",
                                   fmt::format("the tokens of '{}' are not kept; ask with "
                                               "hyper.token-records, or serve with --store",
                                               id)));
    return;
  }
  const std::optional<size_t> served = ServedFor(host, ended, head);
  if (!served) {
    SendError(response, NotServed(id, ended, head));
    return;
  }
  if (const std::optional<ApiError> error = host.CheckTokens(client)) {
    SendError(response, *error);
    return;
  }
  const std::optional<ModelLease> model = AwaitModel(host, *served, response);
  if (!model) {
    return;
  }
  if (const std::optional<ApiError> error = CheckModel(head, model->limits().model)) {
    SendError(response, *error);
    return;
  }
  Start(*model, client, {id, head, *written, command}, response);
}

}  // namespace hyper::server
