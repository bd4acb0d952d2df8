// hyper calibrate: the signal, threshold, stop, vote and width that fit a model, from a recorded
// pool of paths, written as a profile that preset `auto` takes.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/commands/decode_study.h"
#include "apps/hyper/commands/eval_pool.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/eval_flags.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/input/questions_file.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/models/profile.h"
#include "apps/hyper/printers/calibration_text.h"
#include "apps/hyper/printers/live_frame.h"
#include "apps/hyper/printers/screen_line.h"
#include "apps/hyper/terminal.h"
#include "apps/hyper/write_text.h"
#include "src/eval/run/calibration.h"
#include "src/eval/run/pool_labels.h"
#include "src/eval/tables/study_tables.h"

namespace hyper::app {
namespace {

constexpr const char* kCalibrateCommand = "calibrate";
constexpr const char* kCalibrateFooter = R"(Examples:
  hyper calibrate --levels 2,3 --questions 24 --paths 16 --out tiny.json
  hyper calibrate tinymath.calibrate.db --tolerance 2 --out none

Records a pool of plain paths (the same command goes on where it was stopped), or takes POOL: a
study with a row of such paths, or any pool of hyper eval --pool. Signals, thresholds, stops, votes
and widths are replayed on it. Half of the questions choose, the other half is reported on. Preset
auto finds the profile in ~/.config/hyper/profiles by the hash of the model's weights. Exit codes
are those of hyper run.)";

constexpr EverydayOption kCalibrateEveryday[] = {
    {"--suite"},
    {"--levels"},
    {"--prompts"},
    {"--questions"},
    {"--paths"},
    {"--study"},
    {"--labels"},
    {"--width"},
    {"--tolerance"},
    {"--out"},
    {"--json"},
    {"--model"},
    {"--help", "print this help"},
    {"--help-all", "print every option"},
};

struct CalibrateFlags {
  EngineFlags engine;
  std::string pool;  // empty: one is recorded
  std::string suite = "tinymath";
  std::string levels;
  std::string prompts;  // file of questions without answers, in place of the suite
  std::string data;     // the suite's questions
  std::string study;    // of the recorded pool; empty: SUITE.calibrate.db
  int questions = 60;
  int paths = 64;
  std::string out;
  std::string labels = "gold";
  std::string form = "text";
  eval::CalibrationPlan plan;
  double tolerance_points = 1;
};

std::vector<Option> OwnOptions(CalibrateFlags& flags) {
  constexpr const char* kPool = "Recording";
  constexpr const char* kChoice = "Choice";
  eval::CalibrationPlan& plan = flags.plan;
  return {
      {flags.questions,
       {.name = "questions",
        .help = "questions to record, groups taking turns",
        .bounds = Between(2 * eval::kFewestOfHalf, 1'000'000),
        .group = kPool}},
      {flags.paths,
       {.name = "paths",
        .help = "paths to record of each question",
        .bounds = Between(3, 4096),
        .group = kPool}},
      {plan.warmup,
       {.name = "warmup",
        .help = "warm-up paths of a replayed run",
        .bounds = Between(2, 4096),
        .group = kChoice}},
      {plan.width,
       {.name = "width",
        .help = "paths after the warm-up; 0: all that there are, at most 32",
        .bounds = Between(0, 4096),
        .group = kChoice}},
      {plan.resamples,
       {.name = "resamples",
        .help = "draws of a question's paths",
        .bounds = Between(1, 1000),
        .group = kChoice}},
      {flags.tolerance_points,
       {.name = "tolerance",
        .help = "points of accuracy that may be lost against the vote of all paths",
        .bounds = Between(0, 100),
        .group = kChoice}},
      {plan.seed,
       {.name = "seed",
        .help = "seed of the recorded paths and of the draws",
        .bounds = From(0),
        .group = kChoice}},
  };
}

// The questions of a file, without answers.
Result<StudyQuestions> PromptsOf(const CalibrateFlags& flags) {
  const Result<std::string> text = ReadText(flags.prompts);
  if (!text) {
    return text.error();
  }
  const Result<std::vector<OneOfMany>> all = ParseQuestions(*text);
  if (!all) {
    return InvalidArgument(flags.prompts + ": " + all.error().message);
  }
  StudyQuestions asked;
  asked.suite.name = std::filesystem::path(flags.prompts).stem().string();
  asked.suite.preset = FixedPreset(PeekModel(flags.engine));
  asked.suite.prompt =
      asked.suite.preset == "short" ? "{question}" : std::string("{question}\n\n") + kInstruction;
  asked.suite.step_delimiter = "\n";
  for (const OneOfMany& one : *all) {
    if (static_cast<int>(asked.questions.size()) == flags.questions) {
      break;
    }
    eval::Question question;
    question.id = one.id;
    question.text = one.messages.back().content;
    asked.questions.push_back(std::move(question));
  }
  return asked;
}

// Decodes what the pool lacks; returns the exit code.
int RecordPool(CalibrateFlags& flags) {
  EvalFlags study;
  study.command = kCalibrateCommand;
  study.engine = flags.engine;
  study.suite = flags.suite;
  study.data = flags.data;
  study.selection = {"tuning", SplitAt(flags.levels, ','), flags.questions};
  // Pools of other widths and seeds may be in the same study.
  const std::string row = fmt::format("sc of {}, seed {}", flags.paths, flags.plan.seed);
  study.rows = {{row, "sc", {{"width", flags.paths}}}};
  study.align = Align::kOff;
  study.question.seed = flags.plan.seed;
  study.tables.clear();
  Result<StudyQuestions> asked = flags.prompts.empty() ? QuestionsOf(study) : PromptsOf(flags);
  if (!asked) {
    return Complain(kCalibrateCommand, asked.error());
  }
  if (asked->questions.size() < 2 * eval::kFewestOfHalf) {
    return Complain(kCalibrateCommand,
                    InvalidArgument(fmt::format(
                        "there are {} questions, and calibration takes {} or more; give more of "
                        "them",
                        asked->questions.size(), 2 * eval::kFewestOfHalf)));
  }
  if (flags.study.empty()) {
    flags.study = asked->suite.name + ".calibrate.db";
  }
  study.study = flags.study;
  flags.pool = flags.study + ":" + row;
  return DecodeStudy(study, std::move(*asked));
}

// A bar on stderr, where that is a terminal.
void ShowReplay(int done, int all) {
  if (isatty(STDERR_FILENO) == 0) {
    return;
  }
  constexpr int kBar = 20;
  ScreenLine line(ScreenNow().columns - 1);
  if (done < all) {
    AddProgressBar(line, static_cast<double>(done) / all, kBar);
    line.To(kBar + 1).Add(fmt::format("{} of {} settings replayed", done, all));
  }
  Tell("\r\033[K" + line.Text(ScreenNow().colour));
}

// Writes the profile; returns where.
Result<std::string> WriteProfile(const std::string& out, const std::string& model_hash,
                                 const std::string& text) {
  const std::string path = out.empty() ? ProfilePath(model_hash) : out;
  if (path.empty()) {
    return InvalidArgument(
        "the pool does not know the hash of its model, so the profile cannot be found by it; name "
        "a file with --out, or --out none");
  }
  if (path == "none") {
    return std::string();
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (out.empty()) {
    std::error_code ignored;  // writing tells
    std::filesystem::create_directories(folder, ignored);
  }
  if (Status status = WriteText(path, text); !status) {
    return status.error();
  }
  return path;
}

Result<std::string> CalibrateNow(const CalibrateFlags& flags, eval::PoolLabels labels,
                                 eval::TableForm form) {
  Result<eval::TracePool> pool = LoadPool(flags.pool);
  if (!pool) {
    return pool.error();
  }
  const Result<eval::LabelCounts> counts = eval::LabelPool(*pool, labels);
  if (!counts) {
    return counts.error();
  }
  eval::CalibrationPlan plan = flags.plan;
  plan.source = flags.pool;
  const StoredRun made_by = pool->made_by;
  const Result<eval::Calibration> made = eval::Calibrate(std::move(*pool), plan);
  if (!made) {
    return made.error();
  }
  const Result<std::string> path =
      WriteProfile(flags.out, made_by.model_hash, ProfileJson(*made, *counts, made_by, plan));
  if (!path) {
    return path.error();
  }
  if (!path->empty()) {
    Tell("profile " + OneLine(*path) + "\n");
  }
  return eval::RenderTables(CalibrationTables(*made, *counts), form);
}

int CalibrateWith(CalibrateFlags& flags) {
  const auto form = ValueOf<eval::TableForm>(flags.form);
  const auto labels = ValueOf<eval::PoolLabels>(flags.labels);
  if (!form || !labels) {
    return Complain(kCalibrateCommand,
                    InvalidArgument(!form ? "--format '" + flags.form +
                                                "' is not known; it takes text, markdown, csv, "
                                                "json or latex"
                                          : "--labels '" + flags.labels +
                                                "' is not known; it takes gold or consensus"));
  }
  flags.plan.tolerance = flags.tolerance_points / eval::kPercent;
  flags.plan.program_version = HYPER_VERSION;
  flags.plan.progress = ShowReplay;
  if (flags.pool.empty()) {
    Status checked = CheckEngineFlags(flags.engine);
    if (!checked) {
      return Complain(kCalibrateCommand, checked.error());
    }
    if (const int exit_code = RecordPool(flags); exit_code != kExitOk) {
      return exit_code;
    }
  }
  const Result<std::string> tables = CalibrateNow(flags, *labels, *form);
  if (!tables) {
    return Complain(kCalibrateCommand, tables.error());
  }
  return PrintResult(kCalibrateCommand, *tables) ? kExitOk : kExitOutput;
}

}  // namespace

int CalibrateCommand(int argc, const char* const* argv) {
  CalibrateFlags flags;
  CLI::App app("Chooses the options that fit a model, from a recorded pool of paths.");
  SetUpParser(app, kCalibrateCommand, kCalibrateFooter);
  OptionValues given;
  const std::vector<Option> own = OwnOptions(flags);
  const auto text = [&app](const char* name, std::string& value, const char* help, const char* type,
                           const char* group) {
    return app.add_option(name, value, help)->type_name(type)->group(group);
  };
  CLI::Option* suite =
      text("--suite", flags.suite, "suite to record from [tinymath]", "TEXT", "Recording");
  text("--levels", flags.levels, "its groups, such as 2,3 [all]", "LIST", "Recording");
  text("--data", flags.data, "local JSONL with its questions [the bundled ones]", "FILE",
       "Recording");
  CLI::Option* prompts =
      text("--prompts", flags.prompts, "record from a file of questions without answers", "FILE",
           "Recording");
  text("--study", flags.study, "file of the recorded pool [SUITE.calibrate.db]", "FILE",
       "Recording");
  AddOptionFlags(app, own, given);
  text("--labels", flags.labels,
       "right answers: gold, where there is none the consensus of a question's paths; or consensus "
       "for all [gold]",
       "WORD", "Choice");
  text("--out", flags.out, "file of the profile, or none [~/.config/hyper/profiles/HASH.json]",
       "FILE", "Output");
  CLI::Option* form_option =
      text("--format", flags.form, "text, markdown, csv, json or latex [text]", "WORD", "Output");
  app.add_flag_callback(
         "--json", [&flags] { flags.form = "json"; }, "as --format json")
      ->excludes(form_option)
      ->group("Output");
  flags.engine.AddTo(app);
  CLI::Option* pool =
      app.add_option("POOL", flags.pool, "recorded paths, FILE or FILE:ROW [records its own]");
  pool->excludes(suite)->excludes(prompts);
  prompts->excludes(suite);
  if (const std::optional<int> done =
          ParseCommandLine(app, kCalibrateCommand, argc, argv, kCalibrateEveryday)) {
    return *done;
  }
  if (Status status = ApplyFlags(given, own); !status) {
    return Complain(kCalibrateCommand, status.error());
  }
  return CalibrateWith(flags);
}

}  // namespace hyper::app
