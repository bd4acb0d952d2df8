// One path of a session: what it generated and its statistics.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/records.h"

#pragma GCC visibility push(default)
namespace hyper {

// A fork's values include the tokens that it inherited.
struct Path {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  PathId id = kNoPath;
  PathId parent = kNoPath;
  int fork_position = 0;  // generated tokens inherited from the parent
  bool warmup = false;
  PathKind kind = PathKind::kReasoning;
  int prompt_tokens = 0;  // of the prompt it stands on
  PathStatus status = PathStatus::kRunning;
  uint64_t key = 0;
  LaneId lane = 0;
  int routes = 1;      // K it is decoded with
  int granted = 0;     // tokens still to come in this round
  int scores_due = 0;  // answers to Score still to come
  std::string reason;
  PathId kept = kNoPath;
  // Per generated token, all of length() entries.
  std::vector<Token> tokens;
  std::vector<float> logprobs;
  std::vector<float> confidences;        // with the run's candidate set and k
  std::vector<float> confidences_top20;  // DeepConf's: the 20 most probable tokens
  std::vector<float> mean_logprobs;      // over the whole vocabulary; NaN where unknown
  std::vector<float> entropies;
  std::vector<uint8_t> route_counts;  // K of each token; 0: given by Extend, not generated
  // Most probable tokens of the newest position, as many as entropy and confidence read; of a
  // `warmup` path those of every position, until the warm-up is over.
  std::vector<TokenLogprob> top;
  std::vector<std::vector<TokenLogprob>> top_history;
  // Confidence over the sliding window and the whole path; NaN while nothing is known.
  double window_mean = kUnknown;      // of the last `window` tokens, or of all while shorter
  double lowest_window = kUnknown;    // lowest mean of a full window; the whole mean while shorter
  double mean_confidence = kUnknown;  // c-hat, of all tokens
  std::string text;    // bytes of the generated tokens, end-of-generation token left out
  std::string answer;  // extracted at the end; empty: none
  std::string answer_raw;
  bool tentative = false;
  // What its probes answered while it ran, oldest first; empty: nothing could be read.
  std::vector<std::string> probed;

  int length() const { return static_cast<int>(tokens.size()); }
  bool running() const { return status == PathStatus::kRunning; }
};

// How sure a path is now: its window mean; a path of unknown confidence counts as unsure. Pure.
double Sureness(const Path& path);

}  // namespace hyper
#pragma GCC visibility pop
