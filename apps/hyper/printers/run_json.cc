#include "apps/hyper/printers/run_json.h"

#include <cmath>
#include <utility>

#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr int kIndent = 2;

void AddSetup(const RunSetup& setup, Json* object) {
  (*object)["question"] = setup.question;
  (*object)["prompt"] = setup.prompt;
  (*object)["preset"] = setup.preset;
  for (const OptionValue& option : setup.profile) {
    (*object)["profile"][option.name] = option.text;
  }
  (*object)["engine"] = setup.engine;
  (*object)["determinism"] = setup.determinism;
  if (setup.remote) {
    (*object)["remote"] = {{"connect_timeout", setup.remote->connect_timeout_s},
                           {"timeout", setup.remote->timeout_s},
                           {"retries", setup.remote->retries},
                           {"max_streams", setup.remote->max_streams},
                           {"grant", setup.remote->grant_tokens}};
  }
}

Json WarmupJson(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (std::holds_alternative<WarmupRecord>(record)) {
      return RecordJson(record);
    }
  }
  return nullptr;
}

// The paths that vote, each with the method's own score of it (null: none).
Json VotersJson(const Session& session) {
  Json voters = Json::array();
  for (const Path& path : session.pool().paths()) {
    if (session.method().Votes(session.pool(), path)) {
      const double weight = session.method().Weight(session.pool(), path);
      voters.push_back(
          {{"path", path.id}, {"weight", std::isfinite(weight) ? Json(weight) : Json()}});
    }
  }
  return voters;
}

}  // namespace

std::string RunToJson(const RunReport& report, bool with_timing) {
  const RunSetup& setup = report.setup;
  const ReportContext context{setup.method, setup.model, setup.seed, report.records, false};
  Json object = ReportJson(context, report.session, report.session.Result());
  AddSetup(setup, &object);
  object["warmup"] = WarmupJson(report.records);
  object["warnings"] = report.warnings;
  if (with_timing) {
    Ledger ledger = report.session.pool().ledger();
    ledger.wall_s = report.decode_s;
    object["timing"] = TimingJson(ledger);
    object["timing"]["load_s"] = report.load_s;
  }
  return DumpJson(object, kIndent) + "\n";
}

std::string TraceHead(const RunSetup& setup) {
  Json object = {{"record", "run"},
                 {"method", setup.method},
                 {"model", {{"name", setup.model.name}, {"hash", setup.model.hash}}},
                 {"seed", setup.seed}};
  AddSetup(setup, &object);
  object["vocabulary"] = setup.model.vocab_size;
  object["options"] = OptionsJson(setup.options);
  return DumpJson(object);
}

std::string TraceEnd(const RunReport& report) {
  const SessionResult result = report.session.Result();
  const auto vote = result.votes.find(result.vote_rule);
  const Json object = {{"record", "result"},
                       {"answer", result.answer ? Json(*result.answer) : Json(nullptr)},
                       {"partial", result.partial},
                       {"vote_rule", result.vote_rule},
                       {"vote", vote == result.votes.end() ? Json() : VoteJson(vote->second)},
                       {"voters", VotersJson(report.session)},
                       {"ledger", LedgerJson(result.ledger)}};
  return DumpJson(object);
}

}  // namespace hyper::app
