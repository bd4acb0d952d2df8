#include "src/eval/run/session_record.h"

#include <map>
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
  if (!path.answer.empty()) {
    stored.answer = path.answer;
  }
  stored.answer_raw = path.answer_raw;
  stored.tentative = path.tentative;
  return stored;
}

// The values of a path's own tokens; empty series are left out.
template <class Stored, class Value>
void AddSeries(const Path& path, const char* name, const std::vector<Value>& values,
               std::vector<StoredSeries>& series) {
  const auto first = static_cast<size_t>(path.fork_position);
  if (values.size() < first || values.empty()) {
    return;
  }
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

// What each path's decisions read: the positions, and the most probable tokens at each of them,
// equally many at every position.
void AddReadings(const std::vector<Record>& records, std::vector<StoredSeries>& series) {
  struct Readings {
    std::vector<int32_t> positions;
    std::vector<int32_t> tokens;
    std::vector<float> logprobs;
  };
  std::map<PathId, Readings> of_path;
  for (const Record& record : records) {
    const auto* decision = std::get_if<DecisionRecord>(&record);
    if (decision == nullptr) {
      continue;
    }
    for (const DecisionRecord::Reading& reading : decision->readings) {
      Readings& all = of_path[reading.path];
      all.positions.push_back(decision->position);
      for (const TokenLogprob& candidate : reading.top) {
        all.tokens.push_back(candidate.token);
        all.logprobs.push_back(candidate.logprob);
      }
    }
  }
  for (auto& [path, all] : of_path) {
    series.push_back({path, "read_position", 0, std::move(all.positions)});
    series.push_back({path, "read_token", 0, std::move(all.tokens)});
    series.push_back({path, "read_logprob", 0, std::move(all.logprobs)});
  }
}

// The warm-up's statistics by position, as series of no path.
void AddWarmupPositions(const WarmupRecord& warmup, std::vector<StoredSeries>& series) {
  std::map<std::string, std::vector<float>> columns;
  for (const WarmupRecord::Position& position : warmup.positions) {
    columns["warmup_paths"].push_back(static_cast<float>(position.paths));
    PoolStatistics::ForEach(position.statistics, [&columns](const char* name, double value) {
      columns[std::string("warmup_") + name].push_back(static_cast<float>(value));
    });
  }
  for (auto& [name, values] : columns) {
    series.push_back({kNoPath, name, 0, std::move(values)});
  }
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
  } else if (const auto* stop = std::get_if<StopRecord>(&record)) {
    item.notices.push_back(StopText(*stop));
  }
}

// Whether the engine gave up so many paths that the vote of the rest is not the method's.
bool LostMostPaths(const Session& session, const SessionResult& result) {
  return result.failed_paths > 0 &&
         2 * static_cast<size_t>(result.failed_paths) >= session.pool().paths().size();
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
    item.status = LostMostPaths(session, result) ? ItemStatus::kFailed : ItemStatus::kPartial;
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
  for (const Record& record : records) {
    AddRecord(record, item);
  }
  for (const auto& [rule, outcome] : result.votes) {
    item.votes.push_back(RecordVote(rule, outcome));
  }
  AddReadings(records, item.series);
  if (item.warmup) {
    AddWarmupPositions(*item.warmup, item.series);
  }
  return item;
}

}  // namespace hyper::eval
