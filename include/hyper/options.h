// Options of a run. Each is declared once, as a defaulted field, and named once, in ForEach; flags,
// JSON, help and records are visitors of it.
#pragma once

#include <cstdint>
#include <string>

#include "hyper/result.h"
#include "hyper/tree_options.h"
#include "hyper/types.h"

namespace hyper {

// What a visitor of options learns of each.
struct OptionInfo {
  const char* name;    // flag and JSON key, with dashes
  const char* symbol;  // the paper's symbol, or ""
  const char* range;   // valid values in words
  const char* help;    // meaning, one line
};

// How paths are decoded and voted on. Defaults are the paper's (preset `paper`).
struct MethodOptions {
  // Pool.
  int width = 80;
  int warmup = 16;
  bool includes_warmup = false;
  double lane_factor = 1.65;
  std::string actions = "none,single_token,multi_token,branch";
  // Controller.
  int interval = 64;
  int suffix = 0;
  int horizon = 0;
  double eta = 0.4;
  // Confidence and pruning.
  std::string confidence_set = "alternatives";
  int confidence_count = 8;
  int entropy_count = 8;
  int window = 2048;
  std::string threshold = "top:10";
  // SingleToken.
  double tau = 0.5;
  double lambda = 0.1;
  bool two_pass = true;
  std::string penalty = "score";
  std::string weights = "noisy";
  std::string aggregate = "confidence";
  double aggregate_temperature = 1.0;
  int skip_first_layers = 0;
  int skip_last_layers = 0;
  // Vote.
  std::string vote = "length_confidence";
  int vote_top = 3;
  double lambda_length = 0.6;
  double lambda_confidence = 0.4;
  bool vote_tentative = true;
  double borda_power = 1.2;
  // The compared methods' own.
  std::string scorer = "self-certainty";
  double keep_percent = 10;
  double consensus = 0.95;
  int routes = 8;
  double refine_from = 0.84;
  TreeOptions tree;
  // Sampling and length.
  SamplerSpec sampler{0.6, 20, 0.95, 0.0};
  int max_tokens = 32768;

  // Calls visit(field, OptionInfo) for every option, in the order of --help.
  template <class Self, class Visit>
  static void ForEach(Self& self, Visit&& visit) {
    visit(self.width,
          OptionInfo{"width", "S_max", "1..4096", "paths decoded side by side after warm-up"});
    visit(self.warmup,
          OptionInfo{"warmup", "N_init", "1..4096",
                     "warm-up paths; at most half the width, then top:n in proportion"});
    visit(self.includes_warmup, OptionInfo{"includes-warmup", "", "true|false",
                                           "count the warm-up paths into the width"});
    visit(self.lane_factor,
          OptionInfo{"lane-factor", "", ">= 1",
                     "lanes and routes in use at once, as a multiple of the width"});
    visit(self.actions, OptionInfo{"actions", "", "subset of none,single_token,multi_token,branch",
                                   "actions the controller may take"});
    visit(self.interval, OptionInfo{"interval", "T", "1..65536", "tokens between two decisions"});
    visit(self.suffix,
          OptionInfo{"suffix", "L", "0..65536", "tokens compared by edit distance; 0: T"});
    visit(self.horizon,
          OptionInfo{"horizon", "m", "0..T", "tokens of a MultiToken expansion; 0: T"});
    visit(self.eta,
          OptionInfo{"eta", "eta", "0..1", "share of the distribution part in the diversity"});
    visit(self.confidence_set,
          OptionInfo{"confidence-set", "C_k", "alternatives|topk",
                     "candidates of the confidence: without the chosen token, or with it"});
    visit(self.confidence_count,
          OptionInfo{"confidence-count", "k", "1..64", "candidates of the confidence"});
    visit(self.entropy_count,
          OptionInfo{"entropy-count", "k", "1..64", "tokens of the top-k entropy and D_dist"});
    visit(self.window,
          OptionInfo{"window", "", "1..1048576", "tokens of the sliding confidence window"});
    visit(self.threshold, OptionInfo{"threshold", "tau", "top:n|percentile:q|off",
                                     "pruning threshold out of the warm-up's lowest windows"});
    visit(self.tau, OptionInfo{"tau", "tau", ">= 0", "scale of the routing noise"});
    visit(self.lambda,
          OptionInfo{"lambda", "lambda", ">= 0", "penalty on reusing an earlier route's experts"});
    visit(self.two_pass,
          OptionInfo{"two-pass", "", "true|false", "two-pass expert sampling; false: RoE's"});
    visit(self.penalty,
          OptionInfo{"penalty", "S", "score|softmax", "what the reuse penalty accumulates"});
    visit(self.weights,
          OptionInfo{"weights", "", "noisy|clean", "mixing weights of the chosen experts"});
    visit(self.aggregate,
          OptionInfo{"aggregate", "", "confidence|mean-prob", "how K proposals become one"});
    visit(self.aggregate_temperature,
          OptionInfo{"aggregate-temperature", "", "> 0", "softness of the confidence weights"});
    visit(self.skip_first_layers,
          OptionInfo{"skip-first-layers", "", ">= 0", "MoE layers kept clean at the start"});
    visit(self.skip_last_layers,
          OptionInfo{"skip-last-layers", "", ">= 0", "MoE layers kept clean at the end"});
    visit(self.vote, OptionInfo{"vote", "",
                                "length_confidence|majority|confidence|length|deepconf|importance_"
                                "sampling|weighted|best|borda",
                                "rule that picks the answer; all are reported"});
    visit(self.vote_top,
          OptionInfo{"vote-top", "K_a", ">= 1", "answers with most paths that enter the vote"});
    visit(self.lambda_length,
          OptionInfo{"lambda-length", "lambda_len", ">= 0", "weight of the length"});
    visit(self.lambda_confidence,
          OptionInfo{"lambda-confidence", "lambda_conf", ">= 0", "weight of the confidence"});
    visit(self.vote_tentative, OptionInfo{"vote-tentative", "", "true|false",
                                          "answers out of unfinished reasoning vote too"});
    visit(self.borda_power, OptionInfo{"borda-power", "p", ">= 0", "exponent of the Borda vote"});
    visit(self.scorer, OptionInfo{"scorer", "", "self-certainty|mean|tail|bottom|lowest|p-true",
                                  "score of a whole path for bon and offline deepconf"});
    visit(self.keep_percent, OptionInfo{"keep-percent", "eta", "(0, 100]",
                                        "share of best paths that vote in offline deepconf"});
    visit(self.consensus, OptionInfo{"consensus", "tau", "0..1",
                                     "deepconf stops at this vote share of one answer; 0: never"});
    visit(self.routes,
          OptionInfo{"routes", "K", "1..256", "routes of each token in roe and roe-late"});
    visit(self.refine_from,
          OptionInfo{"refine-from", "", "0..1",
                     "roe-late refines from this share of the median warm-up length"});
    TreeOptions::ForEach<OptionInfo>(self.tree, visit);
    visit(self.sampler.temperature,
          OptionInfo{"temperature", "", ">= 0", "sampling temperature; 0: most probable"});
    visit(self.sampler.top_k,
          OptionInfo{"top-k", "", ">= 0", "keep the k most probable tokens; 0: all"});
    visit(self.sampler.top_p, OptionInfo{"top-p", "", "(0, 1]", "keep this much probability"});
    visit(self.sampler.min_p,
          OptionInfo{"min-p", "", "[0, 1)", "drop tokens below this share of the best"});
    visit(self.max_tokens,
          OptionInfo{"max-tokens", "T_max", "1..1048576", "tokens of one path at most"});
  }
};

// Options of a named preset: "paper" (long traces) or "short" (the bundled model's).
// Errors: kNotFound with the names there are. Pure.
Result<MethodOptions> Preset(const std::string& name);

// The first option that is out of its range, in words; OK when all are well. Pure.
Status Validate(const MethodOptions& options);

// Derived values, in one place. Pure; `options` must be valid.
int WarmupCount(const MethodOptions& options);    // N_init
int PoolWidth(const MethodOptions& options);      // W, the paths opened after warm-up
int LaneLimit(const MethodOptions& options);      // ceil(lane_factor * S_max)
int SuffixTokens(const MethodOptions& options);   // L
int HorizonTokens(const MethodOptions& options);  // m

}  // namespace hyper
