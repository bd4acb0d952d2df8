// Counter-based random numbers: a draw is a function of (run seed, question, path key, position,
// purpose[, layer, route, expert]) and of nothing else, so batching, threads and pruned siblings
// cannot change it. Generator: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011).
//
// The recipe, for an oracle in another language. Philox(key, counter) takes a 64-bit key, low word
// first, and four 32-bit counter words, and gives four 32-bit words w0..w3.
//   root path key   (w1 << 32 | w0) of Philox(run_seed,
//                     {question low, question high, index low, index high})
//   child path key  (w1 << 32 | w0) of Philox(parent, {decision_step, kChild, child, 0})
//   Uniform         (k + 0.5) / 2^52, k = (w1 << 32 | w0) >> 12, of
//                     Philox(path_key, {position, purpose | a << 8, b, c})
//   GumbelRow       u_e = (w + 0.5) / 2^32, w = word e % 4 of
//                     Philox(path_key, {position, kRoute | layer << 8, route, e / 4});
//                     g_e = -log(-log(u_e)) in binary64, rounded to binary32
// All uniforms are exact in binary64 and lie in the open interval (0, 1).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hyper {

// What a draw is for: draws of different purposes are independent.
enum class Purpose : uint32_t {
  kSample = 0,  // the next token
  kRoute = 1,   // router noise
  kTie = 2,     // breaking of ties
  kStep = 3,    // choices of step-wise methods
  kChild = 4,   // keys of forked paths
  kStop = 5,    // what paths to come may answer
  kRedraw = 6,  // the next token, where the grammar refused the first draw
};

// Where the paths of one question start.
struct RandomKey {
  uint64_t run_seed = 0;
  uint64_t question = 0;
};

// The four words of Philox4x32-10 for one key and counter. Pure.
std::array<uint32_t, 4> Philox(uint64_t key, std::array<uint32_t, 4> counter);

// Key of the index-th path that a question opens; the same for every method. Pure.
uint64_t PathKey(RandomKey root, uint64_t index);

// Key of a forked path: depends on its parent, the decision step and its number among the forks of
// that parent at that step, not on siblings or arrival order. Pure.
uint64_t ChildPathKey(uint64_t parent, uint32_t decision_step, uint32_t child);

// A number in the open interval (0, 1) with 52 random bits. a < 2^24 (a layer), b (a route) and c
// tell draws of one position and purpose apart. Pure.
double Uniform(uint64_t path_key, uint32_t position, Purpose purpose, uint32_t a = 0,
               uint32_t b = 0, uint32_t c = 0);

// Standard Gumbel noise for each expert of one router row (Sec. 3.2, step 1; Algorithm 2, line 1).
//   out  [n_experts], written
// Pure but for `out`; O(n_experts).
void GumbelRow(uint64_t path_key, uint32_t position, uint32_t layer, uint32_t route,
               std::span<float> out);

}  // namespace hyper
