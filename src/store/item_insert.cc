#include <string>

#include "src/store/item_parts.h"
#include "src/store/series.h"

namespace hyper {
namespace {

// "INSERT INTO table VALUES (?,?,...)" with a place for each of so many columns.
std::string Insertion(const std::string& table, int columns) {
  std::string places;
  for (int i = 0; i < columns; ++i) {
    places += i == 0 ? "?" : ",?";
  }
  return "INSERT INTO " + table + " VALUES (" + places + ")";
}

// Fields that a struct of statistics visits.
template <class Statistics>
int FieldCount() {
  int count = 0;
  const Statistics any;
  Statistics::ForEach(any, [&count](const char*, const auto&) { ++count; });
  return count;
}

Status InsertLedger(Database& database, int64_t id, const Ledger& ledger) {
  Result<Statement> insert = database.Prepare(Insertion("ledgers", 1 + kLedgerColumnCount));
  if (!insert) {
    return insert.error();
  }
  insert->BindAll(id, ledger.generated, ledger.refined, ledger.extra_routes, ledger.prefilled,
                  ledger.recomputed, ledger.probe, ledger.judge, ledger.value, ledger.lanes_opened,
                  ledger.lanes_peak, ledger.positions, ledger.cells_peak, ledger.bytes_per_cell,
                  ledger.stalls, ledger.wall_s, ledger.engine_s, ledger.sampler_s,
                  ledger.statistics_s);
  return insert->Run();
}

Status InsertWarmup(Database& database, int64_t id, const WarmupRecord& warmup) {
  Result<Statement> insert =
      database.Prepare(Insertion("warmups", 2 + 3 * FieldCount<MaxStatistics>()));
  if (!insert) {
    return insert.error();
  }
  insert->Bind(id).Bind(warmup.has_threshold ? warmup.threshold : StoredPath::kUnknown);
  MaxStatistics::ForEach(warmup.maxima, [&insert](const char*, const Maximum& maximum) {
    insert->BindAll(maximum.value, maximum.position, maximum.paths);
  });
  return insert->Run();
}

Status InsertPaths(Database& database, int64_t id, const StoredItem& item) {
  Result<Statement> insert = database.Prepare(Insertion("paths", 17));
  if (!insert) {
    return insert.error();
  }
  for (const StoredPath& path : item.paths) {
    // SQLite's integers are signed, so 64-bit keys are text.
    insert->BindAll(id, path.path, path.parent, path.fork_position, path.warmup, NameOf(path.kind),
                    NameOf(path.status), path.reason, path.kept, std::to_string(path.key),
                    path.tokens, path.mean_confidence, path.lowest_window, path.text, path.answer,
                    path.answer_raw, path.tentative);
    if (Status status = insert->Run(); !status) {
      return status;
    }
  }
  return {};
}

Status InsertSeries(Database& database, int64_t id, const StoredItem& item) {
  Result<Statement> insert = database.Prepare(Insertion("series", 6));
  if (!insert) {
    return insert.error();
  }
  for (const StoredSeries& series : item.series) {
    insert->BindAll(id, series.path, series.name, series.first, SeriesTypeName(series));
    insert->BindBlob(PackSeries(series));
    if (Status status = insert->Run(); !status) {
      return status;
    }
  }
  return {};
}

void BindStatistics(Statement& insert, const PoolStatistics& statistics) {
  PoolStatistics::ForEach(statistics, [&insert](const char*, double value) { insert.Bind(value); });
}

Status InsertDecisions(Database& database, int64_t id, const StoredItem& item) {
  const int columns = 9 + 2 * FieldCount<PoolStatistics>() + static_cast<int>(kActionCount) + 1;
  Result<Statement> insert = database.Prepare(Insertion("decisions", columns));
  if (!insert) {
    return insert.error();
  }
  for (const DecisionRecord& decision : item.decisions) {
    insert->BindAll(id, decision.step, decision.position, NameOf(decision.action),
                    decision.expansion, decision.paths_before, decision.paths_after,
                    decision.lanes_after, decision.note);
    BindStatistics(*insert, decision.raw);
    BindStatistics(*insert, decision.normalised);
    int allowed = 0;
    for (size_t action = 0; action < kActionCount; ++action) {
      insert->Bind(decision.scores[action]);
      allowed |= decision.allowed.Has(static_cast<Action>(action)) ? 1 << action : 0;
    }
    insert->Bind(allowed);
    if (Status status = insert->Run(); !status) {
      return status;
    }
  }
  return {};
}

Status InsertRefinements(Database& database, int64_t id, const StoredItem& item) {
  Result<Statement> insert = database.Prepare(Insertion("refinements", 5));
  if (!insert) {
    return insert.error();
  }
  int number = 0;
  for (const RefineRecord& refine : item.refinements) {
    insert->BindAll(id, number++, refine.path, refine.position, refine.routes);
    if (Status status = insert->Run(); !status) {
      return status;
    }
  }
  return {};
}

Status InsertVotes(Database& database, int64_t id, const StoredItem& item) {
  Result<Statement> vote_insert = database.Prepare(Insertion("votes", 5));
  if (!vote_insert) {
    return vote_insert.error();
  }
  Result<Statement> tally_insert = database.Prepare(Insertion("tallies", 8));
  if (!tally_insert) {
    return tally_insert.error();
  }
  for (const StoredVote& vote : item.votes) {
    vote_insert->BindAll(id, vote.rule, vote.answer, vote.tie, vote.clipped);
    if (Status status = vote_insert->Run(); !status) {
      return status;
    }
    int place = 0;
    for (const StoredTally& tally : vote.tallies) {
      tally_insert->BindAll(id, vote.rule, place++, tally.answer, tally.score, tally.share,
                            tally.paths, tally.candidate);
      if (Status status = tally_insert->Run(); !status) {
        return status;
      }
    }
  }
  return {};
}

Status InsertNotices(Database& database, int64_t id, const StoredItem& item) {
  Result<Statement> insert = database.Prepare(Insertion("notices", 3));
  if (!insert) {
    return insert.error();
  }
  int number = 0;
  for (const std::string& notice : item.notices) {
    insert->BindAll(id, number++, notice);
    if (Status status = insert->Run(); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Status InsertItemParts(Database& database, int64_t id, const StoredItem& item) {
  if (Status status = InsertLedger(database, id, item.ledger); !status) {
    return status;
  }
  if (item.warmup) {
    if (Status status = InsertWarmup(database, id, *item.warmup); !status) {
      return status;
    }
  }
  for (auto* insert : {InsertPaths, InsertSeries, InsertDecisions, InsertRefinements, InsertVotes,
                       InsertNotices}) {
    if (Status status = insert(database, id, item); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper
