// Flags of `hyper eval` and `hyper sweep`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/flags/engine_flags.h"
#include "hyper/ask.h"
#include "hyper/option.h"
#include "hyper/result.h"
#include "src/eval/data/questions.h"
#include "src/eval/grade/judge.h"
#include "src/eval/tables/table.h"

namespace hyper::app {

inline constexpr const char* kEvalCommand = "eval";
inline constexpr const char* kSweepCommand = "sweep";

// One row of a study as it is asked for: "sc", or "LABEL=METHOD:option=value,option=value".
struct RowRequest {
  std::string label;
  std::string method;
  OptionValues options;
};

// How many paths the parallel methods start.
enum class Align {
  kMeasured,  // as many as hyper's mean N_inst on the suite, rounded up
  kFactor,    // a multiple of --width, rounded up
  kOff,       // --width
};

struct EvalFlags {
  const char* command = kEvalCommand;
  EngineFlags engine;
  OptionValues options;  // for every row
  std::string suite = "tinymath";
  eval::Selection selection;
  std::string data;
  std::vector<RowRequest> rows;
  int repeats = 1;
  int shard = 0;  // of `shards` parts of the questions, from 0
  int shards = 1;
  int parallel = 1;
  Align align = Align::kMeasured;
  double align_factor = 1;   // of kFactor
  AskOptions question = {};  // seed of the study, limits of each question
  double most_time_s = 0;    // of the whole study; 0: no limit
  int64_t most_tokens = 0;   // of the whole study; 0: no limit
  std::string study;         // empty: SUITE.study.db
  std::string pool;          // stored traces to run on, FILE or FILE:ROW; empty: an engine
  int resamples = 1;         // of these
  std::string reward_model;  // GGUF of a process reward model for -prm rows; empty: none
  eval::JudgeOptions judge;  // of free text; without a URL: none
  bool live = false;         // decode every row, stored paths or not
  bool report_only = false;  // no generation
  bool resume = false;       // only go on with a study that is there
  std::vector<std::string> tables = {"results"};
  eval::TableForm form = eval::TableForm::kTerminal;

  bool sweeps() const { return command == std::string_view(kSweepCommand); }
};

// The parts of a text between separators; empty ones are left out. Pure.
std::vector<std::string> SplitAt(const std::string& text, char separator);

// Reads a row. Errors: kInvalidArgument (its form, or the method is not known).
Result<RowRequest> ParseRow(const std::string& text);

// Parses and checks all that can be known before suite and model are loaded; flags->command says
// for which command. The rows of a sweep are those of its grid. Returns an exit code where the
// program is done: --help, or an error, which has been printed.
std::optional<int> ParseEvalFlags(int argc, const char* const* argv, EvalFlags* flags);

}  // namespace hyper::app
