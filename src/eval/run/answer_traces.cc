#include "src/eval/run/answer_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "hyper/names.h"

namespace hyper::eval {
namespace {

constexpr std::array<std::string_view, 5> kAnswerMethods = {"cot", "sc", "sc-adaptive", "sc-cap",
                                                            "esc"};

// Lengths at which pieces end, in order.
std::vector<int> PieceEnds(const std::vector<const StoredPath*>& paths,
                           const MethodOptions& options) {
  std::set<int> ends = {1};
  int longest = 1;
  for (const StoredPath* path : paths) {
    ends.insert({path->tokens - 1, path->tokens});
    longest = std::max(longest, path->tokens);
  }
  for (const int limit : {options.max_tokens, options.length_cap}) {
    if (limit > 0 && limit < longest) {
      ends.insert(limit);
    }
  }
  ends.erase(0);
  return {ends.begin(), ends.end()};
}

// Pieces up to a length at which a piece ends, or all of them.
int PiecesUpTo(const std::vector<int>& ends, int tokens) {
  return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), tokens) - ends.begin());
}

ReplayTrace TraceOf(const StoredPath& path, const std::vector<int>& ends) {
  ReplayTrace trace;
  const int count = ends.empty() ? path.tokens : PiecesUpTo(ends, path.tokens);
  for (int piece = 0; piece < count && !ends.empty(); ++piece) {
    trace.spans.push_back(ends[piece] - (piece > 0 ? ends[piece - 1] : 0));
  }
  trace.pieces.resize(static_cast<size_t>(count));
  // The last token ends the generation and has no text.
  trace.pieces[static_cast<size_t>(std::max(count - 2, 0))] = path.text;
  trace.end_token = count > 1;
  trace.confidences.assign(static_cast<size_t>(count), std::numeric_limits<float>::quiet_NaN());
  return trace;
}

}  // namespace

bool HasAnswersOnly(const StoredRun& run) {
  const auto recorded = run.settings.find(kRecorded);
  return recorded != run.settings.end() && recorded->second == kAnswersOnly;
}

Status CheckNeedsAnswersOnly(const RunPlan& row) {
  constexpr const char* kHas = "the pool has answers and lengths only";
  if (std::find(kAnswerMethods.begin(), kAnswerMethods.end(), row.method) == kAnswerMethods.end()) {
    return InvalidArgument(
        fmt::format("the method {} reads texts or log-probabilities, and {}; {} "
                    "can run on it",
                    row.method, kHas, fmt::join(kAnswerMethods, ", ")));
  }
  const VoteOptions& vote = row.options.vote;
  if (vote.rule != VoteRule::kMajority && vote.rule != VoteRule::kLength) {
    return InvalidArgument(
        fmt::format("--vote {} reads confidences, and {}; take majority or "
                    "length",
                    NameOf(vote.rule), kHas));
  }
  if (row.method == "sc-cap" && vote.tentative) {
    return InvalidArgument(fmt::format(
        "--vote-tentative reads the texts of paths that were cut off, and {}; leave it out", kHas));
  }
  return {};
}

Result<std::vector<ReplayTrace>> AnswerTraces(const StoredItem& item, int count, RunPlan& row) {
  std::vector<const StoredPath*> paths;
  for (const StoredPath& path : item.paths) {
    if (static_cast<int>(paths.size()) < count) {
      paths.push_back(&path);
    }
  }
  const bool ended = std::all_of(paths.begin(), paths.end(), [](const StoredPath* path) {
    return path->status == PathStatus::kFinished && path->tokens > 0;
  });
  if (static_cast<int>(paths.size()) < count || !ended) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} paths of the question that came to their end are needed; the pool "
                             "holds {} paths{}",
                             count, paths.size(), ended ? "" : ", some of them cut off")};
  }
  // A vote that weighs lengths has to see them.
  std::vector<int> ends;
  if (row.options.vote.rule == VoteRule::kMajority) {
    ends = PieceEnds(paths, row.options);
    for (int* limit : {&row.options.max_tokens, &row.options.length_cap}) {
      *limit = *limit > 0 ? std::max(1, PiecesUpTo(ends, *limit)) : *limit;
    }
  }
  std::vector<ReplayTrace> traces;
  traces.reserve(paths.size());
  for (const StoredPath* path : paths) {
    traces.push_back(TraceOf(*path, ends));
  }
  return traces;
}

void CountTokens(const ReplayEngine& engine, StoredItem& item) {
  if (!engine.has_spans()) {
    return;
  }
  Ledger& ledger = item.ledger;
  ledger.generated = 0;
  for (size_t trace = 0; trace < item.paths.size(); ++trace) {
    StoredPath& path = item.paths[trace];  // in the order of opening, as the traces
    path.tokens = engine.TokensOf(trace, path.tokens);
    ledger.generated += path.tokens;
  }
  ledger.positions = engine.positions();
  ledger.cells_peak = ledger.saved = 0;
}

}  // namespace hyper::eval
