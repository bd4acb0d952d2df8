#include "src/eval/run/session_record.h"

#include <string>
#include <utility>
#include <variant>

namespace hyper::eval {
namespace {

StoredPath RecordPath(const Path& path) {
  StoredPath stored;
  stored.path = path.id;
  stored.parent = path.parent;
  stored.fork_position = path.fork_position;
  stored.warmup = path.warmup;
  stored.kind = path.kind;
  stored.status = path.status;
  stored.reason = path.reason;
  stored.kept = path.kept;
  stored.key = path.key;
  stored.tokens = path.length();
  stored.mean_confidence = path.mean_confidence;
  stored.lowest_window = path.lowest_window;
  stored.text = path.text;
  if (!path.answer.empty()) stored.answer = path.answer;
  stored.answer_raw = path.answer_raw;
  stored.tentative = path.tentative;
  return stored;
}

// The values of a path's own tokens; empty series are left out.
template <class Stored, class Value>
void AddSeries(const Path& path, const char* name, const std::vector<Value>& values,
               std::vector<StoredSeries>& series) {
  const auto first = static_cast<size_t>(path.fork_position);
  if (values.size() < first || values.empty()) return;
  series.push_back({path.id, name, path.fork_position,
                    std::vector<Stored>(values.begin() + path.fork_position, values.end())});
}

void AddAllSeries(const Path& path, std::vector<StoredSeries>& series) {
  AddSeries<int32_t>(path, "token", path.tokens, series);
  AddSeries<float>(path, "logprob", path.logprobs, series);
  AddSeries<float>(path, "confidence", path.confidences, series);
  AddSeries<float>(path, "confidence_top20", path.confidences_top20, series);
  AddSeries<float>(path, "mean_logprob", path.mean_logprobs, series);
  AddSeries<float>(path, "entropy", path.entropies, series);
  AddSeries<uint8_t>(path, "routes", path.route_counts, series);
}

StoredVote RecordVote(const std::string& rule, const VoteOutcome& outcome) {
  StoredVote vote{rule, outcome.answer, outcome.tie, outcome.clipped, {}};
  for (const AnswerTally& tally : outcome.scores) {
    vote.tallies.push_back({tally.answer, tally.score, tally.share, tally.paths, tally.candidate});
  }
  return vote;
}

void AddRecord(const Record& record, StoredItem& item) {
  if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
    item.decisions.push_back(*decision);
  } else if (const auto* refine = std::get_if<RefineRecord>(&record)) {
    item.refinements.push_back(*refine);
  } else if (const auto* warmup = std::get_if<WarmupRecord>(&record)) {
    item.warmup = *warmup;
  } else if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
    item.notices.push_back(notice->text);
  } else if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
    item.notices.push_back(ShortageText(*shortage));
  }
}

}  // namespace

StoredItem RecordSession(const Session& session, const std::vector<Record>& records, ItemKey key) {
  const SessionResult result = session.Result();
  StoredItem item;
  item.key = key;
  if (!session.status()) {
    item.status = ItemStatus::kFailed;
    item.reason = session.status().error().message;
  } else if (result.partial) {
    item.status = ItemStatus::kPartial;
    item.reason = result.partial_reason;
  }
  item.answer = result.answer;
  item.vote_rule = result.vote_rule;
  item.voting_paths = result.voting_paths;
  item.ledger = result.ledger;
  for (const Path& path : session.pool().paths()) {
    item.paths.push_back(RecordPath(path));
    AddAllSeries(path, item.series);
  }
  for (const auto& [rule, outcome] : result.votes) item.votes.push_back(RecordVote(rule, outcome));
  for (const Record& record : records) AddRecord(record, item);
  return item;
}

}  // namespace hyper::eval
