#include <cstdlib>
#include <string>
#include <utility>

#include "src/store/item_parts.h"
#include "src/store/series.h"

namespace hyper {
namespace {

// The rows of `sql`, whose one parameter is the item's number, each given to `take(row)`.
template <class Take>
Status ForEachRow(Database& database, const char* sql, int64_t id, Take take) {
  Result<Statement> rows = database.Prepare(sql);
  if (!rows) {
    return rows.error();
  }
  rows->Bind(id);
  return rows->ForEach(take);
}

Status TakeWarmup(const Statement& row, StoredItem& item) {
  WarmupRecord warmup;
  warmup.has_threshold = !row.IsNull(1);
  if (warmup.has_threshold) {
    warmup.threshold = row.Double(1);
  }
  int column = 2;
  MaxStatistics::ForEach(warmup.maxima, [&](const char*, Maximum& maximum) {
    maximum.value = row.Double(column++);
    maximum.position = static_cast<int>(row.Int(column++));
    maximum.paths = static_cast<int>(row.Int(column++));
  });
  item.warmup = warmup;
  return {};
}

Status TakePath(const Statement& row, StoredItem& item) {
  StoredPath path;
  path.path = static_cast<PathId>(row.Int(1));
  path.parent = static_cast<PathId>(row.Int(2));
  path.fork_position = static_cast<int>(row.Int(3));
  path.warmup = row.Int(4) != 0;
  path.reason = row.Text(7);
  path.kept = static_cast<PathId>(row.Int(8));
  path.key = std::strtoull(row.Text(9).c_str(), nullptr, 10);
  path.tokens = static_cast<int>(row.Int(10));
  path.mean_confidence = row.Double(11);
  path.lowest_window = row.Double(12);
  path.text = row.Text(13);
  path.answer = row.OptionalText(14);
  path.answer_raw = row.Text(15);
  path.tentative = row.Int(16) != 0;
  Status status = ParseName(row.Text(5), path.kind);
  if (status.ok()) {
    status = ParseName(row.Text(6), path.status);
  }
  item.paths.push_back(std::move(path));
  return status;
}

Status TakeSeries(const Statement& row, StoredItem& item) {
  StoredSeries series;
  series.path = static_cast<PathId>(row.Int(1));
  series.name = row.Text(2);
  series.first = static_cast<int>(row.Int(3));
  Status status = UnpackSeries(row.Text(4), row.Text(5), series);
  item.series.push_back(std::move(series));
  return status;
}

// The statistics from a column on, which moves behind them.
PoolStatistics ReadStatistics(const Statement& row, int& column) {
  PoolStatistics statistics;
  PoolStatistics::ForEach(statistics,
                          [&](const char*, double& value) { value = row.Double(column++); });
  return statistics;
}

Status TakeDecision(const Statement& row, StoredItem& item) {
  DecisionRecord decision;
  decision.step = static_cast<int>(row.Int(1));
  decision.position = static_cast<int>(row.Int(2));
  decision.expansion = static_cast<int>(row.Int(4));
  decision.paths_before = static_cast<int>(row.Int(5));
  decision.paths_after = static_cast<int>(row.Int(6));
  decision.lanes_after = static_cast<int>(row.Int(7));
  decision.acted = decision.lanes_after > decision.paths_before;
  decision.note = row.Text(8);
  int column = 9;
  decision.raw = ReadStatistics(row, column);
  decision.normalised = ReadStatistics(row, column);
  const int64_t allowed = row.Int(column + static_cast<int>(kActionCount));
  for (size_t action = 0; action < kActionCount; ++action) {
    decision.scores[action] = row.Double(column++);
    if ((allowed >> action & 1) != 0) {
      decision.allowed = decision.allowed.With(static_cast<Action>(action));
    }
  }
  Status status = ParseName(row.Text(3), decision.action);
  item.decisions.push_back(std::move(decision));
  return status;
}

Status TakeRefinement(const Statement& row, StoredItem& item) {
  item.refinements.push_back({static_cast<PathId>(row.Int(2)), static_cast<int>(row.Int(3)),
                              static_cast<int>(row.Int(4))});
  return {};
}

Status TakeVote(const Statement& row, StoredItem& item) {
  StoredVote vote;
  vote.rule = row.Text(1);
  vote.answer = row.OptionalText(2);
  vote.tie = row.Int(3) != 0;
  vote.clipped = static_cast<int>(row.Int(4));
  item.votes.push_back(std::move(vote));
  return {};
}

Status TakeTally(const Statement& row, StoredItem& item) {
  StoredTally tally;
  tally.answer = row.Text(3);
  tally.score = row.Double(4);
  tally.share = row.Double(5);
  tally.paths = static_cast<int>(row.Int(6));
  tally.candidate = row.Int(7) != 0;
  for (StoredVote& vote : item.votes) {
    if (vote.rule == row.Text(1)) {
      vote.tallies.push_back(tally);
    }
  }
  return {};
}

Status TakeNotice(const Statement& row, StoredItem& item) {
  item.notices.push_back(row.Text(2));
  return {};
}

struct Part {
  const char* sql;
  Status (*take)(const Statement&, StoredItem&);
};

}  // namespace

const char* const kLedgerColumns =
    "l.generated, l.refined, l.extra_routes, l.prefilled, l.recomputed, l.probe, l.judge, l.value, "
    "l.lanes_opened, l.lanes_peak, l.positions, l.cells_peak, l.bytes_per_cell, l.stalls, "
    "l.wall_s, l.engine_s, l.sampler_s, l.statistics_s";

Ledger ReadLedger(const Statement& row, int first) {
  Ledger ledger;
  int column = first;
  for (int64_t* count :
       {&ledger.generated, &ledger.refined, &ledger.extra_routes, &ledger.prefilled,
        &ledger.recomputed, &ledger.probe, &ledger.judge, &ledger.value}) {
    *count = row.Int(column++);
  }
  ledger.lanes_opened = static_cast<int>(row.Int(column++));
  ledger.lanes_peak = static_cast<int>(row.Int(column++));
  ledger.positions = row.Int(column++);
  ledger.cells_peak = row.Int(column++);
  ledger.bytes_per_cell = row.Double(column++);
  ledger.stalls = static_cast<int>(row.Int(column++));
  for (double* seconds :
       {&ledger.wall_s, &ledger.engine_s, &ledger.sampler_s, &ledger.statistics_s}) {
    *seconds = row.Double(column++);
  }
  return ledger;
}

Status LoadItemParts(Database& database, int64_t id, StoredItem& item) {
  const std::string ledger_sql =
      std::string("SELECT ") + kLedgerColumns + " FROM ledgers l WHERE item = ?";
  Status status = ForEachRow(database, ledger_sql.c_str(), id, [&](const Statement& row) -> Status {
    item.ledger = ReadLedger(row, 0);
    return {};
  });
  if (!status) {
    return status;
  }
  constexpr Part kParts[] = {
      {"SELECT * FROM warmups WHERE item = ?", TakeWarmup},
      {"SELECT * FROM paths WHERE item = ? ORDER BY path", TakePath},
      {"SELECT * FROM series WHERE item = ? ORDER BY path, name", TakeSeries},
      {"SELECT * FROM decisions WHERE item = ? ORDER BY step", TakeDecision},
      {"SELECT * FROM refinements WHERE item = ? ORDER BY number", TakeRefinement},
      {"SELECT * FROM votes WHERE item = ? ORDER BY rule", TakeVote},
      {"SELECT * FROM tallies WHERE item = ? ORDER BY rule, place", TakeTally},
      {"SELECT * FROM notices WHERE item = ? ORDER BY number", TakeNotice},
  };
  for (const Part& part : kParts) {
    status = ForEachRow(database, part.sql, id,
                        [&](const Statement& row) { return part.take(row, item); });
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper
