#include "src/report/json.h"

#include <cmath>
#include <optional>

#include "src/report/options_json.h"

namespace hyper {
namespace {

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ModelJson(const ModelInfo& model) {
  Json json = {{"name", model.name}, {"hash", TextOrNull(model.hash)}};
  if (model.gpu_layers > 0) {
    json["gpu_layers"] = model.gpu_layers;
  }
  return json;
}

Json IdOrNull(PathId path) { return path == kNoPath ? Json(nullptr) : Json(path); }

Json StatisticsJson(const PoolStatistics& statistics) {
  Json json = Json::object();
  PoolStatistics::ForEach(statistics,
                          [&json](const char* name, double value) { json[name] = Number(value); });
  return json;
}

Json MaximumJson(const Maximum& maximum) {
  return {{"value", Number(maximum.value)},
          {"position", maximum.position < 0 ? Json(nullptr) : Json(maximum.position)},
          {"paths", maximum.paths}};
}

Json ReadingsJson(const std::vector<DecisionRecord::Reading>& readings) {
  Json all = Json::array();
  for (const DecisionRecord::Reading& reading : readings) {
    Json top = Json::array();
    for (const TokenLogprob& candidate : reading.top) {
      top.push_back({candidate.token, Number(candidate.logprob)});
    }
    all.push_back({{"path", reading.path}, {"top", std::move(top)}});
  }
  return all;
}

// One array per statistic, all of one length.
Json PositionsJson(const std::vector<WarmupRecord::Position>& positions) {
  Json columns = {{"paths", Json::array()}};
  for (const WarmupRecord::Position& position : positions) {
    columns["paths"].push_back(position.paths);
    PoolStatistics::ForEach(position.statistics, [&columns](const char* name, double value) {
      columns[name].push_back(Number(value));
    });
  }
  return columns;
}

// The members of each kind of record, "record" first.
struct RecordVisitor {
  Json operator()(const PathRecord& path) const {
    return {{"record", "path"},
            {"path", path.path},
            {"parent", IdOrNull(path.parent)},
            {"position", path.position},
            {"warmup", path.warmup}};
  }

  Json operator()(const TokenRecord& token) const {
    return {{"record", "token"},
            {"path", token.path},
            {"position", token.position},
            {"token", token.token},
            {"text", token.text},
            {"logprob", Number(token.logprob)},
            {"confidence", Number(token.confidence)},
            {"entropy", Number(token.entropy)},
            {"routes", token.routes},
            {"confidence_top20", Number(token.confidence_top20)},
            {"mean_logprob", Number(token.mean_logprob)},
            {"window_mean", Number(token.window_mean)}};
  }

  Json operator()(const DecisionRecord& decision) const {
    Json scores = Json::object();
    for (size_t i = 0; i < kActionCount; ++i) {
      const auto action = static_cast<Action>(i);
      scores[NameOf(action)] =
          decision.allowed.Has(action) ? Number(decision.scores[i]) : Json(nullptr);
    }
    return {{"record", "decision"},
            {"step", decision.step},
            {"position", decision.position},
            {"raw", StatisticsJson(decision.raw)},
            {"normalised", StatisticsJson(decision.normalised)},
            {"scores", std::move(scores)},
            {"action", NameOf(decision.action)},
            {"acted", decision.acted},
            {"expansion", decision.expansion},
            {"paths_before", decision.paths_before},
            {"paths_after", decision.paths_after},
            {"lanes_after", decision.lanes_after},
            {"note", TextOrNull(decision.note)}};
  }

  Json operator()(const RefineRecord& refine) const {
    return {{"record", "refine"},
            {"path", refine.path},
            {"position", refine.position},
            {"routes", refine.routes}};
  }

  Json operator()(const FinishRecord& finish) const {
    return {{"record", "finish"},
            {"path", finish.path},
            {"status", NameOf(finish.status)},
            {"tokens", finish.tokens},
            {"reason", TextOrNull(finish.reason)},
            {"answer", TextOrNull(finish.answer)},
            {"tentative", finish.tentative},
            {"mean_confidence", Number(finish.confidence)},
            {"lowest_window", Number(finish.lowest_window)},
            {"kept", IdOrNull(finish.kept)}};
  }

  Json operator()(const WarmupRecord& warmup) const {
    Json json = {{"record", "warmup"},
                 {"threshold", warmup.has_threshold ? Number(warmup.threshold) : Json(nullptr)}};
    MaxStatistics::ForEach(warmup.maxima, [&json](const char* name, const Maximum& maximum) {
      json[name] = MaximumJson(maximum);
    });
    return json;
  }

  Json operator()(const NoticeRecord& notice) const {
    return {{"record", "notice"}, {"text", notice.text}};
  }

  Json operator()(const ShortageRecord& shortage) const {
    return {{"record", "shortage"},           {"step", ShortageStepName(shortage.step)},
            {"position", shortage.position},  {"running", shortage.running},
            {"routes", shortage.routes},      {"cells", shortage.cells},
            {"path", IdOrNull(shortage.path)}};
  }

  Json operator()(const StopRecord& stop) const {
    return {{"record", "stop"},
            {"answer", stop.answer},
            {"posterior", Number(stop.posterior)},
            {"basis", stop.basis},
            {"voters", stop.voters},
            {"paths", stop.paths},
            {"cancelled", stop.cancelled},
            {"unopened", stop.unopened},
            {"saved", stop.saved}};
  }
};

}  // namespace

Json LedgerJson(const Ledger& ledger) {
  return {{"generated", ledger.generated},
          {"effective", ledger.effective()},
          {"refined", ledger.refined},
          {"extra_routes", ledger.extra_routes},
          {"prefilled", ledger.prefilled},
          {"recomputed", ledger.recomputed},
          {"probe", ledger.probe},
          {"judge", ledger.judge},
          {"value", ledger.value},
          {"lanes_opened", ledger.lanes_opened},
          {"lanes_peak", ledger.lanes_peak},
          {"lanes_mean", Number(ledger.mean_lanes())},
          {"positions", ledger.positions},
          {"cells_peak", ledger.cells_peak},
          {"cells_peak_bytes", Number(ledger.cells_peak_bytes())},
          {"penalty_sums", ledger.penalty_sums},
          {"penalty_rewards", ledger.penalty_rewards},
          {"saved", ledger.saved},
          {"stalls", ledger.stalls}};
}

Json TimingJson(const Ledger& ledger) {
  const double rest = ledger.wall_s - ledger.engine_s - ledger.sampler_s - ledger.statistics_s;
  return {{"wall_s", Number(ledger.wall_s)},
          {"engine_s", Number(ledger.engine_s)},
          {"sampler_s", Number(ledger.sampler_s)},
          {"statistics_s", Number(ledger.statistics_s)},
          {"rest_s", Number(rest)}};
}

Json VoteJson(const VoteOutcome& vote) {
  Json scores = Json::array();
  for (const AnswerTally& tally : vote.scores) {
    scores.push_back({{"answer", tally.answer},
                      {"score", Number(tally.score)},
                      {"share", Number(tally.share)},
                      {"paths", tally.paths},
                      {"candidate", tally.candidate}});
  }
  return {{"answer", vote.answer ? Json(*vote.answer) : Json(nullptr)},
          {"tie", vote.tie},
          {"clipped", vote.clipped},
          {"scores", std::move(scores)}};
}

Json PathJson(const Path& path) {
  return {{"id", path.id},
          {"parent", IdOrNull(path.parent)},
          {"fork_position", path.fork_position},
          {"warmup", path.warmup},
          {"status", NameOf(path.status)},
          {"reason", TextOrNull(path.reason)},
          {"kept", IdOrNull(path.kept)},
          {"answer", TextOrNull(path.answer)},
          {"tentative", path.tentative},
          {"tokens", path.length()},
          {"mean_confidence", Number(path.mean_confidence)},
          {"lowest_window", Number(path.lowest_window)},
          {"text", path.text}};
}

Json RecordJson(const Record& record) { return std::visit(RecordVisitor{}, record); }

Json TraceJson(const Record& record) {
  Json json = RecordJson(record);
  if (const auto* path = std::get_if<PathRecord>(&record)) {
    json["kind"] = NameOf(path->kind);
  } else if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
    json["readings"] = ReadingsJson(decision->readings);
  } else if (const auto* warmup = std::get_if<WarmupRecord>(&record)) {
    json["positions"] = PositionsJson(warmup->positions);
  }
  return json;
}

Json OptionsJson(const MethodOptions& options) {
  Json object = Json::object();
  MethodOptions copy = options;
  for (const Option& option : OptionsOf(copy)) {
    object[option.info().name] = OptionJson(option);
  }
  return object;
}

Json ReportJson(const ReportContext& context, const Session& session, const SessionResult& result) {
  Json votes = Json::object();
  for (const auto& [rule, outcome] : result.votes) {
    votes[rule] = VoteJson(outcome);
  }
  Json paths = Json::array();
  for (const Path& path : session.pool().paths()) {
    paths.push_back(PathJson(path));
  }
  Json decisions = Json::array();
  Json stop = nullptr;
  for (const Record& record : context.records) {
    if (std::holds_alternative<DecisionRecord>(record)) {
      decisions.push_back(RecordJson(record));
    } else if (std::holds_alternative<StopRecord>(record)) {
      stop = RecordJson(record);
    }
  }
  Json report = {{"answer", result.answer ? Json(*result.answer) : Json(nullptr)},
                 {"method", context.method},
                 {"model", ModelJson(context.model)},
                 {"seed", context.seed},
                 {"partial", result.partial},
                 {"partial_reason", TextOrNull(result.partial_reason)},
                 {"vote_rule", result.vote_rule},
                 {"voting_paths", result.voting_paths},
                 {"votes", std::move(votes)},
                 {"paths", std::move(paths)},
                 {"decisions", std::move(decisions)},
                 {"stop", std::move(stop)},
                 {"ledger", LedgerJson(result.ledger)},
                 {"options", OptionsJson(session.pool().options())}};
  if (context.timing) {
    report["timing"] = TimingJson(result.ledger);
  }
  return report;
}

std::string DumpJson(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hyper
