// Two-pass expert sampling (Sec. 3.2 steps 1 and 2; App. C, Algorithm 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hyper/engine.h"

namespace hyper {

// The m largest entries of a router row, by falling value; equal values: the lower index first;
// NaN counts as minus infinity. Pure; O(E m).
std::vector<int> TopExperts(std::span<const float> row, int m);

// Routes one token of one path through one MoE layer, route by route: picks the experts that
// Algorithm 2 picks. Routes may come in several waves (of forwards); the sum over earlier routes is
// kept between them.
//
// Algorithm 2, as read here:
//   S0_k = r_k + tau g_k      r_k the route's own router row, g_k Gumbel noise; S0_0 = r_0
//   S_k  = S0_k on its top m, 0 elsewhere      (penalty = softmax: softmax(S0_k) on its top m)
//   L2_k = S0_k - lambda tanh(sum over j < k of S_j)
// Departures from the pseudo-code: tau scales the noise (the text has it, the listing not), and
// route 0 has no noise (Clean Cache, App. D). Router logits can be negative, and a negative sum
// turns the penalty into a reward; reward_count() says how often.
//
// Thread rule: one thread at a time.
class RoutePass {
 public:
  //   spec     routes is not used here
  //   experts  E, >= 1      used  m, the model's gate size, in [1, E]
  RoutePass(const RouteSpec& spec, int experts, int used);

  // Routes the next route: the first call is route 0, the clean one, and leaves its row untouched.
  //   row    [experts] router logits in, L2 out: its top m are the chosen experts. With
  //          weights = kClean the row stays as it is, and the caller must put the chosen experts in
  //          place of the row's own top m. No row of logits can do both: an expert that is left out
  //          may weigh more than one that is chosen, and a model that does not normalise the
  //          weights of the m experts to 1 takes each from the softmax over all E
  //   noise  [experts] standard Gumbel noise (GumbelRow); not read for route 0
  // Returns the chosen experts, best first.
  std::vector<int> Apply(std::span<float> row, std::span<const float> noise);

  // Routes applied so far.
  int routes() const { return routes_; }
  // Entries of the sum over earlier routes that were not 0 when a row was penalised, and those of
  // them below 0, where the penalty is a reward.
  int64_t penalty_count() const { return penalty_count_; }
  int64_t reward_count() const { return reward_count_; }

 private:
  void Penalise(std::span<float> row);
  void AddScores(std::span<const float> noisy);

  RouteSpec spec_;
  int used_;
  int routes_ = 0;
  std::vector<float> score_sum_;  // [experts] sum of S_j over the routes so far
  int64_t penalty_count_ = 0;
  int64_t reward_count_ = 0;
};

}  // namespace hyper
