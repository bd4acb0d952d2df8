// hyper figures: the pictures of a study, with their numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/gnuplot.h"
#include "apps/hyper/write_text.h"
#include "src/eval/figures/figure_list.h"

namespace hyper::app {
namespace {

constexpr const char* kFiguresCommand = "figures";
constexpr const char* kFiguresFooter = R"(Examples:
  hyper figures study.db
  hyper figures study.db --only 1,8,roc --format svg,pdf --out paper/
  hyper figures --list

Each figure is a CSV file with its numbers, a script for gnuplot and, where gnuplot is installed, a
picture in each format. What it shows is printed in a line (docs/figures.md). Exit codes are those
of hyper run.)";

constexpr std::array<const char*, 3> kFormats = {"svg", "pdf", "png"};

struct FiguresFlags {
  std::string study;
  std::string folder;
  std::vector<std::string> only;
  std::vector<std::string> formats = {"svg"};
  bool list = false;
};

std::string Listing() {
  std::string text;
  for (const eval::FigureSpec& spec : eval::FigureSpecs()) {
    text += fmt::format("{:>3}  {:<12} {}\n", spec.number, spec.name, spec.title);
  }
  return text;
}

// The figures asked for, each once. Errors: kInvalidArgument, one that is not known.
Result<std::vector<const eval::FigureSpec*>> ChosenFigures(const FiguresFlags& flags) {
  std::vector<const eval::FigureSpec*> chosen;
  for (const std::string& name : flags.only) {
    const eval::FigureSpec* spec = eval::FindFigure(name);
    if (spec == nullptr) {
      return InvalidArgument("--only '" + name +
                             "' is no figure; hyper figures --list shows numbers and names");
    }
    if (std::find(chosen.begin(), chosen.end(), spec) == chosen.end()) {
      chosen.push_back(spec);
    }
  }
  if (flags.only.empty()) {
    for (const eval::FigureSpec& spec : eval::FigureSpecs()) {
      chosen.push_back(&spec);
    }
  }
  return chosen;
}

Status CheckFlags(const FiguresFlags& flags) {
  if (flags.study.empty()) {
    return InvalidArgument("STUDY is missing: the file of a study, such as study.db");
  }
  for (const std::string& format : flags.formats) {
    if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) {
      return InvalidArgument(fmt::format("--format '{}' is not known; there are {}", format,
                                         fmt::join(kFormats, ", ")));
    }
  }
  return {};
}

// Writes numbers and script of a figure, and draws it as long as `draws`, which ends with a warning
// where there is no gnuplot. Returns the lines to print.
Result<std::string> WriteFigure(const eval::Figure& figure, const FiguresFlags& flags,
                                bool& draws) {
  const std::filesystem::path base = std::filesystem::path(flags.folder) / figure.name;
  const std::string script = base.string() + ".gp";
  Status written = WriteText(base.string() + ".csv", eval::FigureCsv(figure));
  if (written.ok()) {
    written = WriteText(script, eval::GnuplotScript(figure));
  }
  if (!written) {
    return written.error();
  }
  std::string forms = "csv,gp";
  for (const std::string& format : flags.formats) {
    if (!draws) {
      break;
    }
    const Status drawn = RunGnuplot(script, format, flags.folder + "/");
    if (!drawn && drawn.error().code != ErrorCode::kUnavailable) {
      return drawn.error();
    }
    if (!drawn) {
      Warn(kFiguresCommand, drawn.error().message);
      draws = false;
      break;
    }
    forms += "," + format;
  }
  return fmt::format("{}.{{{}}}\n  {}\n", base.string(), forms, OneLine(figure.finding));
}

int DrawFigures(const FiguresFlags& flags) {
  const Result<std::vector<const eval::FigureSpec*>> chosen = ChosenFigures(flags);
  if (!chosen) {
    return Complain(kFiguresCommand, chosen.error());
  }
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kReadOnly);
  if (!store) {
    return Complain(kFiguresCommand, store.error());
  }
  const Result<eval::StudyMaterial> material =
      eval::LoadMaterial(*store, {.left_out_suite = kRunsSuite});
  if (!material) {
    return Complain(kFiguresCommand, material.error());
  }
  std::error_code ignored;
  std::filesystem::create_directories(flags.folder, ignored);
  std::string text;
  bool draws = true;
  for (const eval::FigureSpec* spec : *chosen) {
    const Result<eval::Figure> figure = eval::MakeFigure(*spec, *material);
    if (!figure) {
      text +=
          fmt::format("{} {} is not drawn: {}\n", spec->number, spec->name, figure.error().message);
      continue;
    }
    const Result<std::string> lines = WriteFigure(*figure, flags, draws);
    if (!lines) {
      return Complain(kFiguresCommand, lines.error());
    }
    text += *lines;
  }
  return PrintResult(kFiguresCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace

int FiguresCommand(int argc, const char* const* argv) {
  FiguresFlags flags;
  CLI::App app("Draws the figures of the paper, and more, from a study.");
  SetUpParser(app, kFiguresCommand, kFiguresFooter);
  app.add_option("--out", flags.folder, "folder of the files [STUDY.figures]")->type_name("FOLDER");
  app.add_option("--only", flags.only, "numbers or names of figures, with commas [all]")
      ->delimiter(',')
      ->type_name("N");
  app.add_option("--format", flags.formats, "svg, pdf, png, with commas [svg]")
      ->delimiter(',')
      ->type_name("F");
  app.add_flag("--list", flags.list, "list the figures, and draw none");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("");
  if (const std::optional<int> done = ParseCommandLine(app, kFiguresCommand, argc, argv)) {
    return *done;
  }
  if (flags.list) {
    return PrintResult(kFiguresCommand, Listing()) ? kExitOk : kExitOutput;
  }
  if (Status status = CheckFlags(flags); !status) {
    return Complain(kFiguresCommand, status.error());
  }
  if (flags.folder.empty()) {
    flags.folder = std::filesystem::path(flags.study).replace_extension(".figures").string();
  }
  return DrawFigures(flags);
}

}  // namespace hyper::app
