// What a study runs: methods with their options over questions and repeats, and what identifies
// each run in the store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/engine.h"
#include "hyper/method.h"
#include "hyper/session.h"
#include "src/eval/data/questions.h"
#include "src/store/records.h"

namespace hyper::eval {

// One row of a table: a method with its options.
struct StudyRow {
  std::string label;  // in tables
  RunPlan plan;
  Reservation reservation;  // of each session; part of the run's identity
};

struct StudyPlan {
  Suite suite;
  std::vector<Question> questions;
  std::vector<StudyRow> rows;
  int repeats = 1;
  // Only every `shards`-th question, from the one at place `shard` on, is worked on; all are in the
  // study, so that parts of it merge into what one program would have made (src/store/merge.h).
  int shard = 0;
  int shards = 1;
  int parallel = 1;  // sessions side by side
  uint64_t seed = 0;
  SessionLimits limits;  // of each session; part of the run's identity
  bool strict = true;    // the engine's determinism; part of the run's identity
  std::string engine;    // kind and version of the engine
  std::string program_version;
  // Rows that only vote on independent paths are computed from such paths where the store has them
  // (src/eval/run/stored_pool.h): the result is the same, its times are unknown.
  bool replay = true;
  // Process reward model of the methods that end in "-prm"; these run with parallel = 1 only. It
  // must outlive the runner and serve nothing else.
  Engine* reward = nullptr;
};

// The method of a row whose name asks for the study's reward model; null for all others, which
// OpenSession makes. Errors: kInvalidArgument where parallel is not 1.
Result<std::unique_ptr<Method>> MakeRowMethod(const StudyPlan& plan, const StudyRow& row);

// Seed of a repeat: repeat 0 has the run's own, others are independent of it and of each other.
// Pure.
uint64_t RepeatSeed(uint64_t seed, int repeat);

// Number of a question for its random numbers: by suite and id, not by its place. Pure.
uint64_t QuestionKey(const std::string& suite, const std::string& id);

// The run that a row is, with everything that changes its output. Pure.
StoredRun RunOf(const StudyPlan& plan, const StudyRow& row, const ModelInfo& model);

}  // namespace hyper::eval
