#include "src/eval/tables/own_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/eval/metrics/study_summary.h"

namespace hyper::eval {
namespace {

bool Wanted(const auto& list, const auto& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

Result<StudyAnswer> AnswerOf(const ItemSummary& item, const StoredQuestion& question) {
  const Result<Outcome> outcome = OutcomeOfItem(item, question);
  if (!outcome) {
    return outcome.error();
  }
  return StudyAnswer{question.name, question.group, question.gold, item.key.repeat,
                     item.answer,   *outcome,       item.ledger};
}

}  // namespace

Result<std::vector<EvaluatedRow>> StudyRows(Store& store, const std::vector<int64_t>& runs,
                                            const std::vector<std::string>& groups) {
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  std::map<int64_t, const StoredQuestion*> chosen;
  for (const StoredQuestion& question : *questions) {
    if (Wanted(groups, question.group)) {
      chosen[question.id] = &question;
    }
  }
  const Result<std::vector<StoredRun>> all = store.Runs();
  if (!all) {
    return all.error();
  }
  std::vector<EvaluatedRow> rows;
  for (const StoredRun& run : *all) {
    if (!Wanted(runs, run.id)) {
      continue;
    }
    const Result<std::vector<ItemSummary>> items = store.Items(run.id);
    if (!items) {
      return items.error();
    }
    EvaluatedRow row{run.label, run.method, run.suite, run.model, run.seed, run.settings, {}};
    for (const ItemSummary& item : *items) {
      const auto question = chosen.find(item.key.question);
      if (question == chosen.end()) {
        continue;
      }
      Result<StudyAnswer> answer = AnswerOf(item, *question->second);
      if (!answer) {
        return answer.error();
      }
      row.answers.push_back(std::move(*answer));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Table> MakeOwnTable(const TableSpec& spec, const std::vector<EvaluatedRow>& rows) {
  Result<Table> table = spec.make(rows);
  if (!table) {
    return Error{table.error().code,
                 fmt::format("table '{}' failed: {}", spec.name, table.error().message)};
  }
  for (const std::vector<Cell>& row : table->rows) {
    if (row.size() != table->columns.size()) {
      return InvalidArgument(fmt::format("table '{}' has a row of {} cells under {} columns",
                                         spec.name, row.size(), table->columns.size()));
    }
  }
  table->name = spec.name;
  return table;
}

}  // namespace hyper::eval
