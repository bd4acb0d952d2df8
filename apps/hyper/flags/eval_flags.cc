#include "apps/hyper/flags/eval_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/eval_tables.h"
#include "apps/hyper/printers/help_text.h"
#include "hyper/ask.h"
#include "src/decode/ask_options.h"
#include "src/eval/run/grid.h"

namespace hyper::app {
namespace {

constexpr const char* kEvalFooter = R"(Examples:
  hyper eval --methods sc,hyper --levels 2,3 --questions 4 --repeats 2
  hyper eval --methods hyper --row "no branch=hyper:actions=none+single_token" \
    --questions 2 --study abl.db
  hyper eval --study abl.db --report-only --table ablation --format latex
  hyper eval --pool study.db:sc --methods sc,self-certainty,deepconf \
    --width 16 --resamples 64

To continue a study that was stopped or killed, give the same command again.
--row takes any option of a method (hyper help METHOD). Tables go to stdout, progress to stderr.
Exit codes are those of hyper run.)";

constexpr const char* kSweepFooter = R"(Examples:
  hyper sweep --grid "interval=4,16 eta=0.2" --levels 2 --questions 2
  hyper sweep --grid "width=4,8" --methods sc,hyper --levels 2 --questions 2 \
    --study width.db
  hyper figures width.db --only 8 --out width-figures

A sweep is a study. To continue one that was stopped or killed, give the same command again. While
it runs, 'hyper eval --report-only --study FILE', 'hyper figures' and 'hyper report' show it. A
method gets the options that it reads. Tables go to stdout, progress to stderr. Exit codes are those
of hyper run.)";

// Options of the short help of both commands.
constexpr auto kEvalEveryday = std::to_array<EverydayOption>({
    {"--grid", "options with their values, such as \"eta=0.2,0.8\""},
    {"--grid-kind", "one option at a time, or full: every combination [one]"},
    {"--suite"},
    {"--data", "local JSONL with the suite's questions [bundled]"},
    {"--levels", "only these groups, such as 2,3,4 [all]"},
    {"--questions", "questions at most [all]"},
    {"--repeats"},
    {"--parallel"},
    {"--methods"},
    {"--row", "one more row, LABEL=METHOD:option=value,..."},
    {"--study"},
    {"--pool", "run on stored traces, FILE or FILE:ROW"},
    {"--resamples", "with --pool: draws of each question's traces [1]"},
    {"--report-only", "print the tables of the study, run nothing"},
    {"--table", "results, main, ablation, votes, ... or all [results]"},
    {"--format"},
    kEverydayModel,
    kEverydayEngine,
    {"--seed", "seed of the study [1]"},
    {"--time", "stop a question after 30s, 5m, ... and vote"},
    {"--width"},
    {"--max-tokens"},
});

// Rows of --methods all beyond the methods by name: the variants that the paper's tables compare.
constexpr const char* kVariants[] = {
    "tot-conf depth-first=tot-conf:search=dfs",
    "rebase-conf 8=rebase-conf:width=8",
    "rebase-conf 16=rebase-conf:width=16",
    "controller only=hyper:actions=none+branch",
    "penalty softmax=hyper:penalty=softmax",
    "weights clean=hyper:weights=clean",
    "confidence set topk=hyper:confidence=topk",
    "threshold percentile 90=hyper:threshold=percentile:90",
    "threshold percentile 10=hyper:threshold=percentile:10",
    "threshold off=hyper:threshold=off",
};

constexpr uint64_t kStudySeed = 1;  // where none is given

// Flags as they are written, before they are checked.
struct EvalTexts {
  std::string methods = "sc,hyper";
  std::vector<std::string> rows;
  std::string levels;
  std::string align = "measured";
  std::string grid;
  std::string kind = "one";
  std::string shard;
  std::string tables;
  std::string form = "text";
};

std::vector<Option> OwnOptions(EvalFlags& flags) {
  constexpr const char* kStudy = "Study";
  return {
      {flags.selection.limit,
       {.name = "questions",
        .help = "questions at most, groups taking turns; 0: all",
        .bounds = Between(0, 1'000'000),
        .group = kStudy}},
      {flags.repeats,
       {.name = "repeats",
        .help = "times that each question is answered",
        .bounds = Between(1, 1000),
        .group = kStudy}},
      {flags.parallel,
       {.name = "parallel",
        .help = "questions decoded side by side",
        .bounds = Between(1, 64),
        .group = kStudy}},
      {flags.resamples,
       {.name = "resamples",
        .help = "with --pool: draws of each question's traces",
        .bounds = Between(1, 10'000),
        .group = kStudy}},
      {flags.most_time_s,
       {.name = "study-time",
        .help = "end the study at the first answer after this time; the same command continues it",
        .bounds = From(0),
        .group = kStudy,
        .seconds = true}},
      {flags.most_tokens,
       {.name = "study-tokens",
        .help =
            "generated tokens of the study; the answer that passes them is its last; 0: no limit",
        .bounds = From(0),
        .group = kStudy}},
  };
}

// Options of a question that hold for all of the suite.
std::vector<Option> QuestionOptions(EvalFlags& flags) {
  return Only(OptionsOf(flags.question), {"seed", "time", "budget-tokens"});
}

void AddStudyFlags(CLI::App& app, EvalFlags& flags, EvalTexts& raw) {
  const char* group = "Study";
  const auto text = [&](const char* name, std::string& value, const char* help) {
    app.add_option(name, value, help)->type_name("TEXT")->group(group);
  };
  text("--suite", flags.suite, "suite by name, or a JSON file of one [tinymath]");
  text("--data", flags.data, "local JSONL with the suite's questions [the bundled ones]");
  text("--split", flags.selection.split, "split of bundled questions [evaluation]");
  text("--levels", raw.levels, "only these groups (levels, subjects), such as 2,3,4 [all]");
  text("--methods", raw.methods, fmt::format("methods, or all [{}]", raw.methods).c_str());
  app.add_option("--row", raw.rows,
                 "one more row, LABEL=METHOD:option=value,option=value ('+' for ',' in a value)")
      ->type_name("ROW")
      ->group(group);
  text("--align", raw.align,
       "paths of sc, self-certainty, deepconf and bon: measured (hyper's mean N_inst), a multiple "
       "of "
       "--width such as the paper's 1.5, or off [measured]");
  text("--shard", raw.shard,
       "only a part of the questions, such as 3/16: the third of 16; hyper merge puts the parts "
       "together [1/1]");
  text("--study", flags.study, "file of the study [SUITE.study.db]");
  app.add_flag("--resume", flags.resume, "continue a study; fail if there is none")->group(group);
  app.add_flag("--live", flags.live,
               "decode the paths of every row, even where stored paths would do")
      ->group(group);
  text("--reward-model", flags.reward_model,
       "GGUF of a process reward model, for methods that end in -prm");
  text("--judge", flags.judge.url,
       "OpenAI-compatible API of a judge of answers that the rules leave open; its key in "
       "HYPER_JUDGE_KEY [none]");
  text("--judge-model", flags.judge.model, "model that the judge uses [its default]");
  text("--pool", flags.pool,
       "run on stored traces, nothing generated: a study or its export as FILE or FILE:ROW, traces "
       "of hyper run, or DeepConf's results as JSON");
}

void AddOutputFlags(CLI::App& app, EvalFlags& flags, EvalTexts& raw) {
  const char* group = "Output";
  app.add_flag("--report-only", flags.report_only, "print the tables of the study, run nothing")
      ->group(group);
  app.add_option(
         "--table", raw.tables,
         fmt::format("{}, or all [results; all for all methods]", fmt::join(TableNames(), ", ")))
      ->type_name("LIST")
      ->group(group);
  CLI::Option* form =
      app.add_option("--format", raw.form, "text, markdown, csv, json or latex [text]")
          ->type_name("WORD")
          ->group(group);
  app.add_flag_callback(
         "--json", [&raw] { raw.form = "json"; }, "as --format json")
      ->excludes(form)
      ->group(group);
}

Status ReadRows(const EvalTexts& raw, EvalFlags& flags) {
  std::vector<std::string> texts = SplitAt(raw.methods, ',');
  if (raw.methods == "all") {
    texts.clear();
    for (const MethodInfo& method : Methods()) {
      texts.push_back(method.name);
    }
    texts.insert(texts.end(), std::begin(kVariants), std::end(kVariants));
  }
  texts.insert(texts.end(), raw.rows.begin(), raw.rows.end());
  for (const std::string& text : texts) {
    Result<RowRequest> row = ParseRow(text);
    if (!row) {
      return row.error();
    }
    const auto same =
        std::find_if(flags.rows.begin(), flags.rows.end(),
                     [&row](const RowRequest& other) { return other.label == row->label; });
    if (same == flags.rows.end()) {
      flags.rows.push_back(std::move(*row));
    } else if (same->method != row->method || same->options != row->options) {
      return InvalidArgument(
          fmt::format("two rows are named '{}'; give each its own label", row->label));
    }
  }
  return flags.rows.empty() ? Status(InvalidArgument("--methods names no method")) : Status();
}

// Whether the method reads an option. Where the name of a tree gives its scorer, no option does.
bool Reads(const std::string& method, const OptionInfo& info) {
  if (info.name == std::string_view("reward") && method.find('-') != std::string::npos) {
    return false;
  }
  const std::vector<std::string> readers = ReadersOf(info);
  return readers.empty() ||
         std::find(readers.begin(), readers.end(), ListedName(method)) != readers.end();
}

// The axes of a grid that the method reads. Errors: those of the options and values.
Result<std::vector<eval::GridAxis>> AxesOf(const RowRequest& row,
                                           const std::vector<eval::GridAxis>& grid) {
  MethodOptions fields;
  std::vector<Option> options = OptionsOf(fields);
  std::vector<eval::GridAxis> axes;
  for (const eval::GridAxis& axis : grid) {
    const Option* option = FindOption(options, axis.option);
    const bool reads = option != nullptr && Reads(row.method, option->info());
    for (const std::string& value : axis.values) {
      const RunRequest request{row.method, "", {{axis.option, value}}, {}};
      const Result<RunPlan> plan = ResolveRun(request, {});
      if (!plan && (reads || option == nullptr)) {
        return InvalidArgument(plan.error().message);
      }
    }
    if (reads) {
      axes.push_back(axis);
    }
  }
  return axes;
}

// Puts a row for each point of the grid in the place of each row.
Status Sweep(const EvalTexts& raw, EvalFlags& flags) {
  const Result<std::vector<eval::GridAxis>> grid = eval::ParseGrid(raw.grid);
  if (!grid) {
    return grid.error();
  }
  const std::optional<eval::GridKind> kind = ValueOf<eval::GridKind>(raw.kind);
  if (!kind) {
    return InvalidArgument("--grid-kind '" + raw.kind + "' is not known; it takes one or full");
  }
  std::set<std::string> read;
  std::vector<RowRequest> rows;
  for (const RowRequest& row : flags.rows) {
    const Result<std::vector<eval::GridAxis>> axes = AxesOf(row, *grid);
    if (!axes) {
      return axes.error();
    }
    for (const eval::GridAxis& axis : *axes) {
      read.insert(axis.option);
    }
    for (const OptionValues& point : eval::GridPoints(*axes, *kind)) {
      RowRequest next = row;
      next.label += (point.empty() ? "" : " ") + eval::GridLabel(point);
      next.options.insert(next.options.end(), point.begin(), point.end());
      rows.push_back(std::move(next));
    }
  }
  for (const eval::GridAxis& axis : *grid) {
    if (read.count(axis.option) == 0) {
      return InvalidArgument(fmt::format(
          "--grid {}: none of the methods reads it; 'hyper help METHOD' lists what one reads",
          axis.option));
    }
  }
  flags.rows = std::move(rows);
  return {};
}

// An option for every row has to be read by one of them at least.
Status CheckOptions(const EvalFlags& flags) {
  for (const OptionValue& value : flags.options) {
    Status status;
    for (const RowRequest& row : flags.rows) {
      const Result<RunPlan> plan = ResolveRun({row.method, "", {value}, {}}, {});
      status = plan ? Status() : Status(InvalidArgument(plan.error().message));
      if (status) {
        break;
      }
    }
    if (!status) {
      return status;
    }
  }
  return {};
}

Status ReadOutput(const EvalTexts& raw, EvalFlags& flags) {
  const std::optional<eval::TableForm> form = ValueOf<eval::TableForm>(raw.form);
  if (!form) {
    return InvalidArgument("--format '" + raw.form +
                           "' is not known; it takes text, markdown, csv, json or latex");
  }
  flags.form = *form;
  const bool all = raw.tables == "all" || (raw.tables.empty() && raw.methods == "all");
  const std::string tables = raw.tables.empty() ? "results" : raw.tables;
  flags.tables = all ? TableNames() : SplitAt(tables, ',');
  for (const std::string& table : flags.tables) {
    const std::vector<std::string> known = TableNames();
    if (std::find(known.begin(), known.end(), table) == known.end()) {
      return InvalidArgument(
          fmt::format("--table '{}' is not known; there are {}", table, fmt::join(known, ", ")));
    }
  }
  return {};
}

// Reads "I/N". Rows whose width is measured would be other rows in each part.
Status ReadShard(const std::string& text, EvalFlags& flags) {
  if (text.empty()) {
    return {};
  }
  const size_t slash = text.find('/');
  int number = 0;
  Option shard(number, {.name = "shard", .bounds = From(1)});
  Option shards(flags.shards, {.name = "shard", .bounds = Between(1, 1'000'000)});
  const bool valid = slash != std::string::npos && shard.Set(text.substr(0, slash)).ok() &&
                     shards.Set(text.substr(slash + 1)).ok() && number <= flags.shards;
  if (!valid) {
    return InvalidArgument("--shard is " + text +
                           "; it takes I/N with I from 1 to N, such as 3/16");
  }
  if (flags.align == Align::kMeasured) {
    return InvalidArgument(
        "--shard takes --align off or a factor: a width that each part measures is another row in "
        "each");
  }
  flags.shard = number - 1;
  return {};
}

Status ReadAlign(const std::string& text, EvalFlags& flags) {
  if (text == "off" || text == "measured") {
    flags.align = text == "off" ? Align::kOff : Align::kMeasured;
    return {};
  }
  flags.align = Align::kFactor;
  Option factor(flags.align_factor, {.name = "align", .bounds = Between(1, 16)});
  const Status status = factor.Set(text);
  return status ? status
                : Status(InvalidArgument("--align is " + text +
                                         "; it takes measured, off or a factor from 1 to 16"));
}

Status ReadRaw(const EvalTexts& raw, const OptionValues& given, EvalFlags& flags) {
  if (Status status = ReadAlign(raw.align, flags); !status) {
    return status;
  }
  if (Status status = ReadShard(raw.shard, flags); !status) {
    return status;
  }
  flags.selection.groups = SplitAt(raw.levels, ',');
  for (const Status& status :
       {ApplyFlags(given, OwnOptions(flags)), ApplyFlags(given, QuestionOptions(flags)),
        ReadRows(raw, flags), flags.sweeps() ? Sweep(raw, flags) : Status(), ReadOutput(raw, flags),
        CheckOptions(flags)}) {
    if (!status) {
      return status;
    }
  }
  if (flags.shards > 1 && !flags.pool.empty()) {
    return InvalidArgument("--shard and --pool exclude each other; a pool takes no time");
  }
  if (flags.report_only && !flags.pool.empty()) {
    return InvalidArgument("--report-only and --pool cannot be combined; give one");
  }
  return flags.report_only || !flags.pool.empty() ? Status() : CheckEngineFlags(flags.engine);
}

}  // namespace

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) {
      parts.push_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return parts;
}

Result<RowRequest> ParseRow(const std::string& text) {
  RowRequest row;
  const size_t colon = text.find(':');
  const std::string head = text.substr(0, colon);
  const size_t equals = head.find('=');
  row.method = equals == std::string::npos ? head : head.substr(equals + 1);
  row.label = head.substr(0, equals);
  if (row.label.empty() || row.method.empty()) {
    return InvalidArgument("--row '" + text +
                           "' has no label or method; it takes LABEL=METHOD:option=value");
  }
  if (const auto known = ResolveRun({row.method, "", {}, {}}, {}); !known) {
    return InvalidArgument(known.error().message);
  }
  if (colon == std::string::npos) {
    return row;
  }
  for (const std::string& option : SplitAt(text.substr(colon + 1), ',')) {
    const size_t place = option.find('=');
    if (place == std::string::npos || place == 0) {
      return InvalidArgument(fmt::format("--row '{}': '{}' is not option=value", text, option));
    }
    std::string value = option.substr(place + 1);
    std::replace(value.begin(), value.end(), '+', ',');
    row.options.emplace_back(option.substr(0, place), std::move(value));
  }
  return row;
}

std::optional<int> ParseEvalFlags(int argc, const char* const* argv, EvalFlags* flags) {
  const bool sweeps = flags->sweeps();
  CLI::App app(sweeps ? "Answers the questions of a suite for every value of some options."
                      : "Answers the questions of a suite by several methods and compares them.");
  EvalTexts raw;
  OptionValues given;
  SetUpParser(app, flags->command, sweeps ? kSweepFooter : kEvalFooter);
  if (sweeps) {
    raw.methods = "hyper";
    raw.align = "off";
    app.add_option("--grid", raw.grid,
                   "options with their values, such as \"interval=8,16 eta=0.2,0.8\" ('+' for ',' "
                   "in a value)")
        ->type_name("TEXT")
        ->required()
        ->group("Study");
    app.add_option("--grid-kind", raw.kind,
                   "one: one option at a time; full: every combination [one]")
        ->type_name("WORD")
        ->group("Study");
  }
  AddStudyFlags(app, *flags, raw);
  AddOutputFlags(app, *flags, raw);
  flags->engine.AddTo(app);
  AddProfileFlag(app, flags->engine);
  flags->question.seed = kStudySeed;
  AddOptionFlags(app, OwnOptions(*flags), given);
  AddOptionFlags(app, QuestionOptions(*flags), given);
  AddMethodFlags(app, flags->options);
  MethodOptions method;
  const std::vector<EverydayOption> everyday = WithBriefHelp(kEvalEveryday, OptionsOf(method));
  if (const std::optional<int> done = ParseCommandLine(app, flags->command, argc, argv, everyday)) {
    return done;
  }
  const Status status = ReadRaw(raw, given, *flags);
  if (!status) {
    return Complain(flags->command, status.error());
  }
  return std::nullopt;
}

}  // namespace hyper::app
