#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "src/store/item_parts.h"
#include "src/store/rows.h"
#include "src/store/store.h"

namespace hyper {
namespace {

using nlohmann::json;

Result<StoredRun> ReadRun(const Statement& row) {
  StoredRun run;
  run.id = row.Int(0);
  run.label = row.Text(1);
  run.method = row.Text(2);
  run.suite = row.Text(3);
  run.model = row.Text(4);
  run.model_hash = row.Text(5);
  run.engine = row.Text(6);
  run.version = row.Text(7);
  run.seed = std::strtoull(row.Text(8).c_str(), nullptr, 10);
  std::optional<std::map<std::string, std::string>> settings = ReadSettings(row.Text(9));
  if (!settings) {
    return Error{ErrorCode::kDataLoss, "run " + std::to_string(run.id) + " has broken settings"};
  }
  run.settings = std::move(*settings);
  return run;
}

Result<ItemSummary> ReadSummary(const Statement& row, int64_t run) {
  ItemSummary item;
  item.key = {run, row.Int(0), static_cast<int>(row.Int(1))};
  if (Status status = ParseName(row.Text(2), item.status); !status) {
    return status.error();
  }
  item.reason = row.Text(3);
  item.answer = row.OptionalText(4);
  item.vote_rule = row.Text(5);
  item.voting_paths = static_cast<int>(row.Int(6));
  item.lost = {static_cast<int>(row.Int(7)), row.Int(8), row.Int(9)};
  if (!row.IsNull(10)) {
    StoredGrade grade{item.key, {}, row.Text(11), row.Text(12), row.Text(13)};
    if (Status status = ParseName(row.Text(10), grade.verdict); !status) {
      return status.error();
    }
    item.grade = std::move(grade);
  }
  item.ledger = ReadLedger(row, 14);
  return item;
}

// All rows of a statement, each turned into a value by `read(row)`.
template <class Value, class Read>
Result<std::vector<Value>> ReadAll(Statement& rows, Read read) {
  std::vector<Value> values;
  const Status status = rows.ForEach([&](const Statement& row) -> Status {
    Result<Value> value = read(row);
    if (!value) {
      return value.error();
    }
    values.push_back(std::move(*value));
    return {};
  });
  return status ? Result<std::vector<Value>>(std::move(values))
                : Result<std::vector<Value>>(status.error());
}

}  // namespace

std::optional<std::map<std::string, std::string>> ReadSettings(const std::string& text) {
  const json values = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!values.is_object()) {
    return std::nullopt;
  }
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : values.items()) {
    settings[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return settings;
}

Result<std::vector<StoredRun>> Store::Runs() {
  Result<Statement> rows = database_.Prepare(
      "SELECT id, label, method, suite, model, model_hash, engine, version, seed, settings "
      "FROM runs ORDER BY id");
  if (!rows) {
    return rows.error();
  }
  return ReadAll<StoredRun>(*rows, ReadRun);
}

Result<std::vector<StoredQuestion>> Store::Questions() {
  Result<Statement> rows = database_.Prepare(
      "SELECT id, suite, name, text, prompt, gold, kind, labels, \"group\" FROM questions "
      "ORDER BY id");
  if (!rows) {
    return rows.error();
  }
  return ReadAll<StoredQuestion>(*rows, [](const Statement& row) -> Result<StoredQuestion> {
    return StoredQuestion{row.Int(0),  row.Text(1), row.Text(2), row.Text(3), row.Text(4),
                          row.Text(5), row.Text(6), row.Text(7), row.Text(8)};
  });
}

Result<std::vector<ItemSummary>> Store::Items(int64_t run) {
  Result<Statement> rows = database_.Prepare(
      std::string("SELECT i.question, i.repeat, i.status, i.reason, i.answer, i.vote_rule, "
                  "i.voting_paths, i.lost_attempts, i.lost_tokens, ") +
      (lost_generated_ ? "coalesce(i.lost_generated, i.lost_tokens)" : "i.lost_tokens") +
      ", g.verdict, g.gold, g.grader, g.note, " + kLedgerColumns +
      " FROM items i JOIN ledgers l ON l.item = i.id LEFT JOIN grades g ON g.item = i.id "
      "WHERE i.run = ? ORDER BY i.question, i.repeat");
  if (!rows) {
    return rows.error();
  }
  rows->Bind(run);
  return ReadAll<ItemSummary>(*rows, [&](const Statement& row) { return ReadSummary(row, run); });
}

Result<std::vector<std::string>> Store::Graders() {
  Result<Statement> rows = database_.Prepare("SELECT DISTINCT grader FROM grades ORDER BY grader");
  if (!rows) {
    return rows.error();
  }
  return ReadAll<std::string>(
      *rows, [](const Statement& row) -> Result<std::string> { return row.Text(0); });
}

Result<std::vector<VoteAnswer>> Store::VoteAnswers(int64_t run) {
  Result<Statement> rows = database_.Prepare(
      "SELECT i.question, i.repeat, v.rule, v.answer FROM votes v JOIN items i ON i.id = v.item "
      "WHERE i.run = ? AND i.status != 'failed' ORDER BY v.rule, i.question, i.repeat");
  if (!rows) {
    return rows.error();
  }
  rows->Bind(run);
  return ReadAll<VoteAnswer>(*rows, [&](const Statement& row) -> Result<VoteAnswer> {
    return VoteAnswer{
        {run, row.Int(0), static_cast<int>(row.Int(1))}, row.Text(2), row.OptionalText(3)};
  });
}

Result<std::vector<PathAnswers>> Store::AnswersOfPaths(int64_t run) {
  Result<Statement> rows = database_.Prepare(
      "SELECT i.question, i.repeat, p.answer, count(*) FROM paths p JOIN items i ON i.id = p.item "
      "WHERE i.run = ? AND i.status != 'failed' AND p.kind = 'reasoning' AND p.status != 'merged' "
      "GROUP BY i.id, p.answer ORDER BY i.question, i.repeat, p.answer");
  if (!rows) {
    return rows.error();
  }
  rows->Bind(run);
  return ReadAll<PathAnswers>(*rows, [&](const Statement& row) -> Result<PathAnswers> {
    return PathAnswers{{run, row.Int(0), static_cast<int>(row.Int(1))},
                       row.OptionalText(2),
                       static_cast<int>(row.Int(3))};
  });
}

Result<std::vector<JudgedAnswer>> Store::JudgedAnswers() {
  // Graders that are judges: see JudgeName.
  Result<Statement> rows = database_.Prepare(
      "SELECT i.question, i.answer, g.verdict FROM grades g JOIN items i ON i.id = g.item "
      "JOIN questions q ON q.id = i.question WHERE g.grader LIKE 'judge %' AND g.gold = q.gold AND "
      "g.verdict != 'not_graded' AND i.answer IS NOT NULL GROUP BY i.question, i.answer");
  if (!rows) {
    return rows.error();
  }
  return ReadAll<JudgedAnswer>(*rows, [](const Statement& row) -> Result<JudgedAnswer> {
    JudgedAnswer judged{row.Int(0), row.Text(1), {}};
    if (Status status = ParseName(row.Text(2), judged.verdict); !status) {
      return status.error();
    }
    return judged;
  });
}

Result<std::map<int64_t, ActionTally>> Store::ActionCounts(int64_t run) {
  // One that expanded by 1, or for which there was no room, opened no lane.
  Result<Statement> rows = database_.Prepare(
      "SELECT i.question, "
      "CASE WHEN d.lanes_after > d.paths_before THEN d.action ELSE 'none' END AS done, count(*) "
      "FROM decisions d JOIN items i ON i.id = d.item "
      "WHERE i.run = ? AND i.status != 'failed' GROUP BY i.question, done");
  if (!rows) {
    return rows.error();
  }
  rows->Bind(run);
  std::map<int64_t, ActionTally> by_question;
  const Status status = rows->ForEach([&](const Statement& row) -> Status {
    ActionTally& tally = by_question[row.Int(0)];
    if (const std::optional<Action> action = ValueOf<Action>(row.Text(1))) {
      tally[static_cast<size_t>(*action)] = row.Int(2);
    }
    return {};
  });
  if (!status) {
    return status.error();
  }
  return by_question;
}

Result<StoredItem> Store::LoadItem(const ItemKey& key) {
  const Result<std::optional<Statement>> row =
      FirstRow(database_,
               "SELECT id, status, reason, answer, vote_rule, voting_paths FROM items "
               "WHERE run = ? AND question = ? AND repeat = ?",
               key.run, key.question, key.repeat);
  if (!row) {
    return row.error();
  }
  if (!*row) {
    return Error{ErrorCode::kNotFound, "the study has no repeat " + std::to_string(key.repeat) +
                                           " of question " + std::to_string(key.question) +
                                           " in run " + std::to_string(key.run)};
  }
  const Statement& found = **row;
  StoredItem item;
  item.key = key;
  if (Status status = ParseName(found.Text(1), item.status); !status) {
    return status.error();
  }
  item.reason = found.Text(2);
  item.answer = found.OptionalText(3);
  item.vote_rule = found.Text(4);
  item.voting_paths = static_cast<int>(found.Int(5));
  if (Status status = LoadItemParts(database_, found.Int(0), item); !status) {
    return status.error();
  }
  return item;
}

}  // namespace hyper
