// What a run store holds, as plain values. Sessions are mapped to them elsewhere (src/eval); the
// parts that a session already has as records (decisions, ledger, warm-up) are those of
// hyper/records.h. A number that is not finite is stored as unknown and comes back as NaN.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hyper/names.h"
#include "hyper/records.h"

namespace hyper {

// One configuration that answers questions: everything that changes an output, except the question
// and the repeat. Two records with equal fields (label aside) are the same run.
struct StoredRun {
  int64_t id = 0;     // given by the store
  std::string label;  // name of its row in tables; not part of the identity
  std::string method;
  std::string suite;
  std::string model;
  std::string model_hash;
  std::string engine;   // kind and version, such as "llama v0.4.0"
  std::string version;  // of this program
  uint64_t seed = 0;
  // Everything else by name: decoding options, determinism, context, template arguments, width...
  std::map<std::string, std::string> settings;
};

// The suite of runs that belong to no study: those of the server and of the log.
inline constexpr const char* kRunsSuite = "serve";

// One question as it was put. Equal suite, name, prompt, kind and labels: the same question.
struct StoredQuestion {
  int64_t id = 0;  // given by the store
  std::string suite;
  std::string name;  // id within the suite
  std::string text;
  std::string prompt;  // as rendered with the chat template
  std::string gold;    // may change later; answers are then graded again
  std::string kind;    // of the answer, by name
  std::string labels;  // of a choice question
  std::string group;   // level or subject
};

// What names one finished piece of work.
struct ItemKey {
  int64_t run = 0;
  int64_t question = 0;
  int repeat = 0;  // from 0

  friend auto operator<=>(const ItemKey&, const ItemKey&) = default;
};

enum class ItemStatus {
  kDone,     // the method came to its end
  kPartial,  // stopped by a limit that belongs to the run, or a few paths were lost; the vote
             // counts
  kFailed,   // an error, or the user, ended it before its end; it is made again on resume
};
template <>
inline constexpr std::array kNamesOf<ItemStatus> = {"done", "partial", "failed"};

// The reason of a failed item that was stored as its run began, and of which nothing came since:
// its program ended before it, or it still runs.
inline constexpr const char* kInterrupted = "interrupted";

struct StoredPath {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  PathId path = kNoPath;
  PathId parent = kNoPath;
  int fork_position = 0;  // tokens inherited from the parent
  bool warmup = false;
  PathKind kind = PathKind::kReasoning;
  PathStatus status = PathStatus::kFinished;
  std::string reason;
  PathId kept = kNoPath;  // of a merged path
  uint64_t key = 0;       // of its random numbers
  int tokens = 0;         // inherited ones included
  double mean_confidence = kUnknown;
  double lowest_window = kUnknown;
  std::string text;  // bytes as generated, maybe no valid UTF-8
  std::optional<std::string> answer;
  std::string answer_raw;
  bool tentative = false;
};

// Per-token values of a path from token `first` on: those of its own, inherited ones are the
// parent's (see ExpandSeries).
struct StoredSeries {
  PathId path = kNoPath;
  std::string name;  // such as "confidence"
  int first = 0;
  std::variant<std::vector<float>, std::vector<int32_t>, std::vector<uint8_t>> values;
};

// One answer under one vote rule.
struct StoredTally {
  std::string answer;
  double score = 0;
  double share = 0;
  int paths = 0;
  bool candidate = true;
};

struct StoredVote {
  std::string rule;
  std::optional<std::string> answer;
  bool tie = false;
  int clipped = 0;
  std::vector<StoredTally> tallies;  // winner first
};

// Everything known of one answered question.
struct StoredItem {
  ItemKey key;
  ItemStatus status = ItemStatus::kDone;
  std::string reason;                 // of kPartial and kFailed, in words
  std::optional<std::string> answer;  // under `vote_rule`
  std::string vote_rule;
  int voting_paths = 0;
  Ledger ledger;
  std::optional<WarmupRecord> warmup;
  std::vector<StoredPath> paths;
  std::vector<StoredSeries> series;
  std::vector<DecisionRecord> decisions;
  std::vector<RefineRecord> refinements;
  std::vector<StoredVote> votes;
  std::vector<std::string> notices;
};

// Attempts at an item that failed or were stopped before the one that is stored.
struct LostWork {
  int attempts = 0;
  int64_t effective_tokens = 0;
  int64_t generated_tokens = 0;  // where an old file does not know: as many as effective ones
};

enum class StoredVerdict { kRight, kWrong, kUndecided, kNotGraded };
template <>
inline constexpr std::array kNamesOf<StoredVerdict> = {"right", "wrong", "undecided", "not_graded"};

// How an answer was graded; kept apart from the answer, so that grading can be done again.
struct StoredGrade {
  ItemKey key;
  StoredVerdict verdict = StoredVerdict::kNotGraded;
  std::string gold;    // that it was compared with
  std::string grader;  // name and version of the rules, or of the judge
  std::string note;    // why undecided or not graded
};

// One line of tables and resuming: an item without its paths.
struct ItemSummary {
  ItemKey key;
  ItemStatus status = ItemStatus::kDone;
  std::string reason;
  std::optional<std::string> answer;
  std::string vote_rule;
  int voting_paths = 0;
  Ledger ledger;
  LostWork lost;
  std::optional<StoredGrade> grade;
};

// An item as a list over several runs shows it.
struct ListedItem {
  int64_t item = 0;  // number of its row; later ones are larger
  ItemKey key;
  std::string suite;
  std::string name;  // of the question
  std::string text;
  std::string method;
  ItemStatus status = ItemStatus::kDone;
  std::string reason;
  std::optional<std::string> answer;
  int64_t generated = 0;
  int paths = 0;          // lanes ever opened
  int64_t stored_at = 0;  // Unix time
  uint64_t seed = 0;
  std::map<std::string, std::string> settings;  // of its run
  double wall_s = 0;
};

// A judge's verdict of an answer to a question, against its present gold.
struct JudgedAnswer {
  int64_t question = 0;
  std::string answer;
  StoredVerdict verdict = StoredVerdict::kNotGraded;
};

// The answer of an item under one vote rule.
struct VoteAnswer {
  ItemKey key;
  std::string rule;
  std::optional<std::string> answer;
};

// The answers of an item's reasoning paths (merged ones left out), alike ones together.
struct PathAnswers {
  ItemKey key;
  std::optional<std::string> answer;  // nothing: paths without one
  int paths = 0;
};

}  // namespace hyper
