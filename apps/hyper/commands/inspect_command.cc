// hyper inspect: one stored answer explained.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
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

QUESTION is a name, a part of it that fits only one question, or #N. If it has several answers,
--row and --repeat choose one; without them all are listed. Exit codes are those of hyper run.)";

struct InspectFlags {
  std::string study;
  std::string question;
  std::string row;
  std::string repeat;
  bool texts = false;
  bool json = false;
};

// The answers to `question` that the flags leave.
Result<std::vector<AnswerOverview>> Answers(Store& store, const StoredQuestion& question,
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
      if (item.key.question != question.id || (repeat && *repeat != item.key.repeat)) {
        continue;
      }
      answers.push_back({run, std::move(item)});
    }
  }
  if (answers.empty()) {
    return Error{ErrorCode::kNotFound,
                 "the study has no such answer to " + question.name + "; try without --row"};
  }
  return answers;
}

Result<std::string> Inspect(const InspectFlags& flags) {
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
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
  app.add_flag("--texts", flags.texts, "also the text of each path");
  app.add_flag("--json", flags.json, "a JSON object for each answer, as hyper export prints it");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("")->required();
  app.add_option("QUESTION", flags.question, "the question")->type_name("")->required();
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
