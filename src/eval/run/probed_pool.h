// Pools that Parallel-Probe publishes (github.com/zhengkid/Parallel-Probe, evaluation/MODEL-128/):
// of each path its length, its answer, and the answers that it gave when it was asked in the
// middle.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// When two answers of a question are equal.
enum class AnswerEquality {
  // By mathematics, as in every study. "ERR" is no answer.
  kMaths,
  // Where their strings are equal, "ERR" included, as Parallel-Probe's program has it: each string
  // of a question becomes a number, which is the answer.
  kStrings,
};

// The run that such a pool is: a row "sc" of answers and lengths (HasAnswersOnly). Pure.
StoredRun ProbedRun();

// A question of such a file, with `question`, `gold_answer`, `probe_freq` (tokens between two
// probes) and `each_branch`, each branch [answers when probed, tokens, final answer].
//   name  of the question
// Errors: kDataLoss (a branch is something else). Pure.
Result<PoolEntry> EntryOfProbes(const nlohmann::json& object, const std::string& name,
                                AnswerEquality equality);

// The pool in a folder's *.json files, or in the only such folder evaluation/* of a checkout. The
// folder's name is the model, a file's name the group of its questions.
// Errors: kNotFound (no folder, no such file), kInvalidArgument (several folders to choose from),
// kDataLoss naming file and question: no array of such questions, no gold, fewer paths than the
// others have.
Result<TracePool> ReadProbedFolder(const std::string& folder, AnswerEquality equality);

}  // namespace hyper::eval
