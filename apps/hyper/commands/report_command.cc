// hyper report: studies as one page.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/gnuplot.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/printers/eval_tables.h"
#include "apps/hyper/write_text.h"
#include "hyper/ask.h"
#include "src/eval/data/suite.h"
#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/report.h"

namespace hyper::app {
namespace {

constexpr const char* kReportCommand = "report";
constexpr const char* kReportFooter = R"(Examples:
  hyper report study.db
  hyper report before.db after.db -o both.html
  hyper report study.db -o study.md

The page holds the tables, every figure that the study gives with its numbers, the settings, the
questions that rows answer differently and the commands that make it again. HTML is one file that
can be mailed; Markdown has its pictures in a folder beside it. Exit codes are those of hyper run.)";

constexpr size_t kMostPictureBytes = size_t{64} << 20U;

struct ReportFlags {
  std::vector<std::string> studies;
  std::string output = "report.html";
};

// The folder of the pictures: one beside Markdown, which links them; else a temporary one.
class PictureFolder {
 public:
  explicit PictureFolder(const std::string& output) {
    std::filesystem::path path(output);
    kept_ = path.extension() == ".md";
    if (kept_) {
      folder_ = path.replace_extension(".figures");
      std::error_code ignored;
      std::filesystem::create_directories(folder_, ignored);
      return;
    }
    std::string name = (std::filesystem::temp_directory_path() / "hyper-report-XXXXXX").string();
    folder_ = mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  ~PictureFolder() {
    std::error_code ignored;
    if (!kept_ && !folder_.empty()) {
      std::filesystem::remove_all(folder_, ignored);
    }
  }
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;

  const std::filesystem::path& path() const { return folder_; }
  bool kept() const { return kept_; }

 private:
  std::filesystem::path folder_;
  bool kept_ = false;
};

// A text as one word of a shell.
std::string ShellWord(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_./:=,+").find(c) != std::string::npos;
  });
  if (plain) {
    return text;
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

// "LABEL=METHOD:option=value,...": the options that differ from what method and suite settle.
std::string RowText(const StoredRun& run) {
  const Result<eval::Suite> suite = eval::LoadSuite(run.suite);
  OptionValues given;
  for (const auto& [name, value] : suite ? suite->options : decltype(suite->options)()) {
    given.emplace_back(name, value);
  }
  const Result<RunPlan> plan =
      ResolveRun({run.method, suite ? suite->preset : "", {}, std::move(given)}, {});
  std::vector<std::string> options;
  if (plan) {
    MethodOptions defaults = plan->options;
    for (const Option& option : OptionsOf(defaults)) {
      const auto stored = run.settings.find(option.info().name);
      const bool known = stored != run.settings.end() && stored->first != "step-delimiter";
      if (known && stored->second != option.Text()) {
        std::string value = stored->second;
        std::replace(value.begin(), value.end(), ',', '+');
        options.push_back(stored->first + "=" + value);
      }
    }
  }
  return fmt::format("{}={}{}{}", run.label, run.method, options.empty() ? "" : ":",
                     fmt::join(options, ","));
}

// The command that answers the questions again, for each suite and seed of the study; what it does
// not know, the files, stands in capitals.
std::vector<std::string> CommandsOf(const std::string& study, const eval::StudyMaterial& material) {
  std::map<std::pair<std::string, uint64_t>, std::vector<const eval::RunMaterial*>> parts;
  for (const eval::RunMaterial& run : material.runs) {
    parts[{run.run().suite, run.run().seed}].push_back(&run);
  }
  std::vector<std::string> commands;
  for (const auto& [part, runs] : parts) {
    std::set<std::string> groups;
    std::set<size_t> questions;
    int repeats = 1;
    for (const eval::RunMaterial* run : runs) {
      repeats = std::max(repeats, run->repeats);
      for (const eval::MaterialItem& item : run->items) {
        questions.insert(item.question);
        groups.insert(material.questions[item.question].group);
      }
    }
    groups.erase("");
    const auto& settings = runs.front()->run().settings;
    const auto resamples = settings.find("resamples");
    const bool pool = resamples != settings.end();
    std::string command = "hyper eval ";
    command += pool ? fmt::format("--pool POOL --resamples {}", resamples->second)
                    : fmt::format("--model MODEL --suite {} --questions {} --repeats {}",
                                  ShellWord(part.first), questions.size(), repeats);
    if (!pool && !groups.empty()) {
      command += " --levels " + ShellWord(fmt::format("{}", fmt::join(groups, ",")));
    }
    command += fmt::format(" --seed {} --align off --methods ''", part.second);
    for (const eval::RunMaterial* run : runs) {
      command += " --row " + ShellWord(RowText(run->run()));
    }
    commands.push_back(command + " --study " + ShellWord(study));
  }
  commands.push_back("hyper report " + ShellWord(study));
  return commands;
}

// The figures of a study, drawn as far as there is a gnuplot; `undrawn` says why there is none.
Result<std::vector<eval::ReportFigure>> FiguresOf(const std::string& study, const std::string& stem,
                                                  const eval::StudyMaterial& material,
                                                  const PictureFolder& folder,
                                                  std::string& undrawn) {
  std::vector<eval::ReportFigure> figures;
  for (const eval::FigureSpec& spec : eval::FigureSpecs()) {
    eval::ReportFigure shown{spec.number, spec.title, "", {}, "", "", "", ""};
    Result<eval::Figure> figure = eval::MakeFigure(spec, material);
    if (!figure) {
      shown.missing = figure.error().message;
      figures.push_back(std::move(shown));
      continue;
    }
    shown.figure = std::move(*figure);
    shown.command = fmt::format("hyper figures {} --only {}", ShellWord(study), spec.name);
    const std::string name = stem + shown.figure.name;
    shown.figure.name = name;
    const std::filesystem::path script = folder.path() / (name + ".gp");
    Status written = WriteText(script, eval::GnuplotScript(shown.figure));
    if (written && folder.kept()) {
      written = WriteText(folder.path() / (name + ".csv"), eval::FigureCsv(shown.figure));
      shown.numbers = (folder.path().filename() / (name + ".csv")).string();
    }
    if (!written) {
      return written.error();
    }
    if (undrawn.empty()) {
      const Status drawn = RunGnuplot(script.string(), "svg", folder.path().string() + "/");
      if (!drawn && drawn.error().code != ErrorCode::kUnavailable) {
        return drawn.error();
      }
      undrawn = drawn ? "" : drawn.error().message;
    }
    if (undrawn.empty()) {
      const Result<std::string> svg =
          ReadText((folder.path() / (name + ".svg")).string(), kMostPictureBytes);
      if (!svg) {
        return svg.error();
      }
      shown.svg = *svg;
      shown.picture = (folder.path().filename() / (name + ".svg")).string();
    }
    figures.push_back(std::move(shown));
  }
  return figures;
}

Result<eval::ReportStudy> ReadStudy(const std::string& path, const std::string& stem,
                                    const PictureFolder& folder, std::string& undrawn) {
  Result<Store> store = Store::Open(path, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<eval::StudyMaterial> material =
      eval::LoadMaterial(*store, {.left_out_suite = kRunsSuite});
  if (!material) {
    return Error{material.error().code, path + ": " + material.error().message};
  }
  std::vector<std::string> names = {"results", "accounting", "vote-rules", "samples",
                                    "equal-tokens"};
  for (std::string& name : OwnTableNames()) {
    names.push_back(std::move(name));
  }
  Result<std::vector<eval::Table>> tables = MakeStudyTables({std::move(names), {}}, *store, {});
  if (!tables) {
    return tables.error();
  }
  const Result<std::vector<StoredRun>> runs = store->Runs();
  if (!runs) {
    return runs.error();
  }
  Result<std::vector<eval::ReportFigure>> figures =
      FiguresOf(path, stem, *material, folder, undrawn);
  if (!figures) {
    return figures.error();
  }
  tables->push_back(eval::DisagreementTable(*material));
  return eval::ReportStudy{std::filesystem::path(path).filename().string(), std::move(*figures),
                           std::move(*tables), eval::SettingsTables(*runs),
                           CommandsOf(path, *material)};
}

Status WriteReport(const ReportFlags& flags) {
  const PictureFolder folder(flags.output);
  std::vector<eval::ReportStudy> studies;
  std::string undrawn;
  for (size_t i = 0; i < flags.studies.size(); ++i) {
    const std::string stem = flags.studies.size() > 1 ? fmt::format("study{}-", i + 1) : "";
    Result<eval::ReportStudy> study = ReadStudy(flags.studies[i], stem, folder, undrawn);
    if (!study) {
      return study.error();
    }
    studies.push_back(std::move(*study));
  }
  Status written = WriteText(
      flags.output, folder.kept() ? eval::ReportMarkdown(studies) : eval::ReportHtml(studies));
  if (written && !undrawn.empty()) {
    Warn(kReportCommand, undrawn);
  }
  return written;
}

}  // namespace

int ReportCommand(int argc, const char* const* argv) {
  ReportFlags flags;
  CLI::App app("Writes studies as one page: tables, figures, settings, commands.");
  SetUpParser(app, kReportCommand, kReportFooter);
  app.add_option("-o,--output", flags.output,
                 "the page: HTML, or Markdown where it ends in .md [report.html]")
      ->type_name("FILE");
  app.add_option("STUDY", flags.studies, "files of studies, shown side by side")
      ->type_name("")
      ->required();
  if (const std::optional<int> done = ParseCommandLine(app, kReportCommand, argc, argv)) {
    return *done;
  }
  if (Status status = WriteReport(flags); !status) {
    return Complain(kReportCommand, status.error());
  }
  return PrintResult(kReportCommand, flags.output + "\n") ? kExitOk : kExitOutput;
}

}  // namespace hyper::app
