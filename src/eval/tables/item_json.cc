#include "src/eval/tables/item_json.h"

#include <cmath>
#include <utility>
#include <variant>

namespace hyper::eval {
namespace {

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json TextOrNull(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json IdOrNull(PathId path) { return path == kNoPath ? Json(nullptr) : Json(path); }

// A setting as the number or the truth value that its text is, else as the text.
Json SettingJson(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool plain = value.is_number() || value.is_boolean();
  return plain ? value : Json(text);
}

Json RunJson(const StoredRun& run) {
  Json settings = Json::object();
  for (const auto& [name, text] : run.settings) {
    settings[name] = SettingJson(text);
  }
  return {{"id", run.id},
          {"label", run.label},
          {"method", run.method},
          {"suite", run.suite},
          {"model", {{"name", run.model}, {"hash", TextOrNull(run.model_hash)}}},
          {"engine", run.engine},
          {"version", run.version},
          {"seed", run.seed},
          {"settings", std::move(settings)}};
}

Json QuestionJson(const StoredQuestion& question) {
  return {{"name", question.name},    {"group", question.group},   {"kind", question.kind},
          {"gold", question.gold},    {"labels", question.labels}, {"text", question.text},
          {"prompt", question.prompt}};
}

Json GradeJson(const std::optional<StoredGrade>& grade) {
  if (!grade) {
    return nullptr;
  }
  return {{"verdict", NameOf(grade->verdict)},
          {"gold", grade->gold},
          {"grader", grade->grader},
          {"note", TextOrNull(grade->note)}};
}

Json VoteJson(const StoredVote& vote) {
  Json scores = Json::array();
  for (const StoredTally& tally : vote.tallies) {
    scores.push_back({{"answer", tally.answer},
                      {"score", Number(tally.score)},
                      {"share", Number(tally.share)},
                      {"paths", tally.paths},
                      {"candidate", tally.candidate}});
  }
  return {{"answer", TextOrNull(vote.answer)},
          {"tie", vote.tie},
          {"clipped", vote.clipped},
          {"scores", std::move(scores)}};
}

// Values of one series; those that are not finite are null.
Json ValuesJson(const StoredSeries& series) {
  Json values = Json::array();
  std::visit(
      [&](const auto& all) {
        for (const auto value : all) {
          values.push_back(std::isfinite(static_cast<double>(value)) ? Json(value) : Json(nullptr));
        }
      },
      series.values);
  return values;
}

Json PathJson(const StoredPath& path, const StoredItem& item, bool series) {
  Json object = {{"id", path.path},
                 {"parent", IdOrNull(path.parent)},
                 {"fork_position", path.fork_position},
                 {"warmup", path.warmup},
                 {"kind", NameOf(path.kind)},
                 {"status", NameOf(path.status)},
                 {"reason", TextOrNull(path.reason)},
                 {"kept", IdOrNull(path.kept)},
                 {"answer", TextOrNull(path.answer)},
                 {"tentative", path.tentative},
                 {"tokens", path.tokens},
                 {"mean_confidence", Number(path.mean_confidence)},
                 {"lowest_window", Number(path.lowest_window)},
                 {"text", path.text}};
  if (!series) {
    return object;
  }
  Json all = Json::object();
  for (const StoredSeries& one : item.series) {
    if (one.path == path.path) {
      all[one.name] = ValuesJson(one);
    }
  }
  object["series"] = std::move(all);
  return object;
}

}  // namespace

Json ItemJson(const ItemContext& context, const StoredItem& item, bool series) {
  Json votes = Json::object();
  for (const StoredVote& vote : item.votes) {
    votes[vote.rule] = VoteJson(vote);
  }
  Json paths = Json::array();
  for (const StoredPath& path : item.paths) {
    paths.push_back(PathJson(path, item, series));
  }
  Json decisions = Json::array();
  for (const DecisionRecord& decision : item.decisions) {
    decisions.push_back(RecordJson(Record(decision)));
  }
  return {{"run", RunJson(context.run)},
          {"question", QuestionJson(context.question)},
          {"repeat", item.key.repeat},
          {"status", NameOf(item.status)},
          {"reason", TextOrNull(item.reason)},
          {"answer", TextOrNull(item.answer)},
          {"grade", GradeJson(context.summary.grade)},
          {"vote_rule", item.vote_rule},
          {"voting_paths", item.voting_paths},
          {"votes", std::move(votes)},
          {"warmup", item.warmup ? RecordJson(Record(*item.warmup)) : Json(nullptr)},
          {"paths", std::move(paths)},
          {"decisions", std::move(decisions)},
          {"notices", item.notices},
          {"ledger", LedgerJson(item.ledger)},
          {"timing", TimingJson(item.ledger)},
          {"lost",
           {{"attempts", context.summary.lost.attempts},
            {"generated_tokens", context.summary.lost.generated_tokens},
            {"effective_tokens", context.summary.lost.effective_tokens}}}};
}

}  // namespace hyper::eval
