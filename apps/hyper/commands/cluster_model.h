// How much a number of equal servers answers: a simulation of their forwards.
#pragma once

#include <span>
#include <vector>

namespace hyper::app {

// A measured forward: `rows` tokens in `ms` milliseconds.
struct ForwardTime {
  double rows = 0;
  double ms = 0;
};

// What a question decodes. A token of it is `rows` rows of a forward: more than 1 where tokens are
// refined.
struct ClusterQuestion {
  std::vector<int> warmup;  // tokens of each path; all of them end before the others begin
  std::vector<int> paths;
  double rows = 1;
};

struct Cluster {
  int replicas = 1;
  int lanes = 64;            // that one replica decodes at once; others wait
  int questions = 1;         // in work at once
  double controller_us = 0;  // CPU time of the controller, one thread, for each token
};

struct ClusterLoad {
  double tokens_per_s = 0;
  double questions_per_hour = 0;
  double seconds = 0;           // that a question takes, on average
  double rows = 0;              // of a forward, on average
  double controller_share = 0;  // of its thread's time; 1: more servers bring nothing
};

// Milliseconds of a forward of `rows` rows: between two measured ones on the line through them,
// with fewer rows as the smallest, with more rows on the line through the last two, or in
// proportion where there is one. `measured` is not empty and sorted by rows, no two alike. Pure.
double ForwardMs(std::span<const ForwardTime> measured, double rows);

// Simulates `cluster` under a load without pause: as soon as a question ends the next begins, as
// `questions` tell, in turn. A new path goes to the replica with the fewest. The counts are those
// of the time after each place has answered once. Prompts cost nothing, since servers keep
// prefixes. Each question has a path of at least one token. Pure.
ClusterLoad SimulateCluster(std::span<const ForwardTime> measured,
                            std::span<const ClusterQuestion> questions, const Cluster& cluster);

}  // namespace hyper::app
