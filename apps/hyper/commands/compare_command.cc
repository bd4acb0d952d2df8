// hyper compare: two rows over the same questions, with paired tests.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/option_flags.h"
#include "src/eval/metrics/study_reference.h"
#include "src/eval/metrics/study_summary.h"
#include "src/eval/tables/study_tables.h"

namespace hyper::app {
namespace {

constexpr const char* kCompareCommand = "compare";
constexpr const char* kCompareFooter =
    R"(A and B are STUDY:ROW, or rows of the study given with --study. STUDY alone means its only row,
or, if both are given so, every row that the two studies share.

Examples:
  hyper compare --study study.db hyper sc
  hyper compare study.db:hyper other.db:hyper
  hyper compare before.db after.db --format markdown

McNemar's exact test counts the questions that only one row answers right (in more than half of its
repeats); the bootstrap resamples questions, in pairs. Exit codes are those of hyper run.)";

struct CompareFlags {
  std::string study;
  std::string first;
  std::string second;
  std::string form = "text";
};

// A side of the comparison: a study, and one of its rows or all of them.
struct Side {
  std::string study;
  std::string row;  // empty: not named
};

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<Side> ParseSide(const CompareFlags& flags, const std::string& text) {
  if (!flags.study.empty()) {
    return Side{flags.study, text};
  }
  if (IsFile(text)) {
    return Side{text, ""};
  }
  for (size_t colon = text.find(':'); colon != std::string::npos;
       colon = text.find(':', colon + 1)) {
    if (IsFile(text.substr(0, colon))) {
      return Side{text.substr(0, colon), text.substr(colon + 1)};
    }
  }
  return Error{ErrorCode::kNotFound,
               "'" + text + "' names no study; give STUDY or STUDY:ROW, or a row with --study"};
}

// The summaries that a side stands for.
Result<std::vector<eval::RunSummary>> SummariesOf(const Side& side) {
  Result<Store> store = Store::Open(side.study, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  Result<std::vector<eval::RunSummary>> all = eval::SummariseStudy(*store, {});
  if (!all || side.row.empty()) {
    return all;
  }
  const Result<StoredRun> run = eval::FindRun(*store, side.row);
  if (!run) {
    return run.error();
  }
  for (eval::RunSummary& summary : *all) {
    if (summary.run.id == run->id) {
      return std::vector<eval::RunSummary>{std::move(summary)};
    }
  }
  return InvalidArgument("row '" + side.row + "' has no finished question yet");
}

using Pairs = std::vector<std::pair<eval::RunSummary, eval::RunSummary>>;

// The pairs to compare: the two rows, or those with the same label.
Result<Pairs> PairUp(const std::vector<eval::RunSummary>& first,
                     const std::vector<eval::RunSummary>& second) {
  if (first.size() == 1 && second.size() == 1) {
    return Pairs{{first[0], second[0]}};
  }
  Pairs pairs;
  for (const eval::RunSummary& a : first) {
    for (const eval::RunSummary& b : second) {
      if (a.run.label == b.run.label) {
        pairs.emplace_back(a, b);
      }
    }
  }
  if (pairs.empty()) {
    return InvalidArgument("the studies have no row in common; name one of each as STUDY:ROW");
  }
  return pairs;
}

Result<std::string> Compare(const CompareFlags& flags, uint64_t seed, eval::TableForm form) {
  const Result<Side> first = ParseSide(flags, flags.first);
  if (!first) {
    return first.error();
  }
  const Result<Side> second = ParseSide(flags, flags.second);
  if (!second) {
    return second.error();
  }
  const Result<std::vector<eval::RunSummary>> a = SummariesOf(*first);
  if (!a) {
    return a.error();
  }
  const Result<std::vector<eval::RunSummary>> b = SummariesOf(*second);
  if (!b) {
    return b.error();
  }
  const Result<Pairs> pairs = PairUp(*a, *b);
  if (!pairs) {
    return pairs.error();
  }
  std::vector<eval::ComparedRows> rows;
  for (const auto& [one, other] : *pairs) {
    const Result<eval::RunComparison> comparison = eval::CompareRuns(one, other, seed);
    if (!comparison) {
      return comparison.error();
    }
    rows.push_back({one.run.label, other.run.label, *comparison});
  }
  return eval::RenderTable(eval::ComparisonTable(rows), form);
}

}  // namespace

int CompareCommand(int argc, const char* const* argv) {
  CompareFlags flags;
  CLI::App app("Compares two rows of studies over the questions that both have answered.");
  SetUpParser(app, kCompareCommand, kCompareFooter);
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type) {
    return app.add_option(name, value, help)->type_name(type);
  };
  text("--study", flags.study, "A and B are rows of this study", "FILE");
  uint64_t seed = 1;
  OptionValues given;
  const std::vector<Option> own = {
      {seed, {.name = "seed", .help = "seed of the bootstrap", .bounds = From(0)}}};
  AddOptionFlags(app, own, given);
  CLI::Option* form_option =
      text("--format", flags.form, "text, markdown, csv, json or latex [text]", "WORD");
  app.add_flag_callback(
         "--json", [&flags] { flags.form = "json"; }, "as --format json")
      ->excludes(form_option);
  text("A", flags.first, "STUDY, STUDY:ROW or ROW (label or #N)", "")->required();
  text("B", flags.second, "as A", "")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kCompareCommand, argc, argv)) {
    return *done;
  }
  if (Status status = ApplyFlags(given, own); !status) {
    return Complain(kCompareCommand, status.error());
  }
  const std::optional<eval::TableForm> form = ValueOf<eval::TableForm>(flags.form);
  if (!form) {
    return Complain(kCompareCommand,
                    InvalidArgument("--format '" + flags.form +
                                    "' is not known; it takes text, markdown, csv, json or latex"));
  }
  const Result<std::string> table = Compare(flags, seed, *form);
  if (!table) {
    return Complain(kCompareCommand, table.error());
  }
  return PrintResult(kCompareCommand, *table) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app
