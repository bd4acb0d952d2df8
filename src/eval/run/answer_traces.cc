#include "src/eval/run/answer_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hyper/names.h"

namespace hyper::eval {
namespace {

constexpr std::array<std::string_view, 9> kAnswerMethods = {
    "cot", "sc", "sc-adaptive", "sc-cap", "esc", "parallel-probe", "cmc", "mars", "certaindex"};
constexpr const char* kReplySeries = "reply";

// The replies of a path, by its series of bytes; nothing where it has none.
std::vector<std::string> RepliesOf(const StoredSeries& series) {
  std::vector<std::string> replies;
  std::string line;
  for (const uint8_t byte : std::get<std::vector<uint8_t>>(series.values)) {
    if (byte == '\n') {
      // As a probe reads it: up to the brace that closes, or to the end of a line without one.
      replies.push_back(line.empty() ? "\n" : line + "}");
      line.clear();
    } else {
      line += static_cast<char>(byte);
    }
  }
  return replies;
}

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

// The same ends with `every`, 2 `every`, ... among them, each preceded by equally many: where there
// are fewer, the last one comes again. Returns how many.
int FillUp(int every, std::vector<int>& ends) {
  std::vector<std::vector<int>> blocks;
  for (const int end : ends) {
    blocks.resize(std::max(blocks.size(), static_cast<size_t>((end - 1) / every) + 1));
    blocks.back().push_back(end);
  }
  size_t most = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int last = static_cast<int>(i + 1) * every;
    if (blocks[i].empty() || blocks[i].back() != last) {
      blocks[i].push_back(last);
    }
    most = std::max(most, blocks[i].size());
  }
  ends.clear();
  for (const std::vector<int>& block : blocks) {
    ends.insert(ends.end(), block.begin(), block.end());
    ends.insert(ends.end(), most - block.size(), block.back());
  }
  return static_cast<int>(most);
}

// Gives the traces what their paths replied, and counts the row's probes by the pieces.
Status AddReplies(const StoredItem& item, const std::vector<const StoredPath*>& paths,
                  std::vector<int>& ends, RunPlan& row, std::vector<ReplayTrace>& traces) {
  int every = 0;
  traces.resize(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    for (const StoredSeries& series : item.series) {
      if (series.path == paths[i]->path && series.name == kReplySeries &&
          std::holds_alternative<std::vector<uint8_t>>(series.values)) {
        traces[i].replies = RepliesOf(series);
        every = series.first;
      }
    }
  }
  for (ReplayTrace& trace : traces) {
    trace.replies_every = every;
    if (trace.replies.empty()) {
      trace.replies = {"\n"};  // a path that ended before its first probe
    }
  }
  int& interval = row.options.probe_interval;
  if (every < 1 || interval % every != 0) {
    return InvalidArgument(
        every < 1
            ? "the paths of the pool were never asked; leave out --probe and methods that "
              "probe"
            : fmt::format("--probe-interval is {}, but the paths of the pool were asked every "
                          "{} tokens; take a multiple",
                          interval, every));
  }
  interval = ends.empty() ? interval : interval / every * FillUp(every, ends);
  return {};
}

// Pieces up to a length at which a piece ends, or all of them.
int PiecesUpTo(const std::vector<int>& ends, int tokens) {
  return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), tokens) - ends.begin());
}

void FillTrace(const StoredPath& path, const std::vector<int>& ends, ReplayTrace& trace) {
  const int count = ends.empty() ? path.tokens : PiecesUpTo(ends, path.tokens);
  for (int piece = 0; piece < count && !ends.empty(); ++piece) {
    trace.spans.push_back(ends[piece] - (piece > 0 ? ends[piece - 1] : 0));
  }
  trace.pieces.resize(static_cast<size_t>(count));
  // The last token ends the generation and has no text.
  trace.pieces[static_cast<size_t>(std::max(count - 2, 0))] = path.text;
  trace.end_token = count > 1;
  trace.confidences.assign(static_cast<size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

}  // namespace

bool HasAnswersOnly(const StoredRun& run) {
  const auto recorded = run.settings.find(kRecorded);
  return recorded != run.settings.end() && recorded->second == kAnswersOnly;
}

StoredSeries SeriesOfReplies(PathId path, const std::vector<std::string>& replies, int every) {
  std::vector<uint8_t> bytes;
  for (const std::string& reply : replies) {
    std::transform(reply.begin(), reply.end(), std::back_inserter(bytes),
                   [](char byte) { return static_cast<uint8_t>(byte == '\n' ? ' ' : byte); });
    bytes.push_back('\n');
  }
  return {path, kReplySeries, every, std::move(bytes)};
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
  std::vector<ReplayTrace> traces;
  if (row.options.vote.rule == VoteRule::kMajority) {
    ends = PieceEnds(paths, row.options);
  }
  if (row.options.probe) {
    if (Status status = AddReplies(item, paths, ends, row, traces); !status) {
      return status.error();
    }
  }
  traces.resize(paths.size());
  if (!ends.empty()) {
    for (int* limit : {&row.options.max_tokens, &row.options.length_cap}) {
      *limit = *limit > 0 ? std::max(1, PiecesUpTo(ends, *limit)) : *limit;
    }
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    FillTrace(*paths[i], ends, traces[i]);
  }
  return traces;
}

void CountTokens(const ReplayEngine& engine, StoredItem& item) {
  Ledger& ledger = item.ledger;
  if (engine.asked() > 0) {
    std::erase_if(item.paths, [](const StoredPath& path) { return path.kind == PathKind::kProbe; });
    ledger.probe = 0;
    item.notices.push_back(
        fmt::format("{} probes of the recorded paths; their tokens are not known and not charged",
                    engine.asked()));
  }
  if (!engine.has_spans()) {
    return;
  }
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
