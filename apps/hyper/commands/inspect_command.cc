// hyper inspect: one stored answer explained, or those listed that meet conditions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/commands/answer_conditions.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/inspect_text.h"
#include "src/eval/metrics/study_reference.h"
#include "src/eval/tables/item_json.h"

namespace hyper::app {
namespace {

constexpr const char* kInspectCommand = "inspect";
constexpr const char* kInspectFooter = R"(Examples:
  hyper inspect study.db 1102000000
  hyper inspect study.db '#3' --row hyper --repeat 1
  hyper inspect study.db 1102000000 --row sc --texts
  hyper inspect study.db 1102000000 --row '#2' --json
  hyper inspect study.db --where 'sc right, hyper wrong'
  hyper inspect study.db --where 'wrong, disagree' --row sc

QUESTION is a name, a part of it that fits only one question, or #N. If it has several answers,
--row and --repeat choose one; without them all are listed. --where lists the answers that meet all
conditions: right, wrong, undecided or failed, of the answer or of a row's to the same question; and
disagree: some vote rule chose another answer. Exit codes are those of hyper run.)";

struct InspectFlags {
  std::string study;
  std::string question;
  std::string row;
  std::string repeat;
  std::string where;
  bool texts = false;
  bool json = false;
};

// The answers that --row and --repeat leave: to `question`, or to all where it is null.
Result<std::vector<AnswerOverview>> AnswersTo(Store& store, const StoredQuestion* question,
                                              const InspectFlags& flags) {
  std::optional<int> repeat;
  if (!flags.repeat.empty()) {
    int number = 0;
    Option option(number, {.name = "repeat", .bounds = From(0)});
    if (Status status = option.Set(flags.repeat); !status) {
      return status.error();
    }
    repeat = number;
  }
  std::optional<int64_t> row;
  if (!flags.row.empty()) {
    const Result<StoredRun> run = eval::FindRun(store, flags.row);
    if (!run) {
      return run.error();
    }
    row = run->id;
  }
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  std::vector<AnswerOverview> answers;
  for (const StoredRun& run : *runs) {
    if (row && *row != run.id) {
      continue;
    }
    Result<std::vector<ItemSummary>> items = store.Items(run.id);
    if (!items) {
      return items.error();
    }
    for (ItemSummary& item : *items) {
      const bool asked = question == nullptr || item.key.question == question->id;
      if (asked && (!repeat || *repeat == item.key.repeat)) {
        answers.push_back({run, std::move(item)});
      }
    }
  }
  return answers;
}

// The answers to `question` that the flags leave.
Result<std::vector<AnswerOverview>> Answers(Store& store, const StoredQuestion& question,
                                            const InspectFlags& flags) {
  Result<std::vector<AnswerOverview>> answers = AnswersTo(store, &question, flags);
  if (answers && answers->empty()) {
    return Error{ErrorCode::kNotFound,
                 "the study has no such answer to " + question.name + "; try without --row"};
  }
  return answers;
}

using QuestionAndRepeat = std::pair<int64_t, int>;

// Where a row's answers are as a condition says.
struct RowCondition {
  int64_t run = 0;
  std::set<QuestionAndRepeat> met;
};

Result<std::vector<RowCondition>> RowConditions(Store& store,
                                                const std::vector<AnswerCondition>& conditions) {
  std::vector<RowCondition> rows;
  for (const AnswerCondition& condition : conditions) {
    if (condition.row.empty()) {
      continue;
    }
    const Result<StoredRun> run = eval::FindRun(store, condition.row);
    const Result<std::vector<ItemSummary>> items =
        run ? store.Items(run->id) : Result<std::vector<ItemSummary>>(run.error());
    if (!items) {
      return items.error();
    }
    RowCondition& row = rows.emplace_back(RowCondition{run->id, {}});
    for (const ItemSummary& item : *items) {
      if (Meets(condition.kind, item)) {
        row.met.emplace(item.key.question, item.key.repeat);
      }
    }
  }
  return rows;
}

bool AsksVotes(const AnswerCondition& condition) {
  return condition.kind == AnswerCondition::Kind::kDisagree;
}

// Whether an answer meets all conditions but those on its votes.
bool MeetsAll(const std::vector<AnswerCondition>& conditions, const std::vector<RowCondition>& rows,
              const ItemSummary& item) {
  const QuestionAndRepeat key(item.key.question, item.key.repeat);
  return std::all_of(rows.begin(), rows.end(),
                     [&key](const RowCondition& row) { return row.met.contains(key); }) &&
         std::all_of(conditions.begin(), conditions.end(), [&item](const AnswerCondition& each) {
           return AsksVotes(each) || !each.row.empty() || Meets(each.kind, item);
         });
}

// The answers that meet --where, a line each, and how many there are; with --json an object each.
Result<std::string> List(Store& store, const InspectFlags& flags) {
  const Result<std::vector<AnswerCondition>> conditions = ParseConditions(flags.where);
  if (!conditions) {
    return conditions.error();
  }
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  const Result<std::vector<RowCondition>> rows = RowConditions(store, *conditions);
  if (!rows) {
    return rows.error();
  }
  const Result<StoredQuestion> question =
      flags.question.empty() ? StoredQuestion() : eval::FindQuestion(store, flags.question);
  if (!question) {
    return question.error();
  }
  const Result<std::vector<AnswerOverview>> answers =
      AnswersTo(store, flags.question.empty() ? nullptr : &*question, flags);
  if (!answers) {
    return answers.error();
  }
  std::map<int64_t, const StoredQuestion*> by_id;
  for (const StoredQuestion& each : *questions) {
    by_id[each.id] = &each;
  }
  const bool asks_votes = std::any_of(conditions->begin(), conditions->end(), AsksVotes);
  std::string text;
  int listed = 0;
  for (const AnswerOverview& answer : *answers) {
    // Without --row, conditions on rows list what these rows answered.
    const bool named = rows->empty() || !flags.row.empty() ||
                       std::any_of(rows->begin(), rows->end(), [&](const RowCondition& row) {
                         return row.run == answer.run.id;
                       });
    if (!named || !MeetsAll(*conditions, *rows, answer.item)) {
      continue;
    }
    const Result<StoredItem> item = store.LoadItem(answer.item.key);
    if (!item) {
      return item.error();
    }
    const std::vector<StoredVote> others = OtherVotes(*item);
    if (others.empty() && asks_votes) {
      continue;
    }
    const auto asked = by_id.find(answer.item.key.question);
    if (asked == by_id.end()) {
      return Error{ErrorCode::kDataLoss, "the study has no question of an answer"};
    }
    ++listed;
    text +=
        flags.json
            ? DumpJson(eval::ItemJson({answer.run, *asked->second, answer.item}, *item, false)) +
                  "\n"
            : ListLine(*asked->second, answer, others);
  }
  return flags.json ? text : text + fmt::format("{} of {} answers\n", listed, answers->size());
}

Result<std::string> Inspect(const InspectFlags& flags) {
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  if (!flags.where.empty()) {
    return List(*store, flags);
  }
  if (flags.question.empty()) {
    return InvalidArgument("QUESTION is missing; give a question, or --where to list answers");
  }
  const Result<StoredQuestion> question = eval::FindQuestion(*store, flags.question);
  if (!question) {
    return question.error();
  }
  const Result<std::vector<AnswerOverview>> answers = Answers(*store, *question, flags);
  if (!answers) {
    return answers.error();
  }
  const bool chosen = answers->size() == 1;
  if (!chosen && !flags.json) {
    return OverviewText(*question, *answers);
  }
  std::string text;
  for (const AnswerOverview& answer : *answers) {
    const Result<StoredItem> item = store->LoadItem(answer.item.key);
    if (!item) {
      return item.error();
    }
    text +=
        flags.json
            ? DumpJson(eval::ItemJson({answer.run, *question, answer.item}, *item, false)) + "\n"
            : InspectText(*question, answer, *item, flags.texts);
  }
  return text;
}

}  // namespace

int InspectCommand(int argc, const char* const* argv) {
  InspectFlags flags;
  CLI::App app("Explains an answer of a study: paths, decisions, every vote, why it won.");
  SetUpParser(app, kInspectCommand, kInspectFooter);
  app.add_option("--row", flags.row, "row: its label, or #N")->type_name("ROW");
  app.add_option("--repeat", flags.repeat, "repeat, from 0")->type_name("N");
  app.add_option("--where", flags.where, "list the answers that meet these conditions")
      ->type_name("CONDITIONS");
  app.add_flag("--texts", flags.texts, "also the text of each path");
  app.add_flag("--json", flags.json, "a JSON object for each answer, as hyper export prints it");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("")->required();
  app.add_option("QUESTION", flags.question, "the question")->type_name("");
  if (const std::optional<int> done = ParseCommandLine(app, kInspectCommand, argc, argv)) {
    return *done;
  }
  const Result<std::string> text = Inspect(flags);
  if (!text) {
    return Complain(kInspectCommand, text.error());
  }
  return PrintResult(kInspectCommand, *text) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app
